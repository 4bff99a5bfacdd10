"""The parts of a question that stand in any order: a measure, groups, and conditions in all that is left."""

from __future__ import annotations

import json
import re

from habilis.demo.families.columns_meant import ColumnsMeant
from habilis.demo.families.lexicon import FILLERS, MONEY, VERBS
from habilis.demo.families.measures import MEASURES
from habilis.demo.questions.language import QUOTED, stems, words
from habilis.demo.questions.world import DemoCall

PART = r"(?P<part>month|year|weekday|day of the week|day|date|hour|quarter)"
NUMBERED = r"(?P<n>[0-9]{1,3}|two|three|four|five|six|seven|eight|nine|ten)"
SAID = "|".join(rf"(?P<{name}>{said})" for name, said in MEASURES.items() if name in ("mean", "sum", "median"))
_UNREAD = re.compile(
    r"\b(?:not|never|no|nor|neither|without|per|except|only|all|both|every|each|or|than|more|less|fewer|other|same|last|"
    r"first|next|if|why|how|before|after|until|since|between|twice|half|ago|will|would|should|could|might|under|over|"
    r"above|below|most|least|fewest|highest|lowest|best|worst|largest|biggest|smallest|longest|shortest|earliest|latest|"
    r"average|mean|total|sum|percent|percentage|share|many|much|often|today|yesterday|tomorrow|now|what|when|and|also|"
    r"columns?|rows?|lines?|words?|years?|months?|weeks?|weekdays?|days?|hours?|non|one|two|three|four|five|six|seven|"
    r"eight|nine|ten|zero|versus|vs|compared|difference|again)\b|[.?!:;`()] |[`&]",
    re.I,
)
"""Words that change what is asked: where one is left, nothing is understood."""


class PartsAsked(ColumnsMeant):
    """A measure, groups and conditions, taken out of a question about one table."""

    def _measured(self, text: str) -> tuple[str, list[str]] | None:
        """The measure that a question asks for, with the conditions in the rest of it."""
        text = re.sub(r"^(?:what (?:is|was|are|were) )?(?:(?:the|our|my|your) )?", "", text.strip(" ,"), flags=re.I)
        text = re.sub(r"^what (?:did|do|does) (?=.+ (?:pay|spend|earn|cost)\b)", "how much did ", text, flags=re.I)
        often = re.match(r"how (?:often|many times)\b", text, re.I)
        if often:
            return self._with("count", text[often.end() :])
        if many := re.match(
            r"how many (?:of )?(?:the |my |our )?(?:(?P<distinct>different|distinct|unique) )?", text, re.I
        ):
            return self._many(text[many.end() :], bool(many["distinct"]))
        said = re.match(rf"(?:overall |the )*(?:{SAID}|(?P<much>how much))\b", text, re.I)
        if said:
            rest = text[said.end() :]
            measure = next((name for name in ("mean", "sum", "median") if said[name]), "sum")
            return self._statistic_of(measure, rest)
        end = re.match(
            r"(?P<end>highest|largest|biggest|maximum|latest|last|lowest|smallest|minimum|earliest"
            r"|least)\b(?P<rest> .+)",
            text,
            re.I,
        )
        if end:
            low = re.match("lowest|smallest|minimum|earliest|least", end["end"], re.I)
            return self._statistic_of("minimum" if low else "maximum", end["rest"])
        return None

    def _many(self, rest: str, distinct: bool) -> tuple[str, list[str]] | None:
        """What "how many" counts: rows, days, people, the values of a column, or the sum of one."""
        noun = re.search(r"#(?P<c>\w+)#|(?<![\w#])(?P<other>days|nights|people)(?![\w#])", rest, re.I)
        if noun is None:
            level = self._header.rows_are == "log" and re.match(r"(?:error|warning|info|debug|critical)", rest, re.I)
            held = self._header.with_word("quantity", "qty", "unit", "stock", "count", "amount", "number")
            alone = self._header.key() is not None and held is None and not re.search(r"[#|]|\bper\b", rest)
            return self._with("count" if level else self._count(), rest) if level or alone else None
        before, after = rest[: noun.start()], rest[noun.end() :]
        if noun["other"]:
            day = noun["other"].lower() != "people"
            who = None if day else self._who()
            if day and self._header.only_day() is None:
                return None
            return (
                self._with("distinct of day of *", f"{before} {after}")
                if day
                else None
                if who is None
                else self._with(f"distinct of {self._header.names[who]}", f"{before} {after}")
            )
        if noun["c"] == "R" and not distinct:
            return self._with(self._count(), f"{before} {after}")
        if noun["c"] == "R":
            return None
        column, name = int(noun["c"]), self._header.names[int(noun["c"])]
        where = self._rows(f"{before} {after}")
        if self._header.kind(column) == "number" and not distinct:
            again = self._rows(f"{before} #{column}# {after}")
            if again and any(one.startswith(f"{name} ") for one in again):
                return "count", again
            if where is None or any(one.startswith(f"{name} ") for one in where):
                return None
            return (self._how_many(column, True), where) if self._how_many(column, True).startswith("sum") else None
        if self._header.kind(column) == "moment" and not distinct:
            again = self._rows(f"{before} #{column}# {after}")
            return ("count", again) if again and any(name in one.partition('"')[0] for one in again) else None
        if where is None or self._header.kind(column) == "flag" or self._header.kind(column) == "moment":
            return None
        return ("count" if self._header.label() == column and not distinct else f"distinct of {name}"), where

    def _statistic_of(self, measure: str, rest: str) -> tuple[str, list[str]] | None:
        product = re.search(r"#(\d+)# (?:times|multiplied by|x) #(\d+)#", rest)
        column = self._column_in(rest)
        if product:
            one, other = (self._header.names[int(product[i])] for i in (1, 2))
            rest = re.sub(rf"#(?:{product[1]}|{product[2]})#|[()]|\bvalue\b", " ", rest.replace(product[0], ""))
            return None if "#R#" in rest else self._with(f"{measure} of {one} * {other}", rest)
        if column is None and measure == "sum" and re.search(rf"\b(?:{MONEY})\b", rest, re.I):
            column = self._money(rest)
        if column is None and measure == "sum" and re.match(r" (?:for|of|in) (?!.*#\d)", rest):
            column = self._money(rest)
        if (
            column is None
            and measure in ("maximum", "minimum")
            and re.search(r"#R#|\b(?:payments?|sales?)\b", rest, re.I)
        ):
            column, rest = self._money(rest), re.sub(r"\b(?:payments?|sales?)\b", "", rest, flags=re.I)
        if column is None and measure == "mean" and not re.search(r"#\d+#", rest):
            column = self._only_number()
        if column is None or self._header.kind(column) not in ("number", "moment", ""):
            return None
        name = self._header.names[column]
        if (
            measure == "sum"
            and {"unit", "rate", "average", "avg", "balance"} & set(words(name))
            and len(words(name)) > 1
        ):
            return None
        if self._header.kind(column) == "moment":
            return None
        rest = re.sub(rf"#{column}#", "", rest, count=1)
        return self._with(f"{measure} of {name}", self._without_money(rest))

    def _with(self, measure: str, rest: str) -> tuple[str, list[str]] | None:
        where = self._rows(rest)
        return None if where is None else (measure, where)

    def _rows(self, text: str) -> list[str] | None:
        """The conditions of what is left of a question; None where a word of it is not understood."""
        text, found = self._clauses.taken_from(f"{text} ".replace(" #R#", " ").replace("#R# ", " "))
        for domain in re.finditer(r"(?<!\S)@?([\w-]+\.[a-z]{2,}) #(\d+)#", text):
            if {"email", "mail"} & set(words(self._header.names[int(domain[2])])):
                found.append(f"{self._header.names[int(domain[2])]} contains {json.dumps('@' + domain[1])}")
                text = text.replace(domain[0], "|")
        text = self._beside(text, found)
        runs: list[str] = []
        for run in re.split(r"[|,;]", text):
            kept = [one for one in re.findall(rf"{QUOTED}|[^\s]+", run) if one.lower().strip(".'") not in FILLERS]
            runs += [" ".join(f"({one})" if _is_verb(one) else one for one in kept)] if kept else []
        said = " ".join(runs)
        bare = re.sub(r"\((\w+)\)", r"\1", re.sub(r"\"[^\"]*\"", "", said))
        if re.search(r"[#\"]|(?<![\w.-])[\d.,]+(?![\w-])", said) or _UNREAD.search(bare):
            return None
        if self._directed and re.search(r"\b(?:from|to)\b", bare):
            return None
        said = re.sub(r"\b(?:from|to)\b ?", "", said).strip()
        return [*found, *([f"* says {json.dumps(said, ensure_ascii=False)}"] if said else [])]

    def _beside(self, text: str, found: list[str]) -> str:
        """`text` without its columns: each says yes, what was done, or of which column a word beside it is."""
        names = self._header.names

        def told(match: re.Match[str]) -> str:
            column, before, after = int(match["c"]), match["before"] or "", match["after"] or ""
            kind, negated = self._header.kind(column), before.strip().lower() == "not"
            if match["is"]:
                found.append(f"{names[column]} equals {json.dumps(after.strip())}")
                return f"{before} | "
            if kind in ("flag", "moment") and after.strip().lower() == "by":
                return match[0]  # who did it may be another than whom the table names
            if kind == "flag":
                found.append(f'{names[column]} {"no" if negated else "yes"} ""')
                return f"{'' if negated else before} | {after}"
            if negated:
                return match[0]
            if kind == "moment":
                found.append(f'{names[column]} filled ""')
                return f"{before} | {after}"
            if column == self._header.label():
                return f"{before} {after}"
            word = before.strip()
            if kind == "text" and word and word.lower() not in FILLERS | VERBS and not _UNREAD.search(word):
                found.append(f"{names[column]} equals {json.dumps(word)}")
                return f" | {after}"
            return match[0]

        return re.sub(r"(?P<before>(?<![#\w])[\w'-]+ )?#(?P<c>\d+)#(?P<is>=)?(?P<after> [\w'-]+(?![#\w]))?", told, text)

    @property
    def _directed(self) -> bool:
        """Whether columns say from where and to where."""
        return any({"from", "to", "origin", "destination"} & set(words(name)) for name in self._header.names)

    def _without_money(self, text: str) -> str:
        return re.sub(rf"(?<![\w#])(?:{MONEY})(?![\w#])", " ", text, flags=re.I)

    def _grouped(self, match: re.Match[str]) -> str | None:
        if match["g"]:
            return self._header.names[int(match["g"])]
        part = {"date": "day", "day of the week": "weekday"}.get(match["part"].lower(), match["part"].lower())
        said = re.search(r"#(\d+)#", match.string[match.end() :])
        moment = int(said[1]) if said and self._header.kind(int(said[1])) == "moment" else self._header.only_day()
        return f"{part} of {self._header.names[moment]}" if moment is not None else None

    def _groups(self, measure: str, group: str, where: list[str], rank: str = "") -> DemoCall:
        values = {"measure": measure, "group": group, "conditions": where}
        return self._made("top_groups", **values, rank=rank) if rank else self._made("groups", **values)


def _is_verb(word: str) -> bool:
    return bool({word.lower(), *stems(word)} & VERBS)
