"""What became of candidates that are to take the place of another version, and the shares of it as a table."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from replacement_judge import JUDGES

DRAWS = 1000
Role = Literal["replaces", "enhances", "repairs"]
"""`replaces`: a right version, as a merge does; `enhances`: a right version that failed one call; `repairs`: a version
that answered a call wrongly."""


@dataclass(frozen=True)
class Verdict:
    """What became of one candidate in a `role`. `ended`: what spoke against it; `lacking`: what was missing for it."""

    problem: str
    wrong: bool
    sure: bool
    kind: str
    records: int
    ended: str = ""
    lacking: str = ""
    role: Role = "replaces"
    judge: str = "none"
    seconds: float = 0.0
    runs: int = 0
    number: int = 0
    source: str = field(default="", repr=False)

    @property
    def refused(self) -> bool:
        return bool(self.ended or self.lacking)


def report(verdicts: Sequence[Verdict]) -> str:
    """Rows of a Markdown table, with the middle 95 % of what draws of problems give."""
    lines = ["| what | records | figure | of | spread |", "| --- | --- | --- | --- | --- |"]
    for count in sorted({one.records for one in verdicts}, reverse=True):
        rows = [one for one in verdicts if one.records == count and one.role == "replaces"]
        for what, among, said in (
            ("wrong ones caught", [one for one in rows if one.wrong], "refused"),
            ("… those of mutation", [one for one in rows if one.wrong and one.kind != "published"], "refused"),
            ("… by a difference alone", [one for one in rows if one.wrong], "ended"),
            ("surely right ones refused", [one for one in rows if one.sure], "refused"),
            ("all right ones refused", _right(rows), "refused"),
            *_enhancements([one for one in verdicts if one.records == count and one.role == "enhances"]),
            *_repairs([one for one in verdicts if one.records == count and one.role == "repairs"]),
        ):
            if among:
                low, high = spread(among, said)
                share = _share(among, said)
                lines.append(f"| {what} | {count} | {share:.3f} | {len(among)} | {low:.3f} to {high:.3f} |")
    return "\n".join(lines)


def _enhancements(rows: Sequence[Verdict]) -> Iterator[tuple[str, list[Verdict], str]]:
    yield "wrong enhancements caught", [one for one in rows if one.wrong], "ended"
    yield "surely right enhancements refused", [one for one in rows if one.sure], "ended"
    yield "all right enhancements refused", _right(rows), "ended"


def _repairs(rows: Sequence[Verdict]) -> Iterator[tuple[str, list[Verdict], str]]:
    """The rows of a table on repairs, judge by judge."""
    for judge in JUDGES:
        among = [one for one in rows if one.judge == judge]
        yield f"repairs that break something caught, judge: {judge}", [one for one in among if one.wrong], "ended"
        yield f"surely right repairs refused, judge: {judge}", [one for one in among if one.sure], "ended"


def _right(rows: Sequence[Verdict]) -> list[Verdict]:
    """Those that are made to be right, and the published ones that pass every test."""
    return [one for one in rows if not one.wrong and (one.sure or one.kind == "published")]


def _share(rows: Sequence[Verdict], said: str) -> float:
    return sum(bool(getattr(one, said)) for one in rows) / len(rows)


def spread(rows: Sequence[Verdict], said: str) -> tuple[float, float]:
    """Between what lie 95 % of the shares, where problems are drawn with replacement."""
    lot = random.Random(0)
    by_problem: dict[str, list[Verdict]] = {}
    for one in rows:
        by_problem.setdefault(one.problem, []).append(one)
    groups = [(sum(bool(getattr(one, said)) for one in some), len(some)) for some in by_problem.values()]
    shares = []
    for _ in range(DRAWS):
        drawn = lot.choices(groups, k=len(groups))
        shares.append(sum(refused for refused, _ in drawn) / sum(number for _, number in drawn))
    shares.sort()
    return shares[DRAWS // 40], shares[-DRAWS // 40]


def shown(verdicts: Sequence[Verdict]) -> str:
    """What went wrong: the wrong that passed, the right that did not."""
    lines = []
    for one in verdicts:
        if one.wrong != one.refused and (one.wrong or one.sure or one.kind == "published"):
            what = "passed" if one.wrong else "refused"
            role = {"replaces": "", "enhances": "enhancement ", "repairs": f"repair (judge: {one.judge}) "}[one.role]
            lines.append(f"--- {one.problem} {role}{one.kind} {one.records}: {what} {one.ended} {one.lacking}")
            lines.append(one.source)
    return "\n".join(lines)
