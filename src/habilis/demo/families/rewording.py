"""Questions about one table in the words of its rows and columns: what is done, counted or paid there."""

from __future__ import annotations

import re

from habilis.demo.families.lexicon import FILLERS, FUNCTION_WORDS, SUPERLATIVES, VERBS, first_column_for
from habilis.demo.families.measures import DUE, FLOWS, Measures
from habilis.demo.questions.language import root, stems, words
from habilis.demo.questions.nouns import UNITS

_NEUTRAL = {"do", "did", "does", "made", "make", "take", "took", "taken"}
_NO_KINDS = ("different", "distinct", "unique", "kinds", "types", "expensive", "recent", "popular")
_PIECES_NAMED = {"number", "count", "quantity", "qty"}
_ENDS = "|".join(sorted(SUPERLATIVES, key=len, reverse=True))
_UNIT = "|".join(sorted({re.escape(one) for said in UNITS.values() for one in said.split()}, key=len, reverse=True))


class Rewording(Measures):
    """Rewrites a question before and after the marking of its columns."""

    def _before_marking(self, text: str) -> str:
        """`text` with marks for what the verbs and nouns of the file's name and of its columns mean."""
        text = self._done_often(self._in_stock(self._picked(text)))
        text = re.sub(r"\b(\w+ing) time\b", self._lasted, text, flags=re.I)
        flag = self._header.with_word("passed", "pass")
        if flag is not None and self._header.kind(flag) == "flag":
            text = re.sub(r"\bfail(?:ed|s)?\b", f"not #{flag}#", text, flags=re.I)
        return self._counted_by_name(text)

    def _after_marking(self, text: str) -> str:
        """`text`, whose columns are marked, in the words that the readers know."""
        text = self._kinds_of_rows(self._flowing(text))
        text = self._below_minimum(self._in_its_unit(text))
        texts = "|".join(f"{i}" for i in range(len(self._header.names)) if self._header.kind(i) == "text")
        if texts:
            text = re.sub(rf"(#(?:{texts})#) (?:on|about) (?!\d)", r"\1 ", text)
            text = re.sub(rf"\b(which|what|by|per|different) #R# (#(?:{texts})#)", r"\1 \2", text, flags=re.I)
        flags = "|".join(f"{i}" for i in range(len(self._header.names)) if self._header.kind(i) == "flag")
        if flags:
            text = re.sub(rf"^(?:(?:all|the|my|our) )*((?:not )?#(?:{flags})# #R#)", r"which \1", text, flags=re.I)
        if self._header.with_word("unit") is not None:
            text = re.sub(r"\b(expensive|cheapest) per (?:unit|piece|#\d+#)", r"\1", text, flags=re.I)
        return self._end_of_one(text)

    def _own_day(self, phrase: str) -> None:
        """Takes the date of what a row is for the one that is meant, where nothing else is said to be done."""
        days = [i for i in range(len(self._header.names)) if self._header.kind(i) == "moment"]
        days = [i for i in days if not self._header.is_clock(i)]
        row = root(self._header.rows_are)
        own = [i for i in days if row in [root(word) for word in words(self._header.names[i])]]
        said = {word for word in words(phrase) if word in VERBS or word.endswith("ed")} - _NEUTRAL
        if len(days) > 1 and len(own) == 1 and all(root(word) == row for word in said):
            self._clauses.dated_by = self._header.names[own[0]]

    # what is done

    def _picked(self, text: str) -> str:
        """ "pickings" as rows where the only date is "Picked on"."""
        day = self._header.only_day()
        done = [word for word in words(self._header.names[day]) if word.endswith("ed")] if day is not None else []
        if len(done) != 1:
            return text
        return re.sub(
            r"\b\w+ings?\b(?! time)",
            lambda found: "#R#" if root(stems(found[0])[0]) == root(done[0]) else found[0],
            text,
        )

    def _done_often(self, text: str) -> str:
        """ "cooked most often", "did I last cook" with the columns that say how often and when."""
        for column, name in enumerate(self._header.names):
            said = words(name)
            if len(said) != 2 or not said[1].endswith("ed"):
                continue
            verb = rf"{re.escape(root(said[1]))}\w*"
            if said[0] in ("times", "time") and self._header.kind(column) == "number":
                text = re.sub(rf"^how (?:often|many times) (?:(?:have|has|did|do) )?(?:(?:I|we|you) )?{verb} (.+)$",
                              rf"#{column}# of \1", text, flags=re.I)  # fmt: skip
                text = re.sub(rf"\b(?:have |has )?{verb} (?:the )?(most|least)(?: often| frequently)?\b",
                              rf"has the \1 #{column}#", text, flags=re.I)  # fmt: skip
            if said[0] in ("last", "first") and self._header.kind(column) == "moment":
                text = re.sub(rf"\b{said[0]} {verb}", f"#{column}#", text, flags=re.I)
                text = re.sub(rf"\b{verb} (?:for the )?{said[0]}\b", f"#{column}#", text, flags=re.I)
        return text

    def _counted_by_name(self, text: str) -> str:
        """ "how many birds" of bird_observations.csv with the column that says how many."""
        kind = words(self._file.named.rsplit("/")[-1].rpartition(".")[0])[:-1]
        found = [i for i, name in enumerate(self._header.names) if _PIECES_NAMED & {*words(name)}]
        if len(kind) != 1 or len(found) != 1 or self._header.kind(found[0]) != "number":
            return text
        said = rf"\b(how many|most|fewest|number of) {re.escape(kind[0])}s?\b(?! {self._header.rows_are})"
        return re.sub(said, rf"\1 #{found[0]}#", text, flags=re.I)

    def _kinds_of_rows(self, text: str) -> str:
        """ "late shifts" as rows of that kind, "how many shifts" as rows, where rows and their kinds have one name."""
        busy = "|".join([*FILLERS, *FUNCTION_WORDS.split(), *_NO_KINDS])
        kind = rf"(?: (?!(?:{busy})\b)[a-z-]+)?"
        for column in filter(self._header.is_rows, range(len(self._header.names))):
            if self._header.kind(column) == "text":
                said = rf"\b(how many|number of|most|fewest)({kind}) #{column}#"
                text = re.sub(said, r"\1\2 #R#", text, flags=re.I)
        return re.sub(rf"\b(most|fewest)({kind}) #R#", r"\1 #R#\2", text, flags=re.I)

    # what is measured

    def _flowing(self, text: str) -> str:
        """Money that was paid where the question says so, not what was due."""
        due = [i for i in self._header.money if DUE & {*words(self._header.names[i])}]
        paid = [i for i in self._header.money if {"paid", "received"} & {*words(self._header.names[i])}]
        if len(due) != 1 or len(paid) != 1 or f"#{paid[0]}#" in text or not re.search(FLOWS, text, re.I):
            return text
        return text.replace(f"#{due[0]}#", f"#{paid[0]}#")

    def _in_its_unit(self, text: str) -> str:
        """`text` without the unit in which its column is counted anyway."""
        match = re.search(rf",? in (?P<unit>{_UNIT})(?=,|$),?", text)
        columns = re.findall(r"#(\d+)#", text)
        unit = self._header.of_unit(match["unit"]) if match else None
        own = unit is not None and (not columns or f"{unit}" in columns)
        said = match and any(
            {match["unit"]} & {*said.split()} and {*said.split()} & {*words(self._header.names[int(one)])}
            for said in UNITS.values() for one in columns
        )  # fmt: skip
        return f"{text[: match.start()]} {text[match.end() :]}" if match and (own or said) else text

    def _lasted(self, match: re.Match[str]) -> str:
        """ "cooking time" as the minutes that something cooks."""
        names = [{root(word) for word in words(name)} for name in self._header.names]
        lasting = [i for i, name in enumerate(names) if root(match[1]) in name and {"minut", "hour", "min"} & name]
        return f"#{lasting[0]}#" if len(lasting) == 1 else match[0]

    def _in_stock(self, text: str) -> str:
        """ "stock" as what there is, where another column is the minimum stock."""
        names = [{*stems(name)} for name in self._header.names]
        stock = [i for i, name in enumerate(names) if "stock" in name and self._header.kind(i) == "number"]
        there = [i for i in stock if not {"minimum", "min", "reorder", "maximum", "max"} & names[i]]
        if len(stock) < 2 or len(there) != 1:
            return text
        text = re.sub(r"\b(?:is |are )?out of stock\b", f"#{there[0]}# is 0", text, flags=re.I)
        said = r"(?<!minimum )(?<!min )(?<!reorder )(?<!maximum )\b(?:(?:number|amount|pieces|units) )?(?:in )?stock\b"
        return re.sub(said, f"#{there[0]}#", text, flags=re.I)

    def _below_minimum(self, text: str) -> str:
        """ "have fallen below their minimum stock": of the column of what there is."""
        least = self._header.with_word("minimum", "min")
        names = [{*stems(name)} for name in self._header.names]
        stock = [i for i, name in enumerate(names) if "stock" in name and self._header.kind(i) == "number"]
        if least not in stock or len(stock) != 2:
            return text
        there = sum(stock) - least
        fallen = rf"\b(?:(?:is|are|have|has|fallen|dropped|gone|been) )+(below|under) (?:(?:their|its|the) )?#{least}#"
        return re.sub(fallen, rf"#{there}# \1 #{least}#", text, flags=re.I)

    def _end_of_one(self, text: str) -> str:
        """ "what did my heaviest loaf weigh" as the highest weight."""
        match = re.fullmatch(
            rf"what (?:did|does) (?:the |my |our )?(?P<end>{_ENDS}) (?P<rest>#\w+#.*?) (?:\w+|#\d+#)", text, re.I
        )
        for names, way in SUPERLATIVES[match["end"].lower()] if match else ():
            column = first_column_for(self._header, names)
            if match and column is not None:
                return f"{way} #{column}# of {match['rest']}"
        return text
