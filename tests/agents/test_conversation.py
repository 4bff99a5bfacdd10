"""What a user would lose in a conversation: what was said, found and made before; or all of it, to one bad turn."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from habilis.core.errors import UserError
from habilis.core.types import TaskResult
from habilis.messages.history import pending_calls
from habilis.models.tokens import TokenCounter
from habilis.rundir import ThreadDir
from habilis.testing import RecordingSink

from .conftest import Script, Stage, call, calling, tool_source

READ = tool_source("read_it", "return OutputModel(result=open(input.path).read())", "path: str", effects="reads")
WRITE = tool_source(
    "write_it",
    "open('made.txt', 'w').write(input.text)\nreturn OutputModel(result='written')",
    "text: str",
    effects="writes",
)
DOUBLE = tool_source("double", "return OutputModel(result=input.x * 2)", effects="pure")
BUILD_DOUBLE = {
    "tool_requests": [
        {"name": "double", "description": "Double a number.", "parameters": [{"name": "x", "type": "integer"}]}
    ]
}


def answers(*texts: str) -> list[dict[str, str]]:
    return [{"final_answer": text, "reasoning_summary": ""} for text in texts]


async def turn(stage: Stage, script: Any, question: str, *settings: str, **options: Any) -> TaskResult:
    return await stage.team(script, *settings).run(question, thread="talk", base=stage.root, **options)


def asked(script: Script, nth: int) -> list[BaseMessage]:
    """The messages of the `nth` request for a step, without the system prompt."""
    return script.of("steps")[nth][0][1:]


async def test_the_next_question_comes_with_the_tool_work_before_it(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script(
        steps=[calling(call("double", {"x": 21})), "It is 42.", "Still 42."],
        plans=[{"required_tool_names": ["double"]}],
        answers=answers("42", "42 again"),
    )
    first = await turn(stage, script, "Double 21")
    second = await turn(stage, script, "And again?")
    assert (first.task_id, second.task_id, second.final_answer) == ("0001", "0002", "42 again")
    question, calls, result, answer, prompt = asked(script, 2)
    assert str(question.content) == "Double 21"
    assert isinstance(calls, AIMessage)
    assert isinstance(result, ToolMessage)
    assert calls.tool_calls[0]["args"] == {"x": 21}
    assert result.tool_call_id == calls.tool_calls[0]["id"]
    assert (json.loads(str(result.content))["result"], str(answer.content)) == (42, "42")
    assert "And again?" in str(prompt.content)
    for kind in ("plans", "reviews", "answers"):
        text = str(script.of(kind)[1][0][-1].content)
        assert "Question 1: Double 21" in text, kind
        assert "Answer 1: 42" in text, kind


async def test_a_tool_of_the_first_turn_serves_the_second_without_a_build(stage: Stage) -> None:
    script = Script(
        steps=[calling(call("double", {"x": 1})), "2", calling(call("double", {"x": 2})), "4"],
        plans=[BUILD_DOUBLE, {"required_tool_names": ["double"]}],
        codes=[f"```python\n{DOUBLE}```"],
        answers=answers("2", "4"),
    )
    first = await turn(stage, script, "Double 1")
    second = await turn(stage, script, "And 2?")
    assert (first.tools_made, second.tools_made) == (("double",), ())
    assert second.status == "answered"
    assert json.loads(second.invocations[0].text)["result"] == 4
    assert len(script.of("codes")) == 1


async def test_files_given_and_files_made_stay_there(stage: Stage) -> None:
    stage.add("read_it", READ)
    stage.add("write_it", WRITE)
    (stage.root / "notes.txt").write_text("given", encoding="utf-8")
    script = Script(
        steps=[
            calling(call("read_it", {"path": "notes.txt"}), call("write_it", {"text": "made"})),
            "read and written",
            calling(call("read_it", {"path": "notes.txt"}, "a"), call("read_it", {"path": "made.txt"}, "b")),
            "read again",
        ],
        plans=[{"required_tool_names": ["read_it", "write_it"]}],
        answers=answers("one", "two"),
    )
    first = await turn(stage, script, "Copy notes.txt")
    second = await turn(stage, script, "What is in made.txt and in the notes?")
    assert (first.status, second.status) == ("answered", "answered")
    assert [json.loads(i.text)["result"] for i in second.invocations] == ["given", "made"]
    plan = str(script.of("plans")[1][0][-1].content)
    assert "made.txt does not exist" not in plan
    assert "- notes.txt (" in plan
    assert "[Files made: made.txt]" in plan


async def test_a_link_that_a_tool_left_is_no_file_of_the_next_turn(stage: Stage, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    stage.add("write_it", WRITE)
    script = Script(
        steps=[calling(call("write_it", {"text": "x"})), "done", "done"],
        plans=[{"required_tool_names": ["write_it"]}],
        answers=answers("done", "done"),
    )
    first = await turn(stage, script, "Write")
    folder = ThreadDir.named(stage.root, "talk").turns()[0]
    (folder.workspace / "made.txt").unlink()
    (folder.workspace / "made.txt").symlink_to(secret)
    folder.turn.unlink()
    await turn(stage, script, "What is in made.txt?")
    stored = ThreadDir.named(stage.root, "talk").turns()[1].load_task()
    assert first.status == "answered"
    assert stored is not None
    assert [file.named for file in stored[0].files] == []


async def test_what_became_a_link_since_is_no_file_of_a_turn_that_goes_on(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    stage.add("write_it", WRITE)
    stage.add("read_it", READ)
    script = Script(
        steps=[calling(call("write_it", {"text": "x"})), "done", calling(call("read_it", {"path": "made.txt"})), "no"],
        plans=[{"required_tool_names": ["write_it", "read_it"]}],
        answers=answers("done", "no"),
    )
    await turn(stage, script, "Write")
    team = stage.team(script)

    class Stop:
        def emit(self, event: Any) -> None:
            if event.kind == "planned":
                team.interrupt()

    team._sinks = (*team._sinks, Stop())
    assert (await team.run("Read made.txt", thread="talk")).status == "interrupted"
    thread = ThreadDir.named(stage.root, "talk")
    made = thread.turns()[0].workspace / "made.txt"
    made.unlink()
    made.symlink_to(tmp_path / "secret.txt")
    resumed = await stage.team(script).resume(thread.path, "0002")
    assert resumed.invocations
    assert "secret" not in resumed.invocations[0].text


async def test_files_of_earlier_turns_need_not_be_read_again(stage: Stage) -> None:
    stage.add("read_it", READ)
    (stage.root / "notes.txt").write_text("given", encoding="utf-8")
    script = Script(
        steps=[calling(call("read_it", {"path": "notes.txt"})), "given", "I said: given"],
        plans=[{"required_tool_names": ["read_it"]}],
        answers=answers("given", "given"),
    )
    await turn(stage, script, "Read notes.txt")
    second = await turn(stage, script, "What did you say?")
    assert second.status == "answered"
    assert second.tool_calls == 0


async def test_a_turn_without_an_answer_is_told_and_takes_nothing_along(stage: Stage) -> None:
    script = Script(
        steps=["Perhaps", "Perhaps", "It is so"],
        reviews=[{"status": "RETRY", "reason": "no conclusion"}] * 2 + [{"status": "FINISH", "reason": "fine"}],
        answers=answers("one", "two"),
    )
    first = await turn(stage, script, "What is it?", "limits.max_attempts=2")
    second = await turn(stage, script, "And now?", "limits.max_attempts=2")
    assert (first.status, second.status) == ("gave_up", "answered")
    assert "(not answered: no conclusion)" in str(script.of("plans")[-1][0][-1].content)


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "-x", "a\0b", "a\nb", " a", "x" * 300, "a\\b"])
async def test_a_name_that_is_no_plain_one_is_refused(stage: Stage, name: str) -> None:
    before = sorted(stage.root.iterdir())
    with pytest.raises(UserError, match="cannot name a thread"):
        await stage.team(Script(steps=["x"])).run("Hi", thread=name)
    assert sorted(stage.root.iterdir()) == before


async def test_two_at_once_are_refused(stage: Stage) -> None:
    script = Script(steps=["42"])
    await turn(stage, script, "One")
    with ThreadDir.named(stage.root, "talk").lock(), pytest.raises(UserError, match="by another process"):
        await turn(stage, script, "Two")
    assert (await turn(stage, script, "Two")).task_id == "0002"


async def test_an_interrupted_turn_leaves_the_others_whole_and_can_be_gone_on_with(stage: Stage) -> None:
    script = Script(steps=["red", "green", "blue"], answers=answers("red", "green", "blue"))
    await turn(stage, script, "First")
    team = stage.team(script)

    class Stop:
        def emit(self, event: Any) -> None:
            if event.kind == "planned":
                team.interrupt()

    team._sinks = (*team._sinks, Stop())
    second = await team.run("Second", thread="talk")
    assert second.status == "interrupted"
    third = await turn(stage, script, "Third")
    assert third.status == "answered"
    assert "(not answered: interrupted" in str(script.of("plans")[-1][0][-1].content)
    thread = ThreadDir.named(stage.root, "talk")
    resumed = await stage.team(script).resume(thread.path, "0002")
    assert resumed.status == "answered"
    assert [task.load_result().status for task in thread.turns()] == ["answered"] * 3  # type: ignore[union-attr]


async def test_what_the_user_said_when_asked_is_remembered(stage: Stage) -> None:
    script = Script(
        steps=[calling(call("ask_user", {"question": "Which colour?"})), "teal it is", "teal"],
        answers=answers("teal it is", "teal"),
    )

    async def person(question: str) -> str:
        return "teal"

    await stage.team(script, asker=person).run("Paint it", thread="talk")
    await turn(stage, script, "Which colour did I say?")
    results = [m for m in asked(script, 2) if isinstance(m, ToolMessage)]
    assert [(m.name, m.content) for m in results] == [("ask_user", "teal")]


async def test_the_same_question_in_another_conversation_knows_nothing(stage: Stage) -> None:
    script = Script(steps=["42"])
    await turn(stage, script, "The secret is 42")
    await stage.team(script).run("What is it?", thread="other")
    assert "secret" not in str(script.of("plans")[-1][0][-1].content)


async def test_a_replayed_turn_is_told_what_it_was_told_then(stage: Stage) -> None:
    script = Script(steps=["one", "two"], answers=answers("one", "two"))
    await turn(stage, script, "First")
    await turn(stage, script, "Second")
    folder = ThreadDir.named(stage.root, "talk").turns()[1]
    stored = folder.load_task()
    assert stored is not None
    copy = stage.root / "copy"
    copy.mkdir()
    (copy / "run.yaml").write_text("format: 1\n", encoding="utf-8")
    shutil.copytree(folder.path, copy / "tasks" / "0002", symlinks=True)
    silent = Script(steps=[AssertionError("nobody is asked")])
    again = await stage.team(silent).run(stored[0], run_dir=stage.root / "again", replay=copy)
    assert (again.status, again.final_answer) == ("answered", "two")


# --- long ones


class LongTalk:
    """A model that looks things up, remembers nothing itself, and notes the largest memory that it was ever sent."""

    def __init__(self, limit: int) -> None:
        self.limit, self.largest, self.steps = limit, 0, 0
        self.counter = TokenCounter("scripted")
        self.last: list[BaseMessage] = []

    def __call__(self, messages: list[BaseMessage], tools: list[Any], form: Any) -> Any:
        text = str(messages[-1].content)
        if "<candidates>" in text:
            return {"required_tool_names": ["double"]}
        if "<answer>" in text:
            return {"status": "FINISH", "reason": "fine"}
        if "<findings>" in text:
            findings = text.split("<findings>\n")[1].split("\n</findings>")[0]
            return {"final_answer": findings, "reasoning_summary": ""}
        self.look_at(messages)
        if isinstance(messages[-1], ToolMessage):
            return f"The tool says {messages[-1].content}."
        self.steps += 1
        if "favourite" in text:
            return "Noted."
        return calling(call("double", {"x": self.steps}, f"same-{self.steps % 3}"))

    def look_at(self, messages: list[BaseMessage]) -> None:
        """Whether what comes before the question is whole and within the limit."""
        start = max(i for i, m in enumerate(messages) if isinstance(m, HumanMessage) and "<question>" in str(m.content))
        memory = messages[1:start]
        note = [m for m in memory if "<earlier_turns>" in str(m.content)]
        size = self.counter.count(memory).tokens
        frame = 60 if note else 0  # the words around the older turns
        assert size <= self.limit + frame, f"{size} tokens of memory"
        self.largest = max(self.largest, size)
        assert not pending_calls(messages)
        known = {c["id"] for m in memory if isinstance(m, AIMessage) for c in m.tool_calls}
        assert all(m.tool_call_id in known for m in memory if isinstance(m, ToolMessage))
        assert len(known) == sum(len(m.tool_calls) for m in memory if isinstance(m, AIMessage)), "no id twice"
        self.last = messages


async def long_talk(stage: Stage, turns: int, limit: int) -> LongTalk:
    stage.add("double", DOUBLE)
    model = LongTalk(limit)
    stage.sink = RecordingSink()
    setting = f"memory.max_tokens={limit}"
    await turn(stage, model, "My favourite harbour is Zanzibar, remember that", setting)
    for number in range(2, turns):
        result = await turn(stage, model, f"Please double the number of turn {number}, {'at length ' * 5}", setting)
        assert result.status == "answered"
    last = await turn(stage, model, "Which harbour is my favourite?", setting)
    assert last.status == "answered"
    return model


def told(model: LongTalk) -> str:
    return "\n".join(str(message.content) for message in model.last)


async def test_a_conversation_outgrows_its_limit_and_an_early_fact_is_still_found(stage: Stage) -> None:
    model = await long_talk(stage, 9, 240)
    assert "Zanzibar" in told(model)
    assert "more turns of this conversation are not shown" in told(model)
    assert model.largest > 120, "the room was used"


@pytest.mark.slow
async def test_two_hundred_turns_within_4000_tokens(stage: Stage) -> None:
    model = await long_talk(stage, 200, 4_000)
    assert "Zanzibar" in told(model)
    assert model.largest > 3_000


async def test_what_is_not_shown_can_be_looked_up_tool_work_included(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps: list[Any] = [calling(call("double", {"x": 4321})), "Done."]
    steps += ["Fine."] * 4
    steps += [calling(call("recall", {"query": "4321 doubled"})), "It was 8642."]
    script = Script(steps=steps, plans=[{"required_tool_names": ["double"]}], answers=answers("Done."))
    limit = "memory.max_tokens=30"
    await turn(stage, script, "Work on 4321, the number of the ship", limit)
    for number in range(4):
        await turn(stage, script, f"Talk of something else, number {number}", limit)
    last = await turn(stage, script, "What came out then?", limit)
    assert "8642" in last.invocations[0].text
    assert last.invocations[0].tool == "recall"
