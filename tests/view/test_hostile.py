"""What a model or a tool could do to whoever looks at its run."""

from __future__ import annotations

import json
import os
import re
import tracemalloc

import pytest

from habilis.core import events as ev
from habilis.view.log import read_page
from habilis.view.site import NoSuchPage
from habilis.view.visible import visible

SCRIPT = "<script>alert(1)</script>\"' onload=x <img src=x onerror=alert(2)>{{7*7}}</pre>"
STEERING = "\x1b[31m\x00\x07\u202egnp.exe\u202c\u2066x\u2069\ud800\ufeff\u200b"


def test_markup_of_others_stays_text_on_every_page(written, look):
    written.ended("one", SCRIPT)
    written.training("evolved")
    for path in ("", "runs/one/", "runs/one/tasks/task/", "compare/one/evolved/", "runs/evolved/steps/1/"):
        page = look(path, q="") if not path else look(path)
        assert "<script>" not in page
        assert "<img" not in page
    assert "&lt;script&gt;" in look("runs/one/tasks/task/")
    assert "{{7*7}}" in look("runs/one/tasks/task/")


def test_a_question_typed_into_a_search_stays_text(written, look):
    written.ended("one")
    assert "<script>" not in look("", q=SCRIPT, status=SCRIPT, sort=SCRIPT)


def test_characters_that_steer_or_hide_are_written_out(written, look):
    written.ended("one", STEERING)
    page = look("runs/one/tasks/task/") + look("")
    for said in ("[U+001B]", "[U+0000]", "[U+202E]", "[U+2066]", "[U+FEFF]", "[U+200B]"):
        assert said in page, said
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ufeff]", page)


def test_letters_of_any_language_stay_what_they_are():
    text = "שלום مرحبا 你好 👩‍👩‍👧 naïve\tand\nso on"
    assert visible(text) == text


def test_a_result_of_megabytes_is_cut_and_kept_whole_behind_a_link(written, look, site):
    task = written.task("big")
    written.happens(task, ev.ToolCallEnded(call_id="c", tool="t", seconds=0.1, text="ä" * (8 << 20)))
    task.set_state("finished")
    page = look("runs/big/tasks/task/")
    assert len(page) < 30_000
    assert "8,388,608 characters" in page
    link = re.search(r'href="(events/\d+\.txt)" download', page)
    assert link
    whole = site.page(f"runs/big/tasks/task/{link[1]}")
    assert whole.media_type.startswith("text/plain")
    assert whole.download == "event-1.txt"
    assert len(whole.body) == 16 << 20


async def test_the_whole_of_a_result_is_handed_over_to_be_kept_not_shown(client, guard, written):
    written.ended("one", SCRIPT)
    await client.get(f"/?token={guard.token}")
    reply = await client.get("/runs/one/tasks/task/events/12.txt")
    assert SCRIPT in reply.text
    assert reply.headers["content-type"].startswith("text/plain")
    assert reply.headers["content-disposition"].startswith("attachment")


def test_many_long_results_end_a_page_before_they_fill_the_memory(written):
    task = written.task("big")
    line = json.dumps({"kind": "tool_call_ended", "call_id": "c", "tool": "t", "text": "x" * (8 << 20)}) + "\n"
    with task.events.open("w") as log:
        for _ in range(12):
            log.write(line)
    tracemalloc.start()
    page = read_page(task.events)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < len(page.events) < 12
    assert page.following == len(page.events) + 1
    assert most < 100 << 20


BROKEN = [
    "not JSON",
    "[1, 2]",
    "null",
    '{"kind": 7, "at": "soon"}',
    '{"kind": {"a": 1}, "at": []}',
    '{"kind": "planned", "plan": "no plan", "attempt": []}',
    '{"kind": "planned", "plan": {"build": "abc", "reuse": 7, "guidance": {"a": 1}}, "offered": 5}',
    '{"kind": "planned", "plan": {"build": [1, {"name": [], "description": 4}]}}',
    '{"kind": "model_call_ended", "usage": [], "seconds": "long", "role": {}, "error": ["x"]}',
    '{"kind": "model_call_ended", "usage": {"prompt_tokens": "many"}, "seconds": 1e308, "at": 1e308}',
    '{"kind": "tool_call_ended", "call_id": {}, "made": "abc", "granted": 1, "text": [1], "seconds": {}}',
    '{"kind": "tool_call_started", "call_id": 1, "arguments": "abc", "tool": null}',
    '{"kind": "tool_build_started", "tool": [1], "purpose": ["enhance"]}',
    '{"kind": "tool_enhanced", "tool": "../../x", "version": "..", "previous": "../..", "attempts": "x"}',
    '{"kind": "tool_enhanced", "tool": "t", "calls": [1, {"word": [], "times": "x"}, {"call_id": {}, "input": 5}]}',
    '{"kind": "build_awaited", "tool": {}, "builder": ["a"]}',
    '{"kind": "tool_adopted", "origin_task": "..", "origin_tool": 3}',
    '{"kind": "judged", "call_id": "none", "verdict": {}, "reason": 1}',
    '{"kind": "reviewed", "review": [1]}',
    '{"kind": "thought", "stage": "replied", "thought": {"a": 1}}',
    '{"kind": "from_the_future", "text": {"deep": 1}}',
    "[" * 100_000,
    "\x00\xff",
]


@pytest.mark.parametrize("line", BROKEN)
def test_a_line_that_nobody_of_ours_wrote_does_not_take_the_page_away(written, look, line):
    task = written.task("broken")
    good = '{"at": 5, "kind": "notice", "text": "after it"}\n'
    task.events.write_bytes(line.encode("latin-1") + b"\n" + good.encode())
    assert "after it" in look("runs/broken/tasks/task/")


def test_a_log_of_such_lines_does_not_take_the_page_away(written, look):
    """Each of them after all others: a time without end beside one that there is."""
    task = written.ended("broken")
    with task.events.open("ab") as log:
        log.write("".join(f"{line}\n" for line in BROKEN).encode("latin-1"))
        log.write(
            b'{"at": 1e999, "kind": "tool_call_started", "call_id": "x"}\n{"at": 9, "kind": "notice", "text": "last"}\n'
        )
    assert "last" in look("runs/broken/tasks/task/")


@pytest.mark.parametrize(
    "held", ["", "nothing", "[]", '{"status": [], "usage": 5, "usage_by_role": {"a": 1, "b": {}}}']
)
def test_a_broken_result_does_not_take_the_page_away(written, look, held):
    task = written.ended("one")
    task.result.write_text(held)
    assert "Attempt 1" in look("runs/one/tasks/task/")
    assert "one" in look("")


ODD_ROWS = """{"step": "x", "accuracy": "high", "usage": 1}
{"step": {}}
[]
{"step": 1e999, "accuracy": 1e999, "tokens": -1e999}
{"step": 1, "task_id": ["a"], "status": {}}
"""


def test_broken_rows_of_a_training_do_not_take_its_pages_away(written, look):
    run = written.training("evolved")
    for name in ("metrics.jsonl", "predictions.jsonl"):
        with (run.path / name).open("a") as file:
            file.write(ODD_ROWS)
    assert "3,000 tokens" in look("runs/evolved/")
    assert "Question 1?" in look("runs/evolved/steps/1/")
    assert "Question 1?" in look("compare/evolved/evolved/")


def test_no_link_in_a_run_leads_out_of_it(written, look, site, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "events.jsonl").write_text('{"kind": "notice", "text": "TOP SECRET"}\n')
    (secret / "mean.py").write_text("TOP SECRET")
    (secret / "result.json").write_text('{"final_answer": "TOP SECRET"}')
    one = written.ended("one")
    for path in (one.events, one.result, one.tape):
        path.unlink()
        path.symlink_to(secret / "events.jsonl" if path != one.result else secret / "result.json")
    (one.path.parent / "linked").symlink_to(secret)
    assert "TOP SECRET" not in look("runs/one/tasks/task/") + look("")
    for path in ("runs/one/tasks/linked/", "runs/one/tasks/..%2F..%2F..%2Fsecret/", "runs/..%2Fsecret/", "runs/../"):
        with pytest.raises(NoSuchPage):
            site.page(path)
    run = written.training("evolved")
    (secret / "library").mkdir()
    (run.path / "library").symlink_to(secret / "library")
    with pytest.raises(NoSuchPage):
        site.page("runs/evolved/library/")


def test_a_pipe_in_place_of_a_log_is_not_waited_for(written, look):
    task = written.ended("one")
    task.events.unlink()
    os.mkfifo(task.events)
    assert "Nothing is recorded yet" in look("runs/one/tasks/task/")
