"""What people say of a table in other words than the readers know: "orders over $300", "flats that allow pets"."""

from __future__ import annotations

import re

from habilis.questions.language import root, stems, words
from habilis.questions.nouns import UNIT
from habilis.questions.tables.doings import VERBS
from habilis.questions.tables.lexicon import SUPERLATIVES
from habilis.questions.tables.said_twice import SaidTwice
from habilis.questions.world import CannotAnswerError

_EXTENTS = {"high": "height", "tall": "height", "long": "length", "wide": "width", "deep": "depth"}
_OVER = "more than|less than|over|under|above|below|at least|at most|up to"
_ONE = r"[A-Z][\w.'-]*(?: [A-Z][\w.'-]*)*"
_UP = "more|higher|longer|larger|bigger|better|greater|older|taller|heavier"
_DOWN = "less|lower|shorter|smaller|worse|fewer|younger|lighter"
_DONE_IN = {
    "borrow": "loan", "lend": "loan", "hire": "rental hire", "rent": "rental", "book": "booking", "visit": "visit",
    "assign": "ticket task job case", "order": "order", "play": "play match",
}  # fmt: skip
"""What a row is of which a verb says how it came about."""
_DONE = {
    "sold": "sell", "bought": "buy", "paid": "pay", "given": "give", "taken": "take", "brought": "bring",
    "sent": "send", "found": "find", "lent": "lend", "made": "make", "kept": "keep", "written": "write",
    "eaten": "eat", "seen": "see", "chosen": "choose", "built": "build", "left": "leave", "lost": "lose", "won": "win",
}  # fmt: skip
"""What columns say was done, and the verb of those who did it."""
_ENDS = "|".join(sorted(SUPERLATIVES, key=len, reverse=True))
_LETTING = r"(?:let|allow|allows|allowed|permit|permits|accept|accepts|take|takes)"


class Sayings(SaidTwice):
    """Brings such words into the form that the readers know."""

    def _before_marking(self, text: str) -> str:
        for rule in (self._ends_of_degrees, self._done_to_pieces, self._given, self._started, self._we_did,
                     self._longest_so, self._one_or_other, self._shortest_each):  # fmt: skip
            text = rule(text)
        return super()._before_marking(text)

    def _after_marking(self, text: str) -> str:
        rules = [self._as_its_cell, self._assigned_most, self._days_listed, self._of_so_much, self._graded]
        rules += [self._held_against_itself, self._none_of, self._so_extended, self._best_sold, self._allowing]
        rules += [self._done_most, self._most_apart]
        for rule in rules:
            text = rule(text)
        return super()._after_marking(text)

    # before columns are marked

    def _ends_of_degrees(self, text: str) -> str:
        """ "a minimum below zero", "the highest temperature" where two columns hold the least and the most of a day."""
        found = [self._header.with_word(short, long) for short, long in (("min", "minimum"), ("max", "maximum"))]
        if any(one is None for one in found) or self._header.with_word("temperature") is not None:
            return text
        low, high = (words(self._header.names[one]) for one in found if one is not None)
        if low[1:] != high[1:] or not {"c", "f", "celsius", "fahrenheit"} & {*low[-1:]}:
            return text
        text = re.sub(r"\bbelow (?:zero|freezing)\b", "below 0", text, flags=re.I)
        marks = [f"#{one}#" for one in found]
        text = re.sub(r"\bmin and (?:the )?max\b", " and ".join(marks), text, flags=re.I)
        for long, short, end, name in zip(
            ("minimum", "maximum"), ("min", "max"), ("lowest", "highest"), marks, strict=True
        ):
            text = re.sub(rf"\b(?:{long}|{short}) temperatures?\b", name, text, flags=re.I)
            text = re.sub(rf"\b{end} temperatures?\b", f"{end} {name}", text, flags=re.I)
            text = re.sub(rf"\b(?:the|an?) {long}(?= (?:below|above|over|under|of)\b|$)", name, text, flags=re.I)
        return text

    def _done_to_pieces(self, text: str) -> str:
        """ "were sold on 10 June" without the column of how many were: it is asked what, not how much."""
        for column, name in enumerate(self._header.names):
            *noun, done = words(name) or [""]
            if noun and done in VERBS and done.endswith(("d", "t")) and self._header.kind(column) == "number":
                text = re.sub(rf"\b(?:was|were|is|are) {done} (?=(?:on|in|at|during|by) )", "listed ", text, flags=re.I)
        return text

    def _given(self, text: str) -> str:
        """ "who gave" with the column of donors."""
        donors = [i for i, name in enumerate(self._header.names) if words(name) in (["donor"], ["giver"])]
        return re.sub(r"^who (?:gave|has given)\b", f"which #{donors[0]}# gave", text, flags=re.I) if donors else text

    def _started(self, text: str) -> str:
        """ "when did Toy Trains start" as the first of its rows, where no column says when."""
        if self._header.with_word("start", "started", "begin", "began") is not None:
            return text
        said = r"^(?:when|on (?:what|which) (?:date|day)) did (.+?) (?:start|begin)$"
        return re.sub(said, r"when was the first #R# of \1", text, flags=re.I)

    def _we_did(self, text: str) -> str:
        """ "how many items did I sell" as those that were sold, where a column says whether or when they were."""
        for column, name in enumerate(self._header.names):
            for done in {*words(name)} & _DONE.keys() if self._header.kind(column) in ("flag", "moment") else ():
                said = rf"\b(?:have|has|did|do) (?:I|we|they|you) (?:{_DONE[done]}|{done})\b"
                text = re.sub(said, f"were {done}", text, flags=re.I)
        return text

    def _longest_so(self, text: str) -> str:
        """ "who has been a member the longest" as the one since the earliest date; no column of durations tells it."""
        match = re.fullmatch(
            r"(?P<who>(?:who|which|what)\b.*?) (?:has|have) (?:been|had|worked|lived|served|stayed|belonged)\b.*? "
            r"(?:for )?(?:the )?longest(?: time)?",
            text,
            re.I,
        )
        since = self._header.with_word("since", "joined", "started", "start", "entry", "hired")
        if match is None:
            return text
        if since is None:
            raise CannotAnswerError(f"no column of {self._file.named} says since when it has been so")
        end = "lowest" if self._header.kind(since) == "number" else "earliest"
        return f"{match['who']} has the {end} {self._header.names[since]}"

    def _one_or_other(self, text: str) -> str:
        """Nothing of "how many children" where a column is called "Adult or child": its cells are meant, and not how
        many different ones it has."""
        for name in self._header.names:
            sides = re.fullmatch(r"(\w+) or (\w+)", name.strip(), re.I)
            for side in sides.groups() if sides else ():
                if re.search(rf"\bhow many {re.escape(side)}(?:s|ren)?\b", text, re.I):
                    raise CannotAnswerError(f"it does not understand how many of {name!r} are asked for")
        return text

    def _shortest_each(self, text: str) -> str:
        """ "the shortest cooking time in minutes for each kitchen": the minutes, and not what took them."""
        match = re.fullmatch(
            rf"(?:(?:the|what is the) )*(?P<end>{_ENDS}) [\w ]+? in (?P<unit>{UNIT}) (?P<each>(?:for|in|per|by) .+)",
            text,
            re.I,
        )
        column = self._header.of_unit(match["unit"]) if match else None
        if match is None or column is None:
            return text
        end = next((way for _, way in SUPERLATIVES[match["end"].lower()]), "")
        return f"{end} {self._header.names[column]} {match['each']}"

    # behind the marking

    def _days_listed(self, text: str) -> str:
        """ "the days with less than 5 mm" as the dates of the rows, where each row is of another day."""
        day = self._header.only_day()
        cells = [] if day is None else [row[day] for row in self._header.samples if day < len(row)]
        if day is None or len({*cells}) < len(cells):
            return text
        said = r"^(?:(?:all|the|our|my) )*(?:days|dates) (?=(?:with|when|where|that|which|on which)\b)"
        return re.sub(said, f"which #{day}# ", text, flags=re.I)

    def _as_its_cell(self, text: str) -> str:
        """ "who has Ada as manager", "have shade in the Sun column" as the rows with that cell there."""
        column = rf"(#(?:{self._marks('text')})#)(?=$|[ ,])"
        whom = rf"\b(?:has|have|had|with) ({_ONE}) as (?:(?:an?|the|their|his|her|its) )?{column}"
        text = re.sub(whom, r"with \2= \1", text)
        return re.sub(rf"\b(?:has|have|had|with) ([a-z]+) in the {column}", r"with \2= \1", text)

    def _assigned_most(self, text: str) -> str:
        """ "who was assigned the most tickets" with the column "assigned to"."""
        whom = [i for i, name in enumerate(self._header.names) if words(name)[-1:] == ["to"]]
        said = rf"^who (?:was|is|were|got) #({'|'.join(map(str, whom)) or '(?!)'})# (?:the )?(most|fewest|least) #R#"
        return re.sub(said, r"which #\1# has the \2 #R#", text, flags=re.I)

    def _of_so_much(self, text: str) -> str:
        """ "orders over $300" of the only column of money."""
        money = self._header.money
        if len(money) != 1 or f"#{money[0]}#" in text:
            return text
        said = rf"(#R#) (?:of |worth |for |that cost )?(?=(?:{_OVER}) [€$£] ?\d)"
        return re.sub(said, rf"\1 with #{money[0]}# ", text, flags=re.I)

    def _held_against_itself(self, text: str) -> str:
        """ "how many points higher is Ada's English than her maths" as what lies between two columns of one row."""

        def told(match: re.Match[str]) -> str:
            one, other = match["one"], match["other"]
            numbers = all(self._header.kind(int(each)) == "number" for each in (one, other))
            if not numbers or one == other:
                return match[0]
            one, other = (other, one) if re.fullmatch(_DOWN, match["how"], re.I) else (one, other)
            return f"#{one}# minus #{other}# of {match['who']}"

        said = (
            rf"^(?i:by )?(?i:how) (?:much|many(?: [a-z]+)?) (?P<how>{_UP}|{_DOWN}) (?:is|was|are|were|did|does) "
            rf"(?P<who>{_ONE}) #(?P<one>\d+)# than (?:(?:his|her|their|its|the|in|at) )*#(?P<other>\d+)#$"
        )
        return re.sub(said, told, text)

    def _graded(self, text: str) -> str:
        """ "her maths grade" of a file of grades: the noun says nothing more than the column."""
        if self._header.rows_are not in ("grade", "mark", "score", "result"):
            return text
        return re.sub(rf"(#(?:{self._marks('number')})#) #R#(?! (?:of|in|for)\b)", r"\1", text)

    def _none_of(self, text: str) -> str:
        """ "how many flats have no tenant" of a file of flats: it is they that are counted."""
        rows = "|".join(map(re.escape, self._header.of_file)) or "(?!)"
        said = rf"^(how many )(?:{rows})s ((?:(?:that|which) )?(?:have|has|had|with|are) )?(?=(?:no|without) #)"
        return re.sub(said, r"\1#R# \2", text, flags=re.I)

    def _so_extended(self, text: str) -> str:
        """ "less than 50 cm high" with the column of heights."""
        for said, noun in _EXTENTS.items():
            column = self._header.with_word(noun)
            if column is not None and self._header.kind(column) == "number":
                text = re.sub(rf"(?<=\d) #{column}# {said}(?![\w#])", f" #{column}#", text, flags=re.I)
                unit = rf"(?<=\d) ?((?:cm|mm|m|km|met(?:re|er)s?|inch(?:es)?)) {said}(?![\w#])"
                text = re.sub(unit, rf" \1 #{column}#", text, flags=re.I)
        return text

    def _best_sold(self, text: str) -> str:
        """ "our best selling item, by units" as the one with the most of them."""
        pieces = [i for i, name in enumerate(self._header.names) if "sold" in words(name)]
        pieces = [i for i in pieces if self._header.kind(i) == "number"]
        if len(pieces) != 1:
            return text
        said = (
            r"^(?:(?:what|which) (?:is|was) )?(?:(?:the|our|my) )*(best|worst)[- ]selling (#\w+#)(.*?),?"
            rf"(?: by (?:the )?(?:number of )?(?:#{pieces[0]}#|units|pieces|number|quantity)(?: sold)?)?$"
        )
        end = {"best": "highest", "worst": "lowest"}
        return re.sub(
            said,
            lambda one: f"which {one[2]} has the {end[one[1].lower()]} total #{pieces[0]}# {one[3]}",
            text,
            flags=re.I,
        )

    def _allowing(self, text: str) -> str:
        """ "flats that allow pets" with the column that says whether."""
        said = rf"\b(?:(?:that|which) )?{_LETTING} (?=#(?:{self._marks('flag')})#(?:$|[ ,]))"
        return re.sub(said, "with ", text, flags=re.I) if "#" in text else text

    def _done_most(self, text: str) -> str:
        """ "which author was borrowed the most" of loans: the one of most of them."""

        def told(match: re.Match[str]) -> str:
            rows = next((rows for verb, rows in _DONE_IN.items() if root(match["verb"]) == root(verb)), "")
            if self._pieces() or not {self._header.rows_are, *self._header.of_file} & {*rows.split()}:
                return match[0]
            self._generic = True  # loans, not titles
            return f"{match['which']} has the {match['end']} #R#"

        said = (
            r"^(?P<which>(?:which|what) #\d+#) (?:is|was|were|are|has been) (?P<verb>[a-z]+ed|lent) "
            r"(?:out )?(?:the )?(?P<end>most|least)(?: often)?$"
        )
        return re.sub(said, told, text, flags=re.I)

    def _most_apart(self, text: str) -> str:
        """ "the biggest difference between Min and Max on one day" as the highest of a calculation, where the names say
        which of the two is larger."""

        def told(match: re.Match[str]) -> str:
            one, other = (stems(self._header.names[int(match[name])])[:1] for name in ("one", "other"))
            low, high = ("min", "minimum", "low", "lowest"), ("max", "maximum", "high", "highest")
            if one and other and one[0] in high and other[0] in low:
                return f"{match['end']} #{match['one']}# minus #{match['other']}#"
            if one and other and one[0] in low and other[0] in high:
                return f"{match['end']} #{match['other']}# minus #{match['one']}#"
            return match[0]

        said = (
            r"^(?P<end>biggest|largest|greatest|highest|smallest|lowest) (?:difference|gap|swing|spread|range) between "
            r"(?:the )?#(?P<one>\d+)# and (?:the )?#(?P<other>\d+)#"
            r"(?: (?:on|in|of|for) (?:an?|one|any|the same)(?: single)? (?:#\d+#|#R#|day))? *$"
        )
        return re.sub(said, told, text, flags=re.I)
