"""What one task did, read back from its files: the post-mortem's view of the same events that the console shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from habilis.core.errors import UserError
from habilis.core.types import Review, TaskResult
from habilis.rundir import TaskDir, read_jsonl
from habilis.terminal.wording import call_text, one_line, plan_text, seconds_text


@dataclass
class TaskHistory:
    """One task: its state, question, result and what its events tell, in the order in which it happened.

    `thoughts` holds the last stage written of each position, `told` the label and text of each thing to show.
    """

    id: str
    state: str
    question: str = ""
    result: TaskResult | None = None
    broken: str = ""
    told: list[tuple[str, str]] = field(default_factory=list)
    thoughts: dict[int, dict[str, Any]] = field(default_factory=dict)
    asked: str = ""

    def document(self) -> dict[str, Any]:
        """The whole as JSON-plain data."""
        return {
            "task_id": self.id,
            "state": self.state,
            "question": self.question,
            "question_asked": self.asked or None,
            "result": self.result.model_dump(mode="json") if self.result else None,
            "broken": self.broken or None,
            "account": [{"what": label, "text": text} for label, text in self.told],
            "thoughts": [self.thoughts[position] for position in sorted(self.thoughts)],
        }

    def lines(self) -> list[tuple[str, str]]:
        """Labels and texts, as `habilis runs show` prints them."""
        from habilis.terminal.console import usage_text
        from habilis.terminal.outcome import body, facts

        status = self.result.status if self.result and self.state != "running" else ""
        rows = [("task", self.id), ("question", self.question)]
        rows.append(("state", f"{self.state} ({status})" if status and status != self.state else self.state))
        rows += [("broken", self.broken)] if self.broken else []
        rows += self.told
        for position in sorted(self.thoughts):
            rows += _thought_lines(position, self.thoughts[position])
        if self.result is None or self.state == "running":
            rows += [("asks", self.asked)] if self.asked and self.state == "waiting" else []
            return rows
        label = "answer" if self.result.status == "answered" else "outcome"
        rows += [(label, "\n".join(text for text, _ in body(self.result)))]
        rows += [("", fact) for fact in facts(self.result) if not fact.startswith("run: ")]
        for role, usage in sorted(self.result.usage_by_role.items()):
            rows.append(("usage", f"{role}: {usage_text(usage)}"))
        return rows


def read_history(task: TaskDir) -> TaskHistory:
    """The history of `task`; a broken file is named in it, the rest is still told."""
    history = TaskHistory(task.id, task.read_state())
    problems = []
    try:
        recorded = task.load_task()
        history.question = recorded[0].question if recorded else ""
    except UserError as error:
        problems.append(str(error))
    try:
        history.result = task.load_result()
    except UserError as error:
        problems.append(str(error))
    try:
        for row in read_jsonl(task.events):
            try:
                _take(history, row)
            except (KeyError, TypeError, AttributeError, ValueError):
                continue  # an event of another version, or a torn one
    except (UserError, OSError) as error:
        problems.append(str(error) if isinstance(error, UserError) else f"{task.events}: {error.strerror}")
    history.broken = "; ".join(problems)
    return history


def _take(history: TaskHistory, row: dict[str, Any]) -> None:
    kind = row.get("kind")
    told = history.told
    if kind == "task_started":
        history.question = history.question or row["question"]
        if row.get("resumed"):
            told.append(("resumed", ""))
    elif kind == "planned":
        told.append(("plan", f"attempt {row['attempt']}: {plan_text(row['plan'])}"))
    elif kind == "thought":
        history.thoughts[int(row["position"])] = {k: v for k, v in row.items() if k != "kind"}
    elif kind == "asked":
        history.asked = row["question"]
        told.append(("asks", row["question"]))
    elif kind == "told":
        told.append(("you", row["answer"]))
    elif kind == "reviewed":
        review = Review.model_validate(row["review"])
        word = f"{'accepted' if review.accepted else 'sent back'} by {review.whose}"
        told.append(("review", f"{word}: {one_line(review.reason, 300)}"))
    elif kind == "notice" and row["level"] != "info":
        told.append((row["level"], row["text"]))
    elif kind == "model_retry":
        told.append(("retry", f"{row['role']}: {one_line(row['reason'])}"))
    else:
        _take_tool(history, row)


def _take_tool(history: TaskHistory, row: dict[str, Any]) -> None:
    kind, told = row.get("kind"), history.told
    if kind == "tool_built":
        told.append(("built", f"{row['tool']} (attempts: {row['attempts']}, trial call: {one_line(row['smoke'])})"))
    elif kind == "build_awaited":
        told.append(("waits", f"for task {row['builder']}, which builds much the same as {row['tool']}"))
    elif kind == "tool_adopted":
        told.append(("adopted", f"{row['tool']} ({row['origin_tool']} of task {row['origin_task']})"))
    elif kind == "tool_rejected":
        told.append(("rejected", f"{row['tool']}, attempt {row['attempt']}: {one_line(row['reason'], 300)}"))
    elif kind == "tool_enhanced":
        judged = f", {row['judged']} differences settled by a judge" if row.get("judged") else ""
        told.append(
            ("mended", f"{row['tool']} ({row['replayed']} of {row['records']} recorded calls replayed{judged})")
        )
    elif kind == "tool_given_up":
        told.append(("given up", f"{row['tool']}: {one_line(row['reason'], 300)}"))
    elif kind == "tool_archived":
        told.append(("aside", f"{row['tool']}: {one_line(row['reason'])}"))
    elif kind == "tool_call_started":
        told.append(("call", call_text(row["tool"], row["arguments"])))
    elif kind == "tool_call_ended":
        took = "from the record" if row.get("reused") else seconds_text(row["seconds"])
        outcome = f"error: {one_line(row['error'], 300)}" if row.get("error") else one_line(row["text"])
        told.append(("", f"{row['tool']}, {took}: {outcome}"))
    elif kind == "member_answered":
        told.append(("stood in", f"{row['member']} for {row['tool']}: {one_line(row['failure'], 300)}"))
    elif kind == "judged" and row["verdict"] != "success":
        told.append(("verdict", f"{row['tool']}: {row['verdict']}, {one_line(row['reason'])}"))


def _thought_lines(position: int, record: dict[str, Any]) -> list[tuple[str, str]]:
    stage = "answered" if record.get("stage") == "replied" and not record.get("calls") else record.get("stage")
    unfinished = {"asked": " (no reply)", "replied": " (calls not finished)"}.get(str(stage), "")
    rows = [("thought", f"{position}{unfinished}: {one_line(str(record.get('thought', '')), 400)}")]
    for call in record.get("calls") or ():
        what = f"error: {call['error']}" if call.get("error") else call.get("observation", "")
        rows.append(("", f"{call_text(call['tool'], call.get('arguments', {}), 100)} → {one_line(str(what))}"))
    return rows
