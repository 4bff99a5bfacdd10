"""Which recorded calls bind a version that mends another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from habilis.contract.records import RecordedCall, gave
from habilis.inputs.domain import Domain
from habilis.inputs.relations import Given


def binding(
    records: Sequence[RecordedCall], every: Sequence[RecordedCall], contents: Callable[[str], bytes | None]
) -> tuple[RecordedCall, ...]:
    """Those of `records` that a mended version has to repeat, where `every` call of the old one is known.

    A call that no task made is confirmed by the very writer that may have been wrong. It does not bind where it shares
    with a wrong answer of the old version what no good call of a task shows.
    """

    def given(record: RecordedCall) -> Given:
        found = {name: contents(digest) for name, digest in record.files.items()}
        return Given(record.arguments, {name: content for name, content in found.items() if content is not None})

    if all(record.used for record in records):
        return tuple(records)
    good = [given(record) for record in every if record.used and record.verdict == "success"]
    wrong = [given(record) for record in every if record.verdict == "failure" and gave(record)]
    domain = Domain([*good, *wrong], good=good, wrong=wrong)
    return tuple(record for record in records if record.used or not domain.explained(given(record)))
