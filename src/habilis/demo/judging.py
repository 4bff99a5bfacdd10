"""Review, verdicts, results of mended tools, final answers, summaries and extracts: replies about others' work."""

from __future__ import annotations

import re
from typing import Any

from habilis.demo import MODEL_NAME, outright
from habilis.demo.executing import CONCLUSION
from habilis.questions.language import words
from habilis.questions.prompts import Seen, entries, first_object, loads

_NOTHING = re.compile(
    r"\b(?:i|we) (?:cannot|can't|could not|couldn't|am unable|was unable)\b|missing capabilities:|do"
    r"(?:es)? not understand"
    r"|\bnothing (?:was |could be )?found\b|\bno (?:result|answer) (?:was |could be )?found\b|not able to",
    re.IGNORECASE,
)
_CITED = re.compile(r"\(from `([\w-]+)` with ")
_INVOCATION = re.compile(r"^- ([\w-]+)\((.*?)\) -> (.*)$", re.MULTILINE)
LONGEST_LINE, LONGEST = 600, 6000
"""Characters that a summary or an extract keeps of one line, and in all."""


def review(seen: Seen) -> dict[str, str]:
    """FINISH for an answer with a conclusion that tool results bear out, else RETRY and why."""
    text = seen.parts.get("answer", "").strip()
    invocations = [(name, result) for name, _, result in _INVOCATION.findall(seen.parts.get("invocations", ""))]
    if not text:
        return {"status": "RETRY", "reason": "The answer is empty."}
    cited = _CITED.findall(text)
    if not cited and _NOTHING.search(text):  # what a cited result says is the file's word, not the answer's
        return {"status": "RETRY", "reason": "The answer says that the question could not be answered."}
    unseen = [name for name in cited if name not in {name for name, _ in invocations}]
    if unseen:
        return {"status": "RETRY", "reason": f"The answer relies on {unseen[0]}, which was not run."}
    if invocations and all(_is_error(result) for _, result in invocations):
        return {"status": "RETRY", "reason": "No tool call gave a result, so nothing bears the answer out."}
    return {"status": "FINISH", "reason": "The answer has a conclusion that the tool results bear out."}


def _is_error(result: str) -> bool:
    output = first_object(result)
    return bool(output.get("error")) if output is not None else bool(re.search(r"error|exception|failed", result, re.I))


def verdicts(seen: Seen) -> dict[str, Any]:
    """Whether each call failed by the tool's fault or by the caller's: what was asked for stands in the file or not."""
    replies = []
    for call in entries(seen.parts.get("calls", ""), "call_id"):
        verdict, reason = _verdict(call)
        replies.append({"call_id": call["call_id"], "verdict": verdict, "reason": reason})
    return {"verdicts": replies}


def _verdict(call: dict[str, str]) -> tuple[str, str]:
    result, begins = call.get("result", ""), call.get("files", "")
    output = first_object(result)
    if output is not None and not output.get("error") and not re.match(r"\s*(?:error|call failed)", result, re.I):
        return "success", "A result without an error."
    arguments = loads(call.get("arguments", ""))
    wanted = (
        [value for value in (arguments or {}).values() if isinstance(value, str)] if isinstance(arguments, dict) else []
    )
    blamed = [value for value in wanted if value in result and not re.search(r"[/\\]|\.\w{1,5}$", value)]
    if not begins.strip() or not blamed:
        return "failure", "The tool should have coped with this input."
    cells = {" ".join(words(cell)) for cell in re.split(r"[,;\t|{}\[\]:\"\n]", begins)}
    if all(" ".join(words(value)) in cells for value in blamed):
        return "failure", f"The file has {blamed[0]}; the tool did not read it rightly."
    return "input_error", f"The file does not have {blamed[0]}."


def fixed(seen: Seen) -> dict[str, Any]:
    """A mended call is fixed when its new result is an output without an error and with a value."""
    results = []
    for one in entries(seen.parts.get("records", ""), "record"):
        output = first_object(one.get("now", ""))
        error = output.get("error") if output is not None else "no output"
        values = [value for key, value in (output or {}).items() if key != "error"]
        good = not error and any(value is not None and value != "" and value != {} for value in values)
        reason = "It gives a result now." if good else f"Still no result: {str(error or 'it is empty')[:150]}"
        results.append({"record": one["record"], "fixed": good, "reason": reason})
    return {"results": results}


def differing(seen: Seen) -> dict[str, Any]:
    """Which of two results is right: this model cannot work that out without the tool, and says so."""
    reason = f"The {MODEL_NAME} cannot work this out."
    calls = entries(seen.parts.get("differing", ""), "call")
    return {"results": [{"call": one["call"], "reason": reason, "right": "unclear"} for one in calls]}


def answer(seen: Seen) -> dict[str, str]:
    """The value behind the last conclusion; without one, the findings' own first words."""
    findings = seen.parts.get("findings", "").strip()
    if called := outright.CALLED.fullmatch(findings):
        return outright.answer(seen, called)
    before, mark, after = f"\n{findings}".rpartition(f"\n{CONCLUSION} ")
    if mark and after.strip():
        sentences = [line for line in before.splitlines() if "(from `" in line]
        return {"final_answer": after.strip(), "reasoning_summary": " ".join(sentences[-3:])[:900]}
    first = next((part.strip() for part in findings.split("\n\n") if part.strip()), "")
    return {"final_answer": first[:1500] or "No result.", "reasoning_summary": ""}


def ruling(seen: Seen) -> dict[str, Any]:
    """An answer with the words of the reference and no other is right; of others this model cannot tell."""
    response = seen.parts.get("response", "").strip()
    if response and words(response) == words(seen.parts.get("reference", "")):
        return {"extracted_answer": response[:900], "reasoning": "Word for word the reference.", "correct": "yes"}
    reason = f"The {MODEL_NAME} compares words and cannot tell whether others mean the same."
    return {"extracted_answer": response[:900], "reasoning": reason, "correct": "unclear"}


def summarise(seen: Seen) -> str:
    """Calls and results letter by letter, each once, the newest where they repeat; long lines are cut."""
    lines = [*seen.parts.get("previous_summary", "").splitlines(), *seen.parts.get("work", "").splitlines()]
    kept = list(dict.fromkeys(line.rstrip()[:LONGEST_LINE] for line in reversed(lines) if line.strip()))
    text: list[str] = []
    room = LONGEST
    for line in kept:  # from the newest back, until the room is used
        room -= len(line) + 1
        if room < 0:
            break
        text.append(line)
    return "\n".join(reversed(text)) or "Nothing was done yet."


def extract(seen: Seen) -> str:
    """The lines of a long result that share words with the question, word for word; else its beginning.

    Nothing for JSON: a cut that keeps its structure serves better.
    """
    if seen.parts.get("tool_result", "").lstrip()[:1] in ("{", "["):
        return ""
    wanted = {word for word in words(seen.question) if len(word) > 3}
    lines = seen.parts.get("tool_result", "").splitlines()
    bearing = [line for line in lines if wanted & set(words(line))]
    text = "\n".join(line[:LONGEST_LINE] for line in (bearing or lines))
    return text[:LONGEST] or "The result is empty."
