"""What a user would lose: their machine's memory, to a tool that answers with eight megabytes of brackets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import from_json

from habilis.sandbox.ownership.workspace import Scrubber
from habilis.sandbox.processes.frames import LIGHT, MAX_OBJECTS, frames_of, weight_of

MOST_MB = 120
READY = b'{"step": "ready"}\n'


def frame(result: Any, **more: Any) -> bytes:
    row = {"step": "call", "result": result, "opened": ["a"], "written": [], **more}
    return json.dumps(row).encode() + b"\n"


def size_of(value: Any) -> int:
    """Bytes of a value of JSON; equal texts may be one object and are counted each."""
    inner: list[Any] = []
    if isinstance(value, dict):
        inner = [*value, *value.values()]
    elif isinstance(value, list):
        inner = value
    return sys.getsizeof(value) + sum(map(size_of, inner))


@pytest.mark.parametrize(
    ("part", "times"),
    [([], 700_000), ({"a": 1}, 200_000), (0, 1_400_000), ("ab", 500_000)],
    ids=["[", "{", "0", "text"],
)
def test_a_result_of_too_many_objects_stays_the_text_that_came(part: Any, times: int) -> None:
    result = [part] * times
    reply = READY + frame({"r": result})
    started, frames = frames_of(reply)
    assert started
    assert frames["call"]["result"] == json.dumps({"r": result})
    assert (frames["call"]["opened"], frames["call"]["written"]) == (["a"], [])


@pytest.mark.parametrize(("part", "times"), [("x, [{", 800_000), ('say "{[,]}" \\', 200_000), ("é", 300_000)])
def test_brackets_within_a_long_text_are_text(part: str, times: int) -> None:
    result = part * times
    assert frames_of(READY + frame({"r": result}))[1]["call"]["result"] == {"r": result}


def test_an_ordinary_table_is_data() -> None:
    rows = [{"name": f"row {number}", "value": number * 1.5} for number in range(50_000)]
    assert frames_of(READY + frame({"r": rows}))[1]["call"]["result"] == {"r": rows}


def test_what_only_looks_like_the_end_of_a_frame_is_part_of_its_result() -> None:
    tricky = {"text": '", "opened": [', "opened": [1], "r": [[]] * 700_000}
    found = frames_of(READY + frame(tricky))[1]["call"]
    assert (found["result"], found["opened"]) == (json.dumps(tricky), ["a"])


@pytest.mark.parametrize(
    ("begins", "part", "times", "ends"),
    [
        (b"", b"[", 6_000_000, b""),
        (b'{"step": "call", "error": [', b"{},", 500_000, b"0]}"),
        (b'{"step": "call", "result": 1, "opened": [', b"[],", 700_000, b"0]}"),
        (b'{"junk": [', b"[],", 700_000, b'0], "step": "call", "result": 1}'),
        (b'{"step": "describe", "result": [', b"[],", 700_000, b'0], "opened": [], "written": []}'),
    ],
)
def test_a_heavy_line_that_is_no_answer_is_never_read(begins: bytes, part: bytes, times: int, ends: bytes) -> None:
    line = begins + part * times + ends
    assert frames_of(READY + line + b"\n") == (True, {})


@settings(max_examples=10, deadline=None)
@given(
    st.recursive(
        st.integers(-9, 999) | st.floats(allow_nan=False, allow_infinity=False) | st.text('ab\\"é{[,', max_size=5),
        lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text("ab\\", max_size=4), inner, max_size=6),
        max_leaves=30,
    )
)
def test_the_weight_of_a_line_is_no_less_than_its_objects(value: Any) -> None:
    line = json.dumps([value] * (2 * LIGHT // len(json.dumps(value)) + 2)).encode()
    weight = weight_of(line)
    repeated = from_json(line, cache_strings=False)
    assert weight >= 0.9 * (size_of(repeated) - sys.getsizeof(repeated) - len(repeated) * 8)
    assert weight_of(line.replace(b"[", b"[ ")) >= weight - len(line)


def test_a_light_line_is_not_weighed() -> None:
    assert weight_of(b"[" * LIGHT) == 0
    assert 240 * LIGHT < MAX_OBJECTS


def test_scrubbing_takes_no_copy_of_a_long_list(tmp_path: Path) -> None:
    value = [f"{tmp_path}/a", {f"{tmp_path}/b": 1}, float("inf"), [True]]
    scrubbed = Scrubber(tmp_path).value(value)
    assert scrubbed == ["./a", {"./b": 1}, None, [True]]
    assert scrubbed is value


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize(
    "result", ["'some text, ' * 740_000", "[[0]] * 1_600_000", "[{'a': 1}] * 800_000", "[0] * 2_700_000"]
)
def test_the_host_stays_small_whatever_eight_megabytes_hold(result: str, tmp_path: Path) -> None:
    benchmarks = Path(__file__).parents[2] / "benchmarks"
    code = f"""
import asyncio, host
source = ("from typing import Any" + host.SMALL).replace("    n: int\\n\\ndef", "    n: Any\\n\\ndef")
asyncio.run(host.one_answer(source.replace("input.n + 1", {result!r})))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=benchmarks, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert 20 < int(done.stdout) / 1024 < MOST_MB
