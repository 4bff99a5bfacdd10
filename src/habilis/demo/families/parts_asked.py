"""The parts of a question that stand in any order: a measure, groups, and conditions in all that is left."""

from __future__ import annotations

import json
import re

from habilis.demo.families.columns_meant import ColumnsMeant
from habilis.demo.families.lexicon import FILLERS, MONEY, MONTHS, STATES, THINGS, VERBS, WORTH, is_state
from habilis.demo.families.measures import MEASURES
from habilis.demo.questions.language import QUOTED, stems, words
from habilis.demo.questions.nouns import PEOPLE
from habilis.demo.questions.world import DemoCall

PART = r"(?P<part>month|year|weekday|day of the week|day|date|hour|quarter)"
NUMBERED = r"(?P<n>[0-9]{1,3}|two|three|four|five|six|seven|eight|nine|ten)"
SAID = "|".join(rf"(?P<{name}>{said})" for name, said in MEASURES.items() if name in ("mean", "sum", "median"))
EACH = (
    r"(?<![\w#])(?:per|by|for each|for every|for the different|in each|in every|at each|of each|each|every|from each|"
    rf"across|for each kind of) (?:the )?(?:#(?P<g>\d+)#|{PART})(?= |,|$)(?! (?-i:[A-Z0-9]))"
)
_SIGNS = {"times": "*", "multiplied by": "*", "x": "*", "*": "*", "×": "*", "minus": "-", "less": "-", "-": "-",
          "plus": "+", "+": "+", "divided by": "/", "/": "/"}  # fmt: skip
_CALCULATION = (
    rf"#(?P<one>\d+)# (?P<sign>{'|'.join(map(re.escape, _SIGNS))}) "
    r"(?:(?:what|that|was|is|has|been|already|the|number of) )*#(?P<other>\d+)#"
)
_EXPLAINED = r"[(,:-]* ?(?:(?:i\.?e\.?|that is|meaning|in other words|so)[,:]? )?(?:the )?"
_LOW = r"lowest|smallest|minimum|min|least|fewest|shortest|cheapest"
_END = rf"(?P<end>highest|largest|biggest|maximum|max|longest|{_LOW})"
_COUNTED = r"(?P<often>how often|how many times)|how many(?: of)?(?P<distinct> different| distinct| unique)?"
_PIECES = {"quantity", "qty", "stock", "count", "piece", "unit"}
_MEASURED = set(
    """age year fee price cost amount paid salary income wage score mark grade point rating rank percent rate weight
    height length distance km mile hour minute day week month temperature time duration total revenue value balance
    debit credit budget allowance eur usd gbp page size speed area population calorie fine rent tax bill""".split()  # noqa: SIM905
)
"""What numbers of a row say that is no count of it."""
_PER_UNIT = {"unit", "rate", "average", "avg", "balance", "each", "per", "price"}
_LEADING = r"(?:(?:in|at|from|on|of|for|by|the|an?|any|are|is|were|was|have|has) )*"
_WORD = rf"(?!(?:{'|'.join(FILLERS)}|and|or|but|not)\b)[^\W\d_][\w'.&-]*"
_RUN = rf"{_WORD}(?: {_WORD})*"
_UNREAD = re.compile(
    r"\b(?:not|never|no|nor|neither|without|per|except|only|all|both|every|each|or|than|more|less|fewer|other|same|last|"
    r"first|next|if|why|how|before|after|until|since|between|twice|half|ago|will|would|should|could|might|under|over|"
    r"above|below|most|least|fewest|highest|lowest|best|worst|largest|biggest|smallest|longest|shortest|earliest|latest|"
    r"average|mean|median|maximum|minimum|total|sum|percent|percentage|share|many|much|often|today|yesterday|tomorrow|now|what|when|and|also|"
    r"columns?|rows?|lines?|words?|years?|months?|weeks?|weekdays?|days?|hours?|non|one|two|three|four|five|six|seven|"
    r"eight|nine|ten|zero|versus|vs|compared|difference|again|deviation|variance|correlation|percentile|quartile|ratio|"
    r"growth|increase|decrease|change|changed|trend)\b|"
    r"(?<!\b[A-Z])(?<!\bDr)(?<!\bM[rs])(?<!\bMrs)(?<!\bSt)\. |[?!:;`()] |[`&]",
    re.I,
)
"""Words that change what is asked: where one is left, nothing is understood."""


class PartsAsked(ColumnsMeant):
    """A measure, groups and conditions, taken out of a question about one table."""

    def _measured(self, text: str) -> tuple[str, list[str]] | None:
        """The measure that a question asks for, with the conditions in the rest of it."""
        text = re.sub(r"^(?:what (?:is|was|are|were) )?(?:(?:the|all|our|my|your) )*", "", text.strip(" ,"), flags=re.I)
        text = re.sub(r"^what (?:did|do|does) (?=.+ (?:pay|spend|earn|cost)\b)", "how much did ", text, flags=re.I)
        if calculated := self._calculated(text):
            return calculated
        if many := re.search(rf"\b(?:{_COUNTED}) ?(?:(?:the|my|our) )*", text, re.I):
            before, rest = text[: many.start()], text[many.end() :]
            return self._with("count", f"{before} {rest}") if many["often"] else self._many(before, rest, many)
        said = re.search(rf"(?:\b(?:overall|the) )*\b(?:{SAID}|(?P<much>how much))\b", text, re.I)
        if said:
            measure = next((name for name in ("mean", "sum", "median") if said[name]), "sum")
            return self._statistic_of(measure, f"{text[: said.start()]} {text[said.end() :]}")
        end = re.match(rf"{_END}\b(?P<rest> .+)", text, re.I)
        if end:
            return self._statistic_of("minimum" if re.match(_LOW, end["end"], re.I) else "maximum", end["rest"])
        return None

    def _calculated(self, text: str) -> tuple[str, list[str]] | None:
        """A calculation with two columns in each row, which may stand as what the words before it mean."""
        match = re.search(rf"{_EXPLAINED}{_CALCULATION}\)?", text, re.I)
        if match is None:
            return None
        rest = re.sub(rf"#{match['one']}#(?= worth)", " ", f"{text[: match.start()]} {text[match.end() :]}")
        rest = re.sub(r"\b(?:how (?:much|many)|in total|total|sum|overall|of|value)\b", " ", rest, flags=re.I)
        mean = re.search(r"\b(?:average|mean)\b", rest, re.I)
        rest = self._without_money(re.sub(r"\b(?:average|mean)\b", " ", rest, flags=re.I))
        rest = re.sub(rf"(?<![\w#])(?:{WORTH})(?![\w#])", r"(\g<0>)", rest, flags=re.I)  # unless one is a cell
        names = [self._header.names[int(match[one])] for one in ("one", "other")]
        values = f"{names[0]} {_SIGNS[match['sign'].lower()]} {names[1]}"
        return self._with(f"{'mean' if mean else 'sum'} of {values}", rest)

    def _many(self, before: str, rest: str, many: re.Match[str]) -> tuple[str, list[str]] | None:
        """What "how many" counts: rows, days, people, the values of a column, or the sum of one."""
        noun = re.search(r"#(?P<c>\w+)#|(?<![\w#])(?P<other>days|nights|people|hours|minutes)(?![\w#])", rest, re.I)
        distinct = bool(many["distinct"])
        if noun is None:
            return None if distinct else self._many_unnamed(f"{before} {rest}")
        kind, after = f"{before} {rest[: noun.start()]}", rest[noun.end() :]
        own = self._column_in(rest) if noun["other"] and not distinct else None
        if own is not None and {*stems(noun["other"])} & {*stems(self._header.names[own])}:
            return self._many_of(own, kind, after.replace(f"#{own}#", " ", 1))  # "how many days was A absent"
        if noun["other"]:
            return None if distinct else self._many_others(noun["other"].lower(), kind, after)
        if noun["c"] != "R" and self._is_day(int(noun["c"])):
            return self._with(f"distinct of day of {self._header.names[int(noun['c'])]}", f"{kind} {after}")
        if noun["c"] == "R":
            key = self._label() if distinct else None
            if distinct and key is None:
                return None
            return self._with(f"distinct of {key}" if distinct else self._count(), f"{kind} {after}")
        column = int(noun["c"])
        if distinct:
            return self._with(f"distinct of {self._header.names[column]}", f"{kind} {after}")
        return self._many_of(column, kind, after)

    def _is_day(self, column: int) -> bool:
        named = {*stems(self._header.names[column])} <= {"day", "date", "night"}
        return named and self._header.kind(column) == "moment"

    def _many_unnamed(self, rest: str) -> tuple[str, list[str]] | None:
        """ "how many training cones": the rows, or how many each of them is, where the words must be a cell."""
        if self._header.rows_are == "log" and re.match(r" *(?:error|warning|info|debug|critical)", rest, re.I):
            return self._with("count", rest)
        if {*stems(rest)} & THINGS:
            return None
        found = self._pieces()
        held = found[0] if len(found) == 1 else None
        if held is not None:
            where = self._rows(rest)
            return (f"sum of {self._header.names[held]}", where) if where else None
        dated = any(self._header.kind(i) == "moment" for i in range(len(self._header.names)))
        alone = not found and not re.search(r"[#|]|\bper\b", rest) and (self._header.key() is not None or not dated)
        return self._with(self._count(), rest) if alone and not self._may_count() else None

    def _may_count(self) -> bool:
        """Whether a column may say how many of something each row is: one of numbers that measure nothing."""
        names, own = self._header.names, {self._header.key(), self._header.numbering()}
        numbers = [i for i in range(len(names)) if self._header.kind(i) == "number" and i not in own]
        return any(not (_MEASURED & {*stems(names[i])} or names[i].endswith(")")) for i in numbers)

    def _many_others(self, noun: str, kind: str, after: str) -> tuple[str, list[str]] | None:
        if noun in ("hours", "minutes"):
            return self._long(noun, f"{kind} {after}")
        if noun == "nights" and self._header.rows_are not in ("booking", "stay", "reservation", "trip"):
            return None
        if noun != "people":
            return None if self._header.only_day() is None else self._with("distinct of day of *", f"{kind} {after}")
        present = re.match(r" (?:(?:have|had|has) )?#(?P<c>\d+)#", after)
        if present and self._header.kind(int(present["c"])) == "number":  # "how many people attended"
            name = self._header.names[int(present["c"])]
            return self._with(f"sum of {name}", f"{kind} {after[present.end() :]}")
        who, names = self._who(), self._header.names
        if any(
            self._header.kind(i) == "number" and (PEOPLE - {"paid"}) & {*stems(names[i])} for i in range(len(names))
        ):
            return None  # those who are named, or how many came
        return None if who is None else self._with(f"distinct of {self._header.names[who]}", f"{kind} {after}")

    def _long(self, unit: str, rest: str) -> tuple[str, list[str]] | None:
        """How long rows take, from the time at which they start to the one at which they end."""
        lasting = self._header.duration()
        if lasting is not None:
            return self._with(f"sum of {unit} of {self._header.names[lasting]}", rest)
        ends = [self._header.with_word(*names.split()) for names in ("start begin from", "end finish to until")]
        pause = self._header.with_word("break", "pause", "interruption")
        if None in ends or pause is not None or not all(self._header.is_clock(one) for one in ends if one is not None):
            return None
        start, end = (self._header.names[one] for one in ends if one is not None)
        return self._with(f"sum of {unit} from {start} to {end}", rest)

    def _many_of(self, column: int, kind: str, after: str) -> tuple[str, list[str]] | None:
        name, rest = self._header.names[column], f"{kind} {after}"
        if self._header.kind(column) in ("flag", "moment"):
            again, pieces = self._rows(f"{kind} #{column}# {after}"), self._pieces() if self._rows(kind) else []
            done = re.search(r"\bdid (?:I|we|[A-Z])", self._text)
            if done and kind.strip() and not pieces and self._rows(kind) and self._may_count():
                return None  # rows, or what is counted in them
            if not again or not any(name in one.partition('"')[0] for one in again) or len(pieces) > 1:
                return None
            return f"sum of {self._header.names[pieces[0]]}" if pieces else "count", again
        if self._header.kind(column) == "number":
            again = self._rows(f"{kind} #{column}# {after}")
            if again and any(one.startswith(f"{name} ") for one in again):
                return "count", again
            where = self._rows(rest)
            if where is None or any(one.startswith(f"{name} ") for one in where):
                return None
            return (self._how_many(column, True), where) if self._how_many(column, True).startswith("sum") else None
        if kind.strip() and column in self._partly:  # "how many M shirts"
            if re.search(r"\b(?:do|does) \w+ (?:have|own)\b", after):
                return None
            return self._with(self._count(), f"{kind} #{column}# {after}")
        if (
            self._header.label() == column
            and self._pieces()
            and re.search(r"\b(?:in stock|on hand|left)\b", self._text)
        ):
            return None  # kinds of them or pieces
        where = self._rows(rest)
        counted = self._how_many(column, True) if self._header.is_rows(column) else self._kinds_of(column)
        return None if where is None else ("count" if self._header.label() == column else counted, where)

    def _statistic_of(self, measure: str, rest: str) -> tuple[str, list[str]] | None:
        rest = re.sub(r"\b(?:number|value|amount) (?:of )?(?=(?:the )?#\d)", "", rest, flags=re.I)
        column = self._column_in(rest)
        said = re.search(rf"\b(?:{MONEY}|payments?|sales?)\b", rest, re.I) is not None
        if column is None and measure == "sum" and (said or re.match(r" *(?:for|of|in|$)|.*#R#", rest)):
            column = self._money(rest)
        if column is None and measure in ("maximum", "minimum") and (said or "#R#" in rest):
            column, rest = self._money(rest), re.sub(r"\b(?:payments?|sales?)\b", "", rest, flags=re.I)
        if column is None and measure == "mean" and not re.search(r"#\d+#", rest):
            column = self._only_number()
        if column is None or self._header.kind(column) not in ("number", ""):
            return None
        if measure == "sum" and not self._adds_up(column):
            return None
        rest = re.sub(rf"#{column}#", "", rest, count=1)
        measure = "value" if measure == "sum" and self._asks_price(self._text, column) else measure
        return self._with(f"{measure} of {self._header.names[column]}", self._without_money(rest))

    def _pieces(self) -> list[int]:
        """The columns that say how many of something each row is."""
        names = self._header.names
        numbers = [i for i in range(len(names)) if self._header.kind(i) == "number" and self._adds_up(i)]
        return [i for i in numbers if _PIECES & {*stems(names[i])} or words(names[i])[0] == "number"]

    def _adds_up(self, column: int) -> bool:
        """Whether the numbers of a column may be summed: prices of one piece, rates and balances may not."""
        name = words(self._header.names[column])
        return not (_PER_UNIT & set(name) and len(name) > 1)

    def _with(self, measure: str, rest: str) -> tuple[str, list[str]] | None:
        where = self._rows(rest)
        return None if where is None else (measure, where)

    # conditions

    def _rows(self, text: str) -> list[str] | None:
        """The conditions of what is left of a question; None where a word of it is not understood."""
        text = " ".join(re.sub(r"#R# (?=that|which|who|whose|with)", "| ", text).replace("#R#", " ").split())
        text, found = self._clauses.taken_from(f"{text} ")
        for domain in re.finditer(r"(?<!\S)@?([\w-]+\.[a-z]{2,}) #(\d+)#", text):
            if {"email", "mail"} & set(words(self._header.names[int(domain[2])])):
                found.append(f"{self._header.names[int(domain[2])]} contains {json.dumps('@' + domain[1])}")
                text = text.replace(domain[0], "|")
        if re.search(r"\b(?:start|begin|end)(?:s|ing)? with\b", text, re.I):
            return None
        for quoted in re.findall(r'"[^"]*"', text):
            found.append(f"* equals {quoted}")
            text = text.replace(quoted, "|")
        text = self._joined(self._beside(self._chosen(self._excepted(text, found), found), found))
        if text is None or _contradicts(found):
            return None
        said = ", ".join(run for part in re.split(r"[|,;]", text) for run in self._runs(part))
        bare = re.sub(r"\((\w+)\)", r"\1", re.sub(r"\"[^\"]*\"", "", said)).replace(",", "")
        bare = re.sub(rf"\b(?!(?:{MONTHS})\b)[A-Z][\w'-]* \d+\b", "", bare)  # "Room 3"
        if re.search(r"[#\"]|(?<![\w.-])[\d.]+(?![\w-])", bare) or _UNREAD.search(bare):
            unread = _UNREAD.search(text)
            self._left.append(text[unread.start() :].strip(" |,") if unread else said)
            return None
        if self._directed and re.search(r"\b(?:from|to)\b", bare):
            return None
        said = re.sub(r",? ?\b(?:from|to)\b(?! ?,)", ",", said).strip(" ,")
        return [*found, *([f"* says {json.dumps(said, ensure_ascii=False)}"] if said else [])]

    def _excepted(self, text: str, found: list[str]) -> str:
        """`text` without the cells that it rules out: "not in Oslo", "except the veterans"."""

        def told(match: re.Match[str]) -> str:
            value = match["v"].split()
            if {*map(str.lower, value)} & (VERBS - STATES) or _UNREAD.search(match["v"]):
                return match[0]
            found.append(f"* not_equals {json.dumps(' '.join(value), ensure_ascii=False)}")
            return "|"

        return re.sub(rf"\b(?:but )?(?:not|except(?: for)?|other than|excluding|apart from) {_LEADING}(?P<v>{_RUN})"
                      r"(?= *(?:[|,]|$))", told, text)  # fmt: skip

    def _chosen(self, text: str, found: list[str]) -> str:
        """`text` without two cells of one column, of which a row has either: "in Oslo or Bergen"."""

        def told(match: re.Match[str]) -> str:
            values = [json.dumps(match[name], ensure_ascii=False) for name in ("one", "other")]
            if any(_UNREAD.search(match[name]) or {*match[name].lower().split()} & VERBS for name in ("one", "other")):
                return match[0]
            found.append(" or ".join(f"* equals {one}" for one in values))
            return "|"

        return re.sub(rf"\b(?P<one>{_RUN}) or {_LEADING}(?P<other>{_RUN})", told, text)

    def _joined(self, text: str) -> str:
        """`text` without "and" and "but" between two conditions."""
        return re.sub(rf"(?<=\|) *(?:and|but) +{_LEADING} *(?=\|)", " ", text)

    def _runs(self, text: str) -> list[str]:
        """The words of a text that may be cells, those that stand together in one; a verb in brackets, unless it says
        in what state a row is."""
        runs, before, said = [""], "", re.findall(rf"{QUOTED}|[^\s]+", text)
        for at, word in enumerate(said):
            bare, after = word.lower().strip(".'"), " ".join(said[at + 1 : at + 2])
            if bare in FILLERS:
                runs += [""]
            else:
                free = self._is_own_verb(bare) or (self._is_verb(word) and not is_state(bare, before, after))
                free = free and word[0] != "("
                runs[-1] += f" ({word})" if free else f" {word}"
            before = f"{before} {bare}"
        return [run.strip() for run in runs if run]

    def _beside(self, text: str, found: list[str]) -> str:
        """`text` without its columns: each says yes, what was done, or of which column a word beside it is."""
        names = self._header.names

        def told(match: re.Match[str]) -> str:
            column, before, after = int(match["c"]), match["before"] or "", match["after"] or ""
            kind, negated = self._header.kind(column), before.lower().endswith("not ")
            if match["is"]:
                right, value = _parted(after.split())
                return f"{before} | {' '.join(right)}" if self._is(column, value, found) else match[0]
            if kind in ("flag", "moment") and re.match(r" by\b", after, re.I):
                return match[0]  # who did it may be another than whom the table names
            if kind == "flag" and re.search(r"\b(?:did|does|do|has|have) (?!I\b)[A-Z]", before):
                return match[0]  # "did Kim approve": as much
            if kind == "flag":
                found.append(f'{names[column]} {"no" if negated else "yes"} ""')
                return f"{before.removesuffix('not ')} | {after}"
            if negated:
                return match[0]
            if kind == "moment" and re.search(r"\bto (?:be )?$", before):
                return match[0]  # "a book to return"
            if kind == "moment":
                found.append(f'{names[column]} filled ""')
                return f"{before} | {after}"
            if column == self._header.label() or set(stems(names[column])) <= THINGS:
                return f"{before} {after}"
            if kind != "text":
                return match[0]
            left, value = _parted(before.split()[::-1])
            if not value:
                right, value = _parted(re.sub(r"^ the ", " ", after).split())
                if self._is(column, value, found):
                    return f"{before} | {' '.join(right)}"
                return f"{before} {after}" if column == 0 and not value else match[0]  # what the rows are about
            return f"{' '.join(left[::-1])} | {after}" if self._is(column, value[::-1], found) else match[0]

        run = r"(?:(?<![#\w])[\w'-]+ )*"
        return re.sub(rf"(?P<before>{run})#(?P<c>\d+)#(?P<is>=)?(?P<after>(?: [\w'.-]+(?![#\w]))*)", told, text)

    def _is(self, column: int, value: list[str], found: list[str]) -> bool:
        if not value or _UNREAD.search(" ".join(value)):
            return False
        found.append(f"{self._header.names[column]} equals {json.dumps(' '.join(value), ensure_ascii=False)}")
        return True

    @property
    def _directed(self) -> bool:
        """Whether columns say from where and to where."""
        said = [i for i in range(len(self._header.names)) if self._header.kind(i) != "flag"]
        return any({"from", "to", "origin", "destination"} & {*words(self._header.names[i])} for i in said)

    def _without_money(self, text: str) -> str:
        """`text` without words for money; "paid" may be a cell as well."""

        def told(match: re.Match[str]) -> str:
            return " (paid) " if match[0].lower().startswith("pa") else f" ({match[0]}) " if match[0] in VERBS else " "

        return re.sub(rf"(?<![\w#(])(?:{MONEY})(?![\w#)])", told, text, flags=re.I)

    def _grouped(self, match: re.Match[str], beside: str | None = None) -> str | None:
        if group := match.groupdict().get("g"):
            return self._header.names[int(group)]
        part = {"date": "day", "day of the week": "weekday"}.get(match["part"].lower(), match["part"].lower())
        marks = re.findall(r"#(\d+)#", match.string[match.end() :] if beside is None else beside)
        said = [int(one) for one in marks if self._header.kind(int(one)) == "moment"]
        if part == "time":
            clocks = [i for i in range(len(self._header.names)) if self._header.kind(i) == "moment"]
            clocks = [i for i in clocks if any(":" in row[i] for row in self._header.samples if i < len(row))]
            clocks = [i for i in clocks if i in said] if said else clocks
            return f"time of {self._header.names[clocks[0]]}" if len(clocks) == 1 else None
        moment = said[0] if len(said) == 1 else self._header.only_day()
        return f"{part} of {self._header.names[moment]}" if moment is not None else None

    def _groups(self, measure: str, group: str, where: list[str], rank: str = "") -> DemoCall:
        values = {"measure": measure, "group": group, "conditions": where}
        return self._made("top_groups", **values, rank=rank) if rank else self._made("groups", **values)


def _contradicts(conditions: list[str]) -> bool:
    """Whether a row would have to hold two values in one column."""
    equal = [one.partition(" equals ")[0] for one in conditions if " equals " in one and not one.startswith("* ")]
    return len({*equal}) < len(equal)


def _parted(words_beside: list[str]) -> tuple[list[str], list[str]]:
    """Words beside a column, without and with those next to it that may be one of its cells."""
    count = next((i for i, word in enumerate(words_beside) if word.lower() in FILLERS | VERBS), len(words_beside))
    return words_beside[count:], words_beside[:count]
