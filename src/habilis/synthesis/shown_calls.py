"""What prompts show a writer of recorded calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from habilis.contract.records import RecordedCall
from habilis.synthesis.gate import Predecessor
from habilis.synthesis.replay import compact, distinct
from habilis.synthesis.shown_files import begins

BEGINS_LINES, BEGINS_CHARS = 5, 600
SHOWN_CALLS, SHOWN_CALL_CHARS = 3, 400
Contents = Callable[[str], bytes | None]


def failure_row(record: RecordedCall, contents: Contents, right: Sequence[RecordedCall] = ()) -> dict[str, str]:
    """A call that failed; `contents` reads its files. Of `right` comes what it should have given, where it is there."""
    result = record.error.message if record.error else compact(record.output)
    known = [one.output for one in right if (one.arguments, one.files) == (record.arguments, record.files)]
    result = f"{result} (right is {compact(known[0])})" if known else result
    return {"arguments": compact(record.arguments), "result": result, "begins": _begins(record, contents)}


def merge_row(source: Predecessor) -> dict[str, Any]:
    """A tool that is to be merged, with some of its calls."""
    return {"name": source.tool.name, "code": source.tool.source().strip(), "calls": call_rows(source.records)}


def call_rows(records: Sequence[RecordedCall]) -> list[dict[str, str]]:
    """A few of `records`, cut to a length that a prompt can bear."""
    shown, _ = distinct(records)
    return [
        {"arguments": compact(call.arguments, SHOWN_CALL_CHARS), "output": compact(call.output, SHOWN_CALL_CHARS)}
        for call in shown[:SHOWN_CALLS]
    ]


def _begins(record: RecordedCall, contents: Contents) -> str:
    """The first lines of the text files that a failing call opened."""
    files = {name: contents(digest) or b"" for name, digest in record.files.items()}
    return begins(files, lines=BEGINS_LINES, chars=BEGINS_CHARS)
