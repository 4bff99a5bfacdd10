"""What a user would lose: a clear word on a file that is no model, and a machine to a model that is too big."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from habilis.models.local.gguf import Head, NotReadable, read_head

from .gguf_files import head, tiny_model

_VALUES = some.one_of(
    some.booleans(),
    some.integers(0, 1 << 63),
    some.text(max_size=20),
    some.lists(some.integers(0, 9), max_size=5),
    some.lists(some.text(max_size=5), max_size=5),
    some.lists(some.lists(some.text(max_size=3), min_size=1, max_size=3), max_size=3),
)
_HEADS = some.dictionaries(some.text(max_size=20), _VALUES, max_size=8)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gguf") / "m.gguf"


@given(_HEADS)
def test_single_values_are_read_and_lists_passed_over(place: Path, values: dict[str, Any]) -> None:
    place.write_bytes(head(values))
    single = {name: value for name, value in values.items() if not isinstance(value, list)}
    assert read_head(place).values == single


@given(_HEADS.filter(bool), some.data())
def test_a_file_that_ends_too_early_is_told_so(place: Path, values: dict[str, Any], data: Any) -> None:
    whole = head(values)
    place.write_bytes(whole[: data.draw(some.integers(0, len(whole) - 1))])
    with pytest.raises(NotReadable):
        read_head(place)


@given(some.binary(max_size=200))
def test_rubbish_is_refused_and_nothing_worse(place: Path, rubbish: bytes) -> None:
    place.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 5) + rubbish)
    with contextlib.suppress(NotReadable):
        read_head(place)


def test_what_is_no_model_is_named_by_its_beginning_or_version(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"PK\x03\x04 a zip")
    with pytest.raises(NotReadable, match="does not begin"):
        read_head(path)
    path.write_bytes(head({}, version=9))
    with pytest.raises(NotReadable, match="version 9"):
        read_head(path)


def test_the_memory_of_a_model_is_its_weights_and_its_context() -> None:
    known = {"block_count": 32, "embedding_length": 4096, "attention.head_count": 32, "attention.head_count_kv": 8}
    model = Head(4 << 30, {"general.architecture": "llama"} | {f"llama.{name}": n for name, n in known.items()})
    # 2 x 32 layers x 8 heads x 128 numbers x 2 bytes = 128 KiB a token
    assert model.memory(8192) - model.memory(0) == 8192 * 128 * 1024
    assert Head(1, {}).memory(8192) == Head(1, {}).memory(0)


def test_all_parts_of_a_model_count_and_must_be_there(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"m-0000{number}-of-00002.gguf").write_bytes(head({"general.name": "m"}) + bytes(100 * number))
    size = len(head({"general.name": "m"}))
    assert read_head(tmp_path / "m-00001-of-00002.gguf").size == 2 * size + 300
    (tmp_path / "m-00002-of-00002.gguf").unlink()
    with pytest.raises(NotReadable, match="2 parts, of which 1"):
        read_head(tmp_path / "m-00001-of-00002.gguf")


def test_a_whole_model_says_who_it_is(tmp_path: Path) -> None:
    model = read_head(tiny_model(tmp_path / "tiny.gguf"))
    assert (model.name, model.has_chat_template) == ("tiny", True)
