"""Which of its days a question about a table means, by what it says was done."""

from __future__ import annotations

import re

from habilis.questions.language import root, stems, words
from habilis.questions.tables.doings import VERBS
from habilis.questions.tables.kinds_meant import KindsMeant
from habilis.questions.tables.measures import YEARLY

_NEUTRAL = {"do", "did", "does", "made", "make", "take", "took", "taken"}
_BEGINS = {"loan": "borrow", "invoice": "issu", "parcel": "ship", "shipment": "ship", "ticket": "open", "case": "open"}
"""What is done at first with what rows are."""
_STARTS = ("start", "started", "since", "joined", "hired", "moved", "began")
_ENDED = set(
    """end ends ended until finish finished left stopped closed expires expired returned duration length minutes mins
    min hours days weeks months years term""".split()  # noqa: SIM905
)
"""Words of columns that say until when or for how long."""
_DID = re.compile(r"\b(?:did|do|does|have|has) (?:I|we|they|you|[A-Z]\w+(?: [A-Z]\w+)?) ([a-z]+)\b")
_DONE_IN = re.compile(
    r"\b([a-z]+(?:ed|ght|ld|en|nt)) (?:in|during|since|before|after|until|from) (?:the year )?\d{4}\b"
)
"""What somebody did, and what was done in a year."""
_ARRIVES, _LEAVES = (
    "arrival arrive arrives from start checkin begin",
    "departure depart departs until to end checkout leaves",
)
_OFTEN = {"weekly", "monthly", "daily", "yearly", "per"}
_PER_NIGHT = {"per", "rate", "price", "cost"}
_STAYS = (
    r"how many nights (?:is|are|was|were|did|does|do|has|have|will) (?:the )?(?P<who>.+?) "
    r"(?:be )?(?:staying|stays?|stayed|booked|booking|here|spend|spent|book)(?: for)?(?P<all> altogether| in total)?"
)
"""Words for when a row begins and ends, and a question for how long somebody stays."""
_MAKERS = {"title", "author", "artist", "band", "director", "publisher", "designer", "composer", "model", "maker"}
"""Columns of things that have a year of their own, whenever something is done with them."""


class DaysMeant(KindsMeant):
    """The columns of days and of years that a question is about."""

    def _own_day(self, phrase: str) -> None:
        """Takes the date of what a row is for the one that is meant, where nothing else is said to be done."""
        days = [i for i in range(len(self._header.names)) if self._header.kind(i) == "moment"]
        days = [i for i in days if not self._header.is_clock(i)]
        starts = [i for i in days if {"start", "begin", "started"} & {*words(self._header.names[i])}]
        ends = [i for i in days if {"end", "finish", "ended", "finished"} & {*words(self._header.names[i])}]
        if len(starts) == len(ends) == 1 and len(days) == 2:
            self._clauses.dated_by = self._header.names[starts[0]]
        row = _BEGINS.get(self._header.rows_are, root(self._header.rows_are))
        own = [i for i in days if row in [root(word) for word in words(self._header.names[i])]]
        verb = _DID.search(phrase) or _DONE_IN.search(phrase)
        done = [i for i in days if verb and root(verb[1]) in [root(word) for word in words(self._header.names[i])]]
        if len(done) == 1:
            self._clauses.dated_by = self._clauses.years_are_of = self._header.names[done[0]]
        elif verb and not re.fullmatch(YEARLY, verb[1]) and _MAKERS & {*stems(" ".join(self._header.names))}:
            self._clauses.years_are_of = ""
        said = {word for word in words(phrase) if word in VERBS or word.endswith("ed")} - _NEUTRAL
        if len(days) > 1 and len(own) == 1 and all(root(word) == row for word in said):
            self._clauses.dated_by = self._header.names[own[0]]

    def _since(self, text: str) -> str:
        """ "has lived here the longest" as the earliest start, where a column says since when, and none until when or
        for how long."""
        column = self._header.with_word(*_STARTS)
        own = [words(name) for name in self._header.names]
        told = _ENDED & {word for name in own if not _OFTEN & {*name} for word in name}
        if column is None or told or self._header.kind(column) not in ("moment", "number"):
            return text
        end = "earliest" if self._header.kind(column) == "moment" else "lowest"
        done = "been|lived|worked|stayed|served|run|running|here|there|around|going|with us|for us|for me|in use"
        been = rf"(?:(?:{done}) )+"
        said = rf"\b(?:has|have) {been}(?:for )?(?:the )?longest$"
        return re.sub(said, f"has the {end} {self._header.names[column]}", text, flags=re.I)

    def _nights(self, text: str) -> str:
        """ "how many nights is A staying" as the days from when a row begins to when it ends."""
        names = [{*words(name)} for name in self._header.names]
        days = [i for i in range(len(names)) if self._header.kind(i) == "moment" and not self._header.is_clock(i)]
        ends = [[i for i in days if names[i] & {*said.split()}] for said in (_ARRIVES, _LEAVES)]
        numbers = [i for i in range(len(names)) if self._header.kind(i) == "number" and not names[i] & _PER_NIGHT]
        if any(len(one) != 1 for one in ends) or any({"nights", "night"} & names[i] for i in numbers):
            return text
        first, last = (self._header.names[one[0]] for one in ends)
        match = re.fullmatch(_STAYS, text, re.I)
        if match is None:
            return text
        measure = " in total" if match["all"] else ""
        return f"how many days did {match['who']} take{measure} from {first} to {last}"

    def _of_days(self, text: str) -> str:
        """ "on rainy days" as the rows that are rainy, where each row is a day."""
        if self._header.only_day() != 0:
            return text
        return re.sub(r"\b(?:on|during) ([a-z]{3,}(?:y|ed|ing|t)) days?\b", r"for \1", text)
