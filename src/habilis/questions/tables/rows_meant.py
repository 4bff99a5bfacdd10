"""Which rows a question is about: conditions in all that is left of it, and cells that only the tool can tell."""

from __future__ import annotations

import json
import re

from habilis.core.patterns import lazy_pattern
from habilis.questions.language import QUOTED, stems, words
from habilis.questions.nouns import UNIT
from habilis.questions.tables.columns_meant import ColumnsMeant
from habilis.questions.tables.doings import COUNTED, STATES, VERBS, is_state
from habilis.questions.tables.lexicon import FILLERS, MONEY, MONTHS, THINGS
from habilis.questions.tables.measures import FLOWS

_NOUN_NEXT = (["on"], ["for"], ["of"], ["about"], ["a"], ["an"])
_AT = {"in", "on", "at", "by", "from", "with"}
_LEADING = r"(?:(?:in|at|from|on|of|for|by|the|an?|any|are|is|were|was|have|has) )*"
_WORD = rf"(?!(?:{'|'.join(FILLERS)}|and|or|but|not)\b)[^\W\d_][\w'.&-]*"
_RUN = rf"{_WORD}(?: {_WORD})*"
_EXCEPTED = lazy_pattern(
    rf"\b(?:but )?(?:not|except(?: for)?|other than|excluding|apart from) {_LEADING}(?P<v>{_RUN})(?= *(?:[|,]|$))"
)
_CHOSEN = lazy_pattern(rf"\b(?P<one>{_RUN}) or {_LEADING}(?P<other>{_RUN})")
_WITHOUT_UNIT = lazy_pattern(rf"(?:^|(?<=, ))\d+ (?!(?:{UNIT})\b)(?=[a-z]{{2,}}[a-rt-z]\b)")
UNREAD = re.compile(
    r"\b(?:not|never|no|nor|neither|without|per|except|only|all|both|every|each|or|than|more|less|fewer|other|same|last|"
    r"first|next|if|why|how|before|after|until|since|between|twice|half|ago|will|would|should|could|might|under|over|"
    r"above|below|most|least|fewest|highest|lowest|best|worst|largest|biggest|smallest|longest|shortest|earliest|latest|"
    r"average|mean|median|maximum|minimum|total|sum|percent|percentage|share|many|much|often|today|yesterday|tomorrow|now|what|when|and|also|"
    r"columns?|rows?|lines?|words?|years?|months?|weeks?|weekdays?|days?|hours?|non|one|two|three|four|five|six|seven|"
    r"eight|nine|ten|zero|versus|vs|compared|difference|again|deviation|variance|correlation|percentile|quartile|ratio|"
    r"growth|increase|decrease|change|changed|trend)\b|"
    r"(?<!\b[A-Z])(?<!\bDr)(?<!\bM[rs])(?<!\bMrs)(?<!\bSt)\. |[?!:;`()] |`|(?<![A-Z])&|&(?![A-Z])",
    re.I,
)
"""Words that change what is asked: where one is left, nothing is understood."""


FREE = re.compile(r'\* says "(?:\(\w+\)[, ]*)+"')
"""A condition that holds where none of its words is a cell."""
_SIZED = (
    r"(?:(?:^|(?<=[ |,]))(?:of |in |for |at |from )?(?:the |an? )?|\bin the )(?P<n>\d+(?:\.\d+)?)[ -]?"
    r"(?P<unit>km|kilometres?|m|metres?|meters?|kg|kilos?|g|grams?|l|lit(?:re|er)s?|cm|inch(?:es)?|miles?)"
    r"(?=$|[ ,|])(?! (?:or|and|to|less|more|than|long|high|away|from|before|after)\b)"
)
_IN_NAMES = "One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|First|Last"
_STATUS = {"status", "state", "stage", "progress"}


class RowsMeant(ColumnsMeant):
    """The conditions that a question puts on rows."""

    def _rows(self, text: str) -> list[str] | None:
        """The conditions of what is left of a question; None where a word of it is not understood."""
        found: list[str] = []
        text = self._numbered(text, found)
        text = " ".join(
            re.sub(r"#R# (?=(?:that|which|who|whose|with|[a-z]+(?:ed|ld|en|ing))\b)", "| ", text)
            .replace("#R#", " ")
            .split()
        )
        text, taken = self._clauses.taken_from(re.sub(r"\b(from|to) the (?=[A-Z])", r"\1 ", f"{text} "))
        found += taken
        for domain in re.finditer(r"(?<!\S)@?([\w-]+\.[a-z]{2,}) #(\d+)#", text):
            if {"email", "mail"} & set(words(self._header.names[int(domain[2])])):
                found.append(f"{self._header.names[int(domain[2])]} contains {json.dumps('@' + domain[1])}")
                text = text.replace(domain[0], "|")
        if re.search(r"\b(?:start|begin|end)(?:s|ing)? with\b", text, re.I):
            return None
        text = self._measured_so(text, found)
        for quoted in re.findall(r'"[^"]*"', text):
            found.append(f"* equals {quoted}")
            text = text.replace(quoted, "|")
        text = self._beside(self._chosen(self._excepted(text, found), found), found)
        text = self._joined(re.sub(r"\([\s|,]*\)", "|", text))  # a condition in brackets
        if _contradicts(found):
            return None
        said = ", ".join(run for part in re.split(r"[|,;]", text) for run in self._runs(part))
        bare = re.sub(r"\((\w+)\)", r"\1", re.sub(r"\"[^\"]*\"", "", said))
        bare = re.sub(rf"\b(?!(?:{MONTHS})\b)[A-Z][\w'-]* (?:\d+|{_IN_NAMES})\b", "", bare)  # "Room 3", "Orbit Nine"
        bare = _WITHOUT_UNIT.sub("", bare) if re.search(r"\d", bare) else bare  # "50 fly"
        boxes = {cell.split()[0] for row in self._header.samples for cell in row if re.fullmatch(r"[a-z]+ \d+", cell)}
        bare = re.sub(rf"\b(?:{'|'.join(boxes)}) \d+\b", "", bare) if boxes else bare  # "box 3", as a cell has it
        bare = bare.replace(",", "")
        bare = re.sub(r"\b([A-Z][\w'-]*) (?:and|&) (?=[A-Z])", r"\1 ", bare)  # "Salt and Sugar" is a cell, or nothing
        if re.search(r"[#\"]|(?<![\w.-])[\d.]+(?![\w-])", bare) or UNREAD.search(bare):
            unread = UNREAD.search(text)
            self._left.append(text[unread.start() :].strip(" |,") if unread else said)
            return None
        if self._directed and re.search(r"\b(?:from|to)\b", bare):
            return None
        said = re.sub(r",? ?\b(?:from|to)\b(?! ?,)", ",", said).strip(" ,")
        return [*found, *([f"* says {json.dumps(said, ensure_ascii=False)}"] if said else [])]

    def _measured_so(self, text: str, found: list[str]) -> str:
        """`text` without what tells a row by a measure of it: "the 50 m freestyle", "the 10 km", "the 100 free"."""

        def told(match: re.Match[str]) -> str:
            column = self._header.of_unit(match["unit"]) if match["unit"] else None
            number = column is not None and self._header.kind(column) == "number"
            if number and column is not None:
                found.append(f'{self._header.names[column]} equals "{match["n"]}"')
            elif match["unit"]:
                found.append(f'* equals "{match["n"]} {match["unit"]}"')
            else:
                return match[0]
            return "| "

        return re.sub(_SIZED, told, text, flags=re.I)

    def _numbered(self, text: str, found: list[str]) -> str:
        """`text` without the number of a row: "order 1007", where no year can be meant."""
        column = self._header.numbering()
        dated = any(self._header.kind(i) == "moment" for i in range(len(self._header.names)))
        match = re.search(
            rf"#(?:R|{column})# (?:(?:number|no\.?|nr\.?|id) )?(?P<n>[A-Z]{{0,3}}-?\d+)(?![\w.,:%/-]*\d)", text
        )
        if match is None or column is None or (dated and re.fullmatch(r"(?:19|20)\d\d", match["n"])):
            return text
        found.append(f"{self._header.names[column]} equals {json.dumps(match['n'])}")
        return f"{text[: match.start()]} | {text[match.end() :]}"

    def _excepted(self, text: str, found: list[str]) -> str:
        """`text` without the cells that it rules out: "not in Oslo", "except the veterans"."""

        def told(match: re.Match[str]) -> str:
            value = match["v"].split()
            if {*map(str.lower, value)} & (VERBS - STATES) or UNREAD.search(match["v"]):
                return match[0]
            found.append(f"* not_equals {json.dumps(' '.join(value), ensure_ascii=False)}")
            return "|"

        may = re.search(r"\b(?:not|except|other than|excluding|apart from) ", text)
        return _EXCEPTED.sub(told, text) if may else text

    def _chosen(self, text: str, found: list[str]) -> str:
        """`text` without two cells of one column, of which a row has either: "in Oslo or Bergen"."""

        def told(match: re.Match[str]) -> str:
            values = [json.dumps(match[name], ensure_ascii=False) for name in ("one", "other")]
            if any(UNREAD.search(match[name]) or {*match[name].lower().split()} & VERBS for name in ("one", "other")):
                return match[0]
            found.append(" or ".join(f"* equals {one}" for one in values))
            return "|"

        return _CHOSEN.sub(told, text) if " or " in text else text

    def _joined(self, text: str) -> str:
        """`text` without "and" and "but" between two conditions."""
        return re.sub(rf"(?<=\|) *(?:and|but) +{_LEADING} *(?=\|)", " ", text)

    @property
    def _of_file(self) -> set[str]:
        """Words of the file's name: honey in honey_harvest.tsv, unless one is a cell."""
        named = words(self._file.named.rsplit("/")[-1].rpartition(".")[0])
        return {one for word in named if len(word) > 3 and word.isalpha() for one in (word, *stems(word))}

    def _runs(self, text: str) -> list[str]:
        """The words of a text that may be cells, those that stand together in one; a verb in brackets, unless it says
        in what state a row is."""
        runs, before, said = [""], "", re.findall(rf"{QUOTED}|[^\s]+", text)
        for at, word in enumerate(said):
            bare, after = word.lower().strip(".'"), " ".join(said[at + 1 : at + 2])
            if bare in FILLERS and not may_be_name(word):
                runs += [""]
            else:
                free = self._is_own_verb(bare) or (self._may_be_dropped(bare) and not is_state(bare, before, after))
                noun = before.split()[-1:] in _NOUN_NEXT and not (bare.endswith("ed") and after.lower() in _AT)
                free = free and word[0] != "(" and not word[0].isupper() and not noun
                of_file = (
                    word[0] != "("
                    and bool({bare, *stems(bare)} & self._of_file)
                    and not (word[0].isupper() and at and said[at - 1][0].isupper())
                )
                free = free or self._is_counted(bare, said, at)
                runs[-1] += f" ({word})" if free or of_file else f" {word}"
            before = f"{before} {bare}"
        return [run.strip() for run in runs if run]

    def _is_counted(self, word: str, said: list[str], at: int) -> bool:
        """Whether a word is what rows are called after a name: the jobs of "how many Print design jobs are there"."""
        if word not in COUNTED or not any(one[:1].isupper() for one in said[:at]):
            return False
        behind = rf"{word}(?= (?:are|is|were|was|do|did|have|has|in|on|at)\b|$)"
        counts = re.match(r"[Hh]ow many (?:of )?(?:the |our |my )?[A-Z]", self._text)
        return counts is not None and re.search(behind, self._text, re.I) is not None

    def _beside(self, text: str, found: list[str]) -> str:
        """`text` without its columns: each says yes, what was done, or of which column a word beside it is."""
        names = self._header.names

        def told(match: re.Match[str]) -> str:
            column, before, after = int(match["c"]), match["before"] or "", match["after"] or ""
            kind, negated = self._header.kind(column), before.lower().endswith("not ")
            if match["is"]:
                right, value = _parted(after.split())
                return f"{before} | {' '.join(right)}" if self._is(column, value, found) else match[0]
            way = self._header.with_word("method", "mode", "via", "channel", "means")
            if kind in ("flag", "moment") and re.match(r" by\b" if way is None else r" by [A-Z]", after):
                return match[0]  # who did it may be another than whom the table names
            if kind == "flag" and re.search(r"\b(?:for|on) (?:the )?$", before) and re.search(FLOWS, self._text, re.I):
                return match[0]  # what was paid for it alone is not known
            if kind == "flag" and re.search(r"\b(?:did|does|do|has|have) (?!I\b)[A-Z]", before):
                return match[0]  # "did Kim approve": as much
            if kind == "flag":
                if f'{names[column]} no ""' in found and not negated:
                    return f"{before} {after}"  # "have not paid their fee": said twice
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
            if before and {*stems(names[column])} <= {"day", "date", "night"}:
                return f"{before} {after}"  # "sunny days"
            stated = re.match(r" (?:is |= ?|of )?(?P<v>[a-z]+)\b", after)
            if _STATUS & {*words(names[column])} and stated and stated["v"] in STATES | VERBS:
                self._is(column, [stated["v"]], found)
                return f"{before} | {after[stated.end() :]}"
            left, value = _parted(before.split()[::-1])
            if not value:
                right, value = _parted(re.sub(r"^ the ", " ", after).split())
                if self._is(column, value, found):
                    return f"{before} | {' '.join(right)}"
                return f"{before} {after}" if column == 0 and not value else match[0]  # what the rows are about
            own = {*stems(names[column])} <= self._of_file  # "a large cake": by its size, or its kind
            is_so = self._is(None if own else column, value[::-1], found)
            return f"{' '.join(left[::-1])} | {after}" if is_so else match[0]

        run, after = r"(?:(?<![#\w])[\w'-]+ )*", r"(?P<after>(?: [\w'.-]+(?![#\w]))*)"
        # What follows what was done may be a cell of the next column: "loaned at the Central branch".
        done = self._marks("flag", "moment")
        text = re.sub(rf"(?P<before>{run})#(?P<c>{done})#(?P<is>(?!))?{after}(?= #\d)", told, text)
        return re.sub(rf"(?P<before>{run})#(?P<c>\d+)#(?P<is>=)?{after}", told, text)

    def _is(self, column: int | None, value: list[str], found: list[str]) -> bool:
        """Whether words may be a cell of a column, or of the one that has it."""
        if not value or UNREAD.search(" ".join(value)):
            return False
        name = "*" if column is None else self._header.names[column]
        found.append(f"{name} equals {json.dumps(' '.join(value), ensure_ascii=False)}")
        return True

    @property
    def _directed(self) -> bool:
        """Whether columns say from where and to where."""
        said = [i for i in range(len(self._header.names)) if self._header.kind(i) != "flag"]
        return any({"from", "to", "origin", "destination"} & {*words(self._header.names[i])} for i in said)

    def _without_money(self, text: str) -> str:
        """`text` without words for money; "paid" may be a cell as well."""

        def told(match: re.Match[str]) -> str:
            column = re.search(r"#(\d+)# (?:is |= ?)?$", match.string[: match.start()])
            if column and _STATUS & {*words(self._header.names[int(column[1])])}:
                return match[0]  # "with status paid"
            if match[0].lower().startswith("pa"):
                return " (paid) "
            may_be_cell = match[0] in VERBS or match[0].lower() == "cash" or self._header.is_cell(match[0])
            return f" ({match[0]}) " if may_be_cell and " " not in match[0] else " "

        return re.sub(rf"(?<![\w#(])(?:{MONEY})(?![\w#)])", told, text, flags=re.I)


def _contradicts(conditions: list[str]) -> bool:
    """Whether a row would have to hold two values in one column, or say yes and no there."""
    equal = [one.partition(" equals ")[0] for one in conditions if " equals " in one and not one.startswith("* ")]
    flags = [{one.removesuffix(end) for one in conditions if one.endswith(end)} for end in (' yes ""', ' no ""')]
    return len({*equal}) < len(equal) or bool(flags[0] & flags[1])


def may_be_name(word: str) -> bool:
    """Whether a word that says nothing more is written as a name: route A, orders for IT."""
    return word.isupper() and word != "I"


def _parted(words_beside: list[str]) -> tuple[list[str], list[str]]:
    """Words beside a column, without and with those next to it that may be one of its cells."""
    ends = FILLERS | VERBS | {"and", "but", "from", "to"}
    count = next(
        (i for i, one in enumerate(words_beside) if one.lower() in ends and not may_be_name(one)), len(words_beside)
    )
    return words_beside[count:], words_beside[:count]
