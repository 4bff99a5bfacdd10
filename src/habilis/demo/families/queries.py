"""Queries of a table: conditions, a measure, groups and a rank in one question, in the words of its own columns.

A question becomes one form: conditions on rows, a measure of them, a column that groups them, a rank. Four tools carry
any such form, so that a later question with other conditions finds the tool of an earlier one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from habilis.demo.families.arithmetic import EXPRESSION
from habilis.demo.families.asked import counted
from habilis.demo.families.clauses import ADJECTIVES
from habilis.demo.families.conditions import nameless
from habilis.demo.families.measures import COLUMN, MEASURES, Measures
from habilis.demo.questions.declared import operations_of, read_family
from habilis.demo.questions.header import header_of
from habilis.demo.questions.language import number, words
from habilis.demo.questions.world import CannotAnswerError, DemoCall, FilledOperation, World, is_table, without_file

_NUMBERED = r"(?P<n>[0-9]{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)"
_PLACES = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5}
_PLACE = rf"(?P<place>{'|'.join(_PLACES)})"
_HIGH = "highest|largest|biggest|greatest|maximum|longest|most|latest|newest|most recent|most recently|top"
_LOW = "lowest|smallest|minimum|least|fewest|shortest|earliest|bottom"
_MUCH = "highest|largest|biggest|greatest|maximum|most|lowest|smallest|minimum|least|fewest"
_COMPARED = {
    "oldest": ("old", 1), "youngest": ("old", -1), "cheapest": ("cheap", 1), "least expensive": ("cheap", 1),
    "most expensive": ("expensive", 1), "heaviest": ("heavy", 1), "lightest": ("light", 1), "tallest": ("tall", 1),
    "fastest": ("fast", 1), "warmest": ("warm", 1), "hottest": ("hot", 1), "coldest": ("cold", 1),
    "longest": ("long", 1), "shortest": ("short", 1),
}  # fmt: skip
_ENDS_OF = "|".join(sorted(["best", *_COMPARED, *_HIGH.split("|"), *_LOW.split("|")], key=len, reverse=True))
_EXTREME, _IN_TIME = rf"(?P<extreme>{_ENDS_OF})", rf"(?P<extreme>{_ENDS_OF}|first|last)"
_PART = r"(?P<part>month|year|weekday|day of the week|day|hour|quarter)"
_GROUP = (
    r"(?<![\w#])(?:per|by|for each|for every|in each|in every|at each|of each|from each|grouped by"
    rf"|broken down by|across) (?:the )?(?:#(?P<g>\d+)#|{_PART})(?= |,|$)"
)
_WHICH = rf"(?:(?:on|in|at|from|for) )?(?:which|what) (?:{_NUMBERED} )?(?:#(?P<g>\d+)#|{_PART}|#R#)|who|whose name"
_HAS = re.compile(
    r"^(?:has|had|have|with|shows?|showed|saw|wrote|placed|made|got|pays|is|are|was|were|do|does|did)\b ?(?:the\b ?)?"
)
_PADDING = (
    r"(?:,? (?:in total|combined|together|in all|altogether|overall|in the (?:whole )?(?:table|data|list|file)"
    r"|(?:are|were|is) there|do we have|does it have|exist|appear|occur|are listed))"
)
_PLACED = " (?:of|for|in|at|on|from|by|with|where|whose|that|which|who|when|having)\\b"
_OPENS = re.compile(rf" ?(?:how|what|which|who|why|when|the|if|{'|'.join(MEASURES.values())})\b|.{{0,3}}$", re.I)
_ENDS = re.compile(rf"(?:{_PADDING}+| (?:are|is|were|was))$", re.I)
_STARTS = re.compile(rf"(how many (?:[^#]+ )?#\w+#){_PADDING}", re.I)


class Queries:
    """Family of questions about one table with conditions, groups or a rank. The prompt must show its header."""

    def __init__(self) -> None:
        file = read_family("queries")
        self.endings: tuple[str, ...] = tuple(file["family"]["endings"])
        self.operations = operations_of(file)

    def read(self, phrase: str, world: World) -> DemoCall | None:
        try:
            taken = world.take_file(phrase, self.endings)
        except CannotAnswerError:
            return None  # what else is wrong with it is for the other families
        if taken is None or not is_table(taken[1]):
            return None
        file = taken[1]
        header = header_of(file)
        if header is None:
            return None
        if file.nameless:
            raise nameless(file)
        return _Reading(self.operations, file, header).call(without_file(phrase))


class _Reading(Measures):
    """One question about one table."""

    def call(self, phrase: str) -> DemoCall | None:
        """Raises `CannotAnswerError` with the words that are not understood, where the rest is."""
        self._text = phrase
        self._generic = re.search(r"\b(?:rows?|records?|entry|entries|observations?)\b", phrase, re.I) is not None
        text = self._verbs(
            re.sub(r"^(?:sum|add)(?: up)? (?:the )?", "sum of ", self._header.marked(phrase), flags=re.I)
        )
        text = re.sub(r"^sum of of ", "sum of ", re.sub(r"\bnon-(?=#)", "not ", text))
        text = re.sub(
            r"\b(?:did|does|do) ([^#]+) (?:place|make|write|have|work in|work|live in|live|take)$",
            r"by \1",
            text,
            flags=re.I,
        )
        text = re.sub(r"^(?:who|what|which) (?:is|are|was|were) the ", "", text, flags=re.I)
        text = _STARTS.sub(r"\1", _ENDS.sub("", counted(text)))
        if re.match(r"who(?:se name)?\b", text, re.I) and not self._header.labels_people:
            return None
        for way in (self._share, self._spread, self._of_groups, self._numbered, self._ranked, self._listed):
            if call := way(text):
                return call
        if self._left and "#" in text:
            left = min((text for text in self._left if not _OPENS.match(text)), key=len, default="all words")
            raise CannotAnswerError(
                f'it does not understand "{self._plain(left)}" in a question about {self._file.named}'
            )
        return None

    # kinds of questions

    def _share(self, text: str) -> DemoCall | None:
        """ "what percentage of orders in Oslo were returned": the measure with all conditions in 100 without."""
        match = re.fullmatch(
            r"(?:what )?(?P<word>percentage|percent|share|proportion|fraction)(?: of)?(?: all)?(?: of)?(?: the)? "
            r"(?P<what>.+?)"
            r"(?P<hundred>,? (?:in|as a) (?:percent|percentage|%))?",
            text,
            re.I,
        )
        if match is None:
            return None
        factor = 100 if match["hundred"] or match["word"].lower() in ("percentage", "percent", "share") else 1
        what = re.sub(r"^total (?=#)", "", match["what"])
        verbs = [*re.finditer(r" (?=(?:is|are|was|were|has|have|had|do|does|did|comes?|came|belongs?|#\d+#) )", what)]
        cuts = [(what[: verb.start()], what[verb.end() :]) for verb in verbs]
        alone = re.fullmatch(r"(?P<kind>.*?)(?P<noun>#\w+#)(?P<rest>.*)", what)
        for base, narrow in [
            *cuts,
            *([(alone["noun"], f"{alone['kind']} {alone['rest']}")] if alone and not cuts else []),
        ]:
            whole = self._measure(f"how many {base}")
            more = self._where(narrow)
            if whole and more:
                part = self._number(whole[0], [*whole[1], *more])
                return DemoCall(
                    EXPRESSION,
                    {"expression": FilledOperation(f"{{0}} * {factor} / {{1}}", (part, self._number(*whole)))},
                )
        return None

    def _spread(self, text: str) -> DemoCall | None:
        """What two columns, or two ends of one, have between them."""
        high, low = MEASURES["maximum"], MEASURES["minimum"]
        match = re.fullmatch(
            rf"(?:difference|gap|spread) between (?:the )?"
            rf"(?:(?:{high}) and (?:the )?(?:{low})|(?:{low}) and (?:the )?(?:{high}))"
            rf" {COLUMN}(?P<rest>.*)",
            text,
            re.I,
        )
        what = "range"
        if match is None:
            what = "days"
            match = re.fullmatch(
                r"how many days (?:are |lie |were |passed )?(?:there )?between (?:the )?(?:first|earliest) and "
                rf"(?:the )?(?:last|latest) (?:#R#|{COLUMN})(?P<rest>.*)",
                text,
                re.I,
            )
        if match and (where := self._where(match["rest"])) is not None:
            column = int(match["column"]) if match["column"] else self._header.only_moment()
            return None if column is None else self._number(f"{what} of {self._header.names[column]}", where)
        match = re.fullmatch(
            r"correlation (?:coefficient )?(?:between|of) (?:the )?#(\d+)# (?:and|with) (?:the )?#(\d+)#(.*)",
            text,
            re.I,
        )
        if match and (where := self._where(match[3])) is not None:
            one, other = (self._header.names[int(match[i])] for i in (1, 2))
            return self._number(f"correlation of {one} with {other}", where)
        return None

    def _of_groups(self, text: str) -> DemoCall | None:
        """A measure for each group, or the groups where it is highest or lowest."""
        match = re.fullmatch(
            rf"(?:top|bottom|(?P<best>{_HIGH}|{_LOW})) (?:{_NUMBERED} )?#(?P<g>\d+)# by (?:the )?(?P<measure>.+)",
            text,
            re.I,
        )
        if match and (found := self._measure(match["measure"])):
            low = re.match(rf"bottom|{_LOW}", text, re.I)
            return self._top(self._header.names[int(match["g"])], found, "lowest" if low else "highest", match["n"])
        if which := self._which_group(text):
            return which
        groups = [*re.finditer(_GROUP, text, re.I)]
        each = re.sub(r"\b(?:do|does|did) each #(\d+)# have$", r"per #\1#", text)
        groups = groups or [*re.finditer(_GROUP, each, re.I)]
        text = each if groups else text
        if len(groups) != 1:
            return None
        group = self._group(groups[0])
        rest = f"{text[: groups[0].start()].rstrip(' ,')} {text[groups[0].end() :].strip(' ,')}".strip()
        rest = _ENDS.sub("", rest)
        rest = re.sub(r"^(?:what is|what's|what was|the) ", "", re.sub(r"^(?:what is|what's|what was) ", "", rest))
        if group and (found := self._measure(rest)):
            return self._made("groups", measure=found[0], group=group, conditions=found[1])
        return None

    def _which_group(self, text: str) -> DemoCall | None:
        match = re.fullmatch(rf"(?:{_WHICH})(?P<mid> .+?) (?:the )?{_EXTREME}(?P<tail> .+)", text, re.I)
        if match is None:
            having = re.fullmatch(
                rf"(?P<which>which|how many) #(?P<g>\d+)# (?:has|have|had) "
                rf"(?P<how>more than|at least|fewer than|less than) {_NUMBERED} #R#(?P<rest>.*)",
                text,
                re.I,
            )
            where = self._where(having["rest"]) if having else None
            if having is None or where is None:
                return None
            how = {"more than": "greater", "at least": "at_least"}.get(having["how"].lower(), "less")
            name = self._header.names[int(having["g"])]
            rank = f"{how} {number(having['n'])}"
            groups = self._made("top_groups", measure=self._count(), group=name, conditions=where, rank=rank)
            return groups if having["which"].lower() == "which" else replace(groups, view="length")
        group, mid = self._group(match), _HAS.sub("", match["mid"].strip())
        tail = match["tail"].strip()
        extreme, named = match["extreme"].lower(), re.match(r"(?:total )?number of (?=.*#R#)", tail, re.I)
        measure = f"how many {tail[named.end() :] if named else tail}" if named or tail.startswith("#R#") else tail
        fitting = "most|fewest|least" if tail.startswith("#R#") else f"{_MUCH}{'' if named else '|longest|shortest'}"
        if (
            group is None
            or not re.fullmatch(fitting, extreme)
            or not re.match(rf"(?:how many|{'|'.join(MEASURES.values())})\b", measure, re.I)
        ):
            return None
        found, more = self._measure(measure), self._where(mid)
        if not found or more is None:
            return None
        return self._top(group, (found[0], [*found[1], *more]), self._way(match["extreme"]), match["n"])

    def _top(self, group: str, found: tuple[str, list[str]], way: str, count: str | None) -> DemoCall:
        rank = f"{way} {number(count) if count else 1}"
        return self._made("top_groups", measure=found[0], group=group, conditions=found[1], rank=rank)

    def _numbered(self, text: str) -> DemoCall | None:
        found = self._measure(text)
        return self._number(*found) if found else None

    def _way(self, extreme: str) -> str:
        return "highest" if re.fullmatch(_HIGH, extreme, re.I) else "lowest"

    def _ranked(self, text: str) -> DemoCall | None:
        """The names of the rows where a column is highest or lowest, or what another column holds there."""
        forms = (
            rf"(?:{_WHICH})(?P<mid> .+?) (?:the )?(?:{_PLACE} )?{_IN_TIME}(?: #(?P<by>\d+)#)?(?P<rest>.*)",
            rf"(?:(?:{_NUMBERED}|{_PLACE}) )?{_EXTREME}(?: (?P<m>[0-9]+|two|three|four|five|ten))? (?P<mid>[^#]*?)"
            r"(?:#R#|#(?P<g>\d+)#)(?P<rest>.*?)(?: by (?:the )?#(?P<by>\d+)#)?",
            rf"(?:(?P<n>[0-9]+|two|three|four|five|ten) )?(?:#R#|#(?P<g>\d+)#)(?P<mid>.*?) with (?:the )?"
            rf"{_EXTREME}(?: #(?P<by>\d+)#)(?P<rest>.*)",
            rf"#(?P<shown>\d+)# of (?:the )?(?:{_PLACE} )?{_IN_TIME} #R#(?P<mid>)(?P<rest>.*)",
            r"when (?:is|was|were) (?:the )?(?P<extreme>first|last|latest|earliest|most recent) "
            r"(?P<mid>.*?)#R#(?P<rest>.*)",
        )
        for form in forms:
            match = re.fullmatch(form, text, re.I)
            if match and (call := self._at_rank(match)):
                return call
        return None

    def _at_rank(self, match: re.Match[str]) -> DemoCall | None:
        said, names = match.groupdict(), self._header.names
        extreme, mid = match["extreme"].lower(), match["mid"].strip()
        by = said.get("by")
        ending = re.search(r"(?:^| )#(\d+)#$", mid)
        if not by and ending:  # "on which day was the wind highest"
            by, mid = ending[1], mid[: ending.start()]
        first = match[0].lower().startswith("when")
        if extreme in ("first", "last") and not first and (by or said.get("shown")) is None:
            return None
        if said.get("shown") and extreme in ("first", "last"):
            by = said["shown"]
        if not by and said.get("g") and self._header.kind(int(said["g"])) == "number":  # "the second highest price"
            by = said["g"]
        ordered = self._order(extreme, int(by) if by else None, dated=first)
        column = names[int(said["g"])] if said.get("g") else self._label()
        column = names[int(said["shown"])] if said.get("shown") else names[ordered[0]] if first and ordered else column
        where = self._where(_HAS.sub("", mid), match["rest"])
        if ordered is None or column is None or where is None or said.get("part"):
            return None
        place = _PLACES.get((said.get("place") or "").lower(), 0)
        count = number(said.get("n") or said.get("m") or "1")
        which = f"{place}{['st', 'nd', 'rd', 'th', 'th'][place - 1]}" if place > 1 else f"{count}"
        rank = f"{ordered[1]} {which}"
        alone = column == self._label() or self._header.kind(names.index(column)) == "moment"
        single = " row" if extreme in _COMPARED and alone else ""
        return self._made("cells", column=column, conditions=where, order=f"{rank}{single} by {names[ordered[0]]}")

    def _order(self, extreme: str, by: int | None, *, dated: bool = False) -> tuple[int, str] | None:
        """The column that a rank goes by, and which end of it comes first."""
        header = self._header
        if extreme == "newest" and by is None and header.with_word("year") is not None:
            return None
        late = re.fullmatch("latest|newest|most recent|most recently|last", extreme)
        if dated or late or extreme in ("earliest", "first"):
            by = by if by is not None else header.only_moment()
            in_time = by is not None and (header.kind(by) == "moment" or "year" in words(header.names[by]))
            return (by, "highest" if late else "lowest") if by is not None and in_time else None
        if by is not None and header.kind(by) not in ("number", ""):
            return None
        if extreme == "best":
            return (
                (by, "highest")
                if by is not None and {"score", "rating", "points"} & set(words(header.names[by]))
                else None
            )
        if by is not None and (extreme not in _COMPARED or extreme in ("longest", "shortest")):
            return by, self._way(extreme)
        if extreme not in _COMPARED:
            return None
        adjective, way = _COMPARED[extreme]
        columns, sign = ADJECTIVES[adjective]
        own = header.with_word(*columns.split())
        return None if own is None or by not in (None, own) else (own, "highest" if sign * way > 0 else "lowest")

    def _listed(self, text: str) -> DemoCall | None:
        """The names of the rows that meet conditions, or what one column holds where another has a value."""
        one = re.fullmatch(r"#(?P<g>\d+)# of (?:the )?#R# (?:number |no\.? )?(?P<id>\w*\d\w*)", text, re.I)
        numbering = self._header.numbering()
        if one and numbering is not None:
            names = self._header.names
            number_is = f'{names[numbering]} equals "{one["id"]}"'
            return self._made("cells", column=names[int(one["g"])], conditions=[number_is], order="")
        match = re.fullmatch(
            r"(?P<asks>(?:in |at |on |for )?which |what |who )?(?P<kind>(?:[^#]* )??)(?:#R#|#(?P<g>\d+)#)(?P<rest> .+)",
            text,
            re.I,
        )
        lone = re.fullmatch(r"who (?P<rest>.+)|when (?:was|were|did) (?P<v>[^#]+) #(?P<g>\d+)#", text, re.I)
        if lone:
            kind, rest, shown = "", lone["rest"] or lone["v"], lone["g"]
        elif match and (match["asks"] or not match["g"] or re.match(_PLACED, match["rest"], re.I)):
            kind, rest, shown = match["kind"], match["rest"], match["g"]
        else:
            return None
        if shown and self._header.kind(int(shown)) == "flag":
            return None  # "which vegetarian recipes": a condition
        where = self._where(kind, rest)
        column = self._header.names[int(shown)] if shown else self._label()
        return self._made("cells", column=column, conditions=where, order="") if where and column else None
