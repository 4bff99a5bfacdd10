"""Questions for one row that is named, or two: "is Ada older than 30", "does A cost more than B", "who is older, Ada or
Ben". Each word must be of the row's name, of a condition or of the column that is compared."""

from __future__ import annotations

import json
import re

from habilis.demo.families.rows_asked import RowsAsked
from habilis.questions.tables.clauses import ADJECTIVES
from habilis.questions.world import DemoCall

AUX = r"(?:is|are|was|were|does|do|did|has|have|had)"
_SO = re.compile(rf"{AUX} (?!(?:there|you|I|we|they|he|she|it|this|that|these|those|all|any|an?)\b)(?P<rest>.+)", re.I)
_ASKS_SO = re.compile(rf"(?:{AUX}|would|will|can|could|should) (?!there\b|any\b|all\b|every)", re.I)
_OPEN = re.compile(
    r"\b(?:not|never|no|none|and|or|only|all|every|each|always|ever|both|either|neither|same|other|another|still|yet|"
    r"already|about|around|roughly|nearly|almost|allowed|able|enough|too|as|like|why|how|what|which|who|when|where)\b|n't\b",
    re.I,
)
"""Words that change what is asked about one row, or leave it open."""
_SAYS = re.compile(r'\* (?:says|equals) "[^"]+"')
_MORE = (
    "more expensive|dearer|costlier|more|higher|larger|bigger|greater|longer|older|heavier|warmer|hotter|taller|faster|"
    "later|after"
)
_LESS = (
    "less expensive|cheaper|less|fewer|lower|smaller|shorter|younger|lighter|colder|cooler|slower|earlier|first|before"
)
_HOW = rf"(?P<how>{_MORE}|{_LESS})"
_IS_MORE = re.compile(rf"{AUX} (?P<one>(?:(?! than ).)+?) (?P<verb>(?:(?-i:[a-z]+)|#\d+#) (?:an? |the )?)??{_HOW}"
                      r"(?P<what> (?:(?! than ).)+?)?(?: than|(?<= before)|(?<= after)) (?P<other>.+)",
                      re.I)  # fmt: skip
_WHICH_MORE = re.compile(
    rf"(?:who|which(?: of (?:the|these) two)?(?: (?P<noun>#R#|#\d+#))?|what) "
    rf"(?P<verb>(?:(?:(?-i:[a-z]+)|#\d+#) ){{1,3}})"
    rf"{_HOW}(?P<what> [^,:]+?)?[,:]? (?:between )?(?P<one>(?:(?! or ).)+) or (?P<other>(?:(?! or ).)+)",
    re.I,
)
_OF = re.compile(r"^(?:the )?(#\d+#) (?:of|for) (?:the )?(.+?) "
                 r"(?=(?:over|above|under|below|at|more|less|higher|lower|fewer)\b)")  # fmt: skip
_LIVES = re.compile(r"\((?:lives?|living|belongs?|comes?)\)|, \((?:out|up|back|off)\)")
"""Verbs that say no more than "is in", and what a verb such as "lent out" may have behind it."""
_TOWARDS = re.compile(
    r"(?<!belong )(?<!belongs )\bto\b|\b(?:for|with|about|near|against|via|through|into|after|since|until|beside)\b",
    re.I,
)
"""Words that say of a cell more than that it is the row's."""
_EMPTY = set("is was are were has had have does did got the a an of in it its".split())  # noqa: SIM905
_OF_SEVERAL = re.compile(r"\b(?:not|never|and|average|mean|total|all|every|each|last|next)\b|\d{4}-", re.I)
_EITHER = re.compile(r'(.+?) equals ("[^"]*") or (.+?) equals ("[^"]*")')
_BORN = ("born", "birth", "birthday", "birthdate", "dob")
_OF_TIME = ("later", "after", "earlier", "first", "before")
_DEAR = {"more expensive": "expensive", "dearer": "expensive", "costlier": "expensive", "less expensive": "cheap"}


class RowsCompared(RowsAsked):
    """One row held against conditions, or against another."""

    def _is_so(self, phrase: str) -> DemoCall | None:
        """ "does Ada have a rating above 4": Yes or No, where the row is there once."""
        match = _SO.fullmatch(phrase)
        if match is None or _OPEN.search(phrase) or re.search(r"\bthan (?!\d|[$€£]|\w+ (?:euro|hour|minute))", phrase):
            return None
        where = self._rows(_OF.sub(r"\2 \1 ", self._prepared(match["rest"])))
        named = [one for one in where or () if self._names_row(one)]
        if where is None or len(named) != 1:
            return None
        tests = [one for one in where if one is not named[0]]
        if not self._is_one_test(tests, _LIVES.sub("", named[0]), phrase):
            return None
        return self._made("is_so", named=named[0], conditions=tests)

    def _has_flag(self, text: str) -> DemoCall | None:
        """ "would I recommend Hamnet": what a column of yes and no says of one row."""
        flags = [one for one in re.findall(r"#(\d+)#", text) if self._header.kind(int(one)) == "flag"]
        open_so = _TOWARDS.search(text) or re.search(r"\bnot\b|\bor\b", text)
        if len(flags) != 1 or not _ASKS_SO.match(self._text) or open_so:
            return None
        where = self._rows(re.sub(rf"#{flags[0]}#", " ", text))
        if where is None or len(where) != 1 or not self._names_row(where[0]) or "(" in where[0]:
            return None
        return self._made("is_so", named=where[0], conditions=[f'{self._header.names[int(flags[0])]} yes ""'])

    def _is_one_test(self, tests: list[str], named: str, phrase: str) -> bool:
        """Whether one thing is asked of the row: with two, one may be said of the other ("earned 300 in May")."""
        if tests:
            columns = {re.split(r" (?=\w+ \")", one)[0] for one in tests}
            return len(columns) == 1 and "," not in named and not any("*" in one for one in columns)
        return named.count(",") == 1 and "(" not in named and not _TOWARDS.search(phrase)

    def _names_row(self, condition: str) -> bool:
        label = self._label()
        return bool(_SAYS.fullmatch(condition)) or (label is not None and condition.startswith(f"{label} equals "))

    def _is_more(self, text: str) -> DemoCall | None:
        """ "did flat 2 use more water than flat 3": Yes or No."""
        return self._two("first_of_two", _IS_MORE.fullmatch(text))

    def _of_two(self, call: DemoCall) -> DemoCall:
        """`call`, where it ranks two rows by name: then both must be there, each with a value."""
        rank = re.fullmatch(r"(highest|lowest) 1(?: row)? by (.+)", str(call.values.get("order", "")))
        where = call.values.get("conditions") or [""]
        pair = _EITHER.fullmatch(where[0]) if len(where) == 1 else None
        if rank is None or pair is None or call.values.get("column") != self._label() or pair[1] != pair[3]:
            return call
        named = {"first": f"{pair[1]} equals {pair[2]}", "second": f"{pair[3]} equals {pair[4]}"}
        return self._made("one_of_two", order=f"{rank[1]} by {rank[2]}", **named, conditions=[])

    def _which_more(self, text: str) -> DemoCall | None:
        """ "who is older, Ada or Ben"."""
        return self._two("one_of_two", _WHICH_MORE.fullmatch(text))

    def _who_more(self, text: str) -> DemoCall | None:
        """ "who paid more, A or B"."""
        match = re.fullmatch(
            r"(?:who|which #(?P<g>\d+)#) (?P<verb>\w+) (?P<more>more|less|fewer)(?P<rest>.*?),? (?P<one>\w+)"
            r" or (?P<other>\w+)",
            text,
            re.I,
        )
        if match is None:
            return None
        column = int(match["g"]) if match["g"] else self._who()
        money = re.fullmatch(r"(?:paid|spent|pay|sold|earned|made)", match["verb"], re.I)
        value = self._column_in(match["rest"]) if "#" in match["rest"] else self._money() if money else None
        rest = self._rows(re.sub(r"#\d+#", "", match["rest"]))
        if column is None or value is None or rest is None:
            return None
        name = self._header.names[column]
        either = " or ".join(f"{name} equals {json.dumps(match[one])}" for one in ("one", "other"))
        way = "highest" if match["more"].lower() == "more" else "lowest"
        return self._groups(f"sum of {self._header.names[value]}", name, [either, *rest], f"{way} 1")

    def _two(self, tool: str, match: re.Match[str] | None) -> DemoCall | None:
        if match is None or _OF_SEVERAL.search(match[0]):
            return None
        how, what = match["how"].lower(), match["what"] or ""
        column, low = self._compared_by(how, f"{match['verb'] or ''} {what}")
        rest = f"{match['verb'] or ''} {what}".replace(f"#{column}#", " ")
        sides = [self._rows(match[name].replace(f"#{column}#", " ")) for name in ("one", "other")]
        if column is None or {*rest.lower().split()} - _EMPTY or any(not self._is_one(side) for side in sides):
            return None
        name = self._header.names[column]
        pair = {role: side[0] for role, side in zip(("first", "second"), sides, strict=True) if side}
        return self._made(tool, order=f"{'lowest' if low else 'highest'} by {name}", **pair, conditions=[])

    def _is_one(self, where: list[str] | None) -> bool:
        """Whether conditions are nothing but the name of a row."""
        return where is not None and len(where) == 1 and self._names_row(where[0]) and not re.search(r"[(,]", where[0])

    def _compared_by(self, how: str, said: str) -> tuple[int | None, bool]:
        """The column that two rows are compared in, and whether the lower value is meant."""
        low = re.fullmatch(_LESS, how) is not None
        named = {int(one) for one in re.findall(r"#(\d+)#", said)}
        kinds = ("moment",) if how in _OF_TIME else ("number",)
        if named:
            column = named.pop() if len(named) == 1 else None
            return (column if column is not None and self._header.kind(column) in kinds else None), low
        means = next((names for word, (names, _) in ADJECTIVES.items() if _DEAR.get(how, how).startswith(word[:4])), "")
        column = self._header.with_word(*means.split()) if means else None
        if column is None and how in ("older", "younger"):
            born = self._header.with_word(*_BORN)
            dated = born is not None and self._header.kind(born) == "moment"
            return (born if dated else None), how == "older"
        return (column if column is not None and self._header.kind(column) == "number" else None), low
