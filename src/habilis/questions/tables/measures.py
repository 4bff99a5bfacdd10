"""What a question about a table measures, of which rows, by which groups: the parts that its forms share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from habilis.questions.header import TableHeader
from habilis.questions.language import root, stems, words
from habilis.questions.nouns import CLASSES, PEOPLE, UNITS
from habilis.questions.operations import DemoOperation
from habilis.questions.prompts import SeenFile
from habilis.questions.tables.clauses import Clauses
from habilis.questions.tables.doings import is_verb
from habilis.questions.tables.lexicon import PLACES
from habilis.questions.world import CannotAnswerError, DemoCall

MEASURES = {
    "mean": "average|mean|arithmetic mean|avg",
    "sum": "total|sum|combined|overall|sum total|grand total|total sum",
    "median": "median",
    "minimum": "minimum|min|lowest|smallest|least|shortest|cheapest",
    "maximum": "maximum|max|highest|largest|biggest|greatest|longest",
    "deviation": "standard deviation|sample standard deviation|std|stdev",
}
_VERBS = (
    ("earn|earns|earned|earning", "salary income wage"),
    ("costs|costing|priced at|cost(?= (?:more|less|over|under|at|between|above|below)\\b)", "price cost fare fee rent"),
    ("aged", "age"),
    ("weigh|weighs|weighing|weighed", "weight"),
)
_SPENT = {"expense", "budget", "cost", "purchase", "spending", "bill"}
_PIECES = {"quantity", "qty", "stock", "count", "piece", "unit", "hand", "many"}
_BOUGHT = {"bought", "paid", "purchase", "purchased", "spent"}
_PER_UNIT = set("hourly daily weekly nightly unit rate average avg balance each per price".split())  # noqa: SIM905
_DEEDS = {"loan", "visit", "booking", "rental", "hire", "purchase", "repair", "delivery", "donation", "sighting"}
"""What was done with what a row names: of a title there may be several loans."""
_STOCKED = {"equipment", "inventory", "stock", "asset", "item", "product"}
"""Rows of which each may be many pieces."""
_RATES = {"monthly", "yearly", "annual", "annually", "weekly", "daily", "hourly", "per"}
"""Words of columns that hold an amount for some time."""
YEARLY = (
    "published|released|built|founded|printed|produced|written|came out|made|recorded|written|born|invented|designed"
)
_NO_COUNT = set(
    """year month week day age price cost fee fare salary score grade rating rank temp temperature
    rate""".split()  # noqa: SIM905
)

DUE = {"due", "owed", "owing", "outstanding", "expected", "planned", "budget", "invoiced"}
"""Words of columns of money that nobody has paid for that."""
FLOWS = r"\b(?:receiv\w+|collect\w*|took in|takes? in|c[ao]mes? in|came in|get|got|pa(?:y|ys|id)|earn\w*|spen[dt]\w*)\b"
"""Verbs of money that goes from one to another."""
_DONE = {"sold", "bought", "used", "eaten", "returned", "received", "sent", "made", "lost", "found", "sown", "read"}
_PIECES_SOLD = {"ticket", "quantity", "qty", "piece", "unit", "copy", "sold", "seat", "pack"}
_RATED_BY = {"price", "rate", "cost", "wage", "fee", "fare", "pay"}
_DEAREST = "(?:the )?(?:most expensive|dearest)|(?:earns?|earned|costs?|pays?|paid|gets?|charges?) the most"
_CHEAPEST = "(?:the )?(?:cheapest|least expensive)|(?:earns?|earned|costs?|pays?|paid|gets?|charges?) the least"
_OF_ONE = {"price", "fee", "fare"}
_SAME_DEAL = {"sell", "purchas", "order"}
_HEADS = {
    "time": "time|long|hour|minute|min|second|duration|spen[dt]|quick|fast|slow|short|took|take",
    "weight": "weigh|heav|light|kilo|kg|gram",
    "temp": "temp|warm|cold|hot|cool|degree", "temperature": "temp|warm|cold|hot|cool|degree",
    **dict.fromkeys(("cost", "price", "fee", "fare"), "cost|price|fee|fare|money|paid|pay|spen[dt]|spend|expens|cheap|"
                    "charge|worth|value|bill|earn|made|bring|brought|revenue|much|amount|eur|€|£|[$]"),
}  # fmt: skip
"""Last words of names of columns, and beginnings of words one of which must be said where the rest of a name is."""


class Measures:
    """What a question about one table measures, and of which rows."""

    def __init__(self, operations: Sequence[DemoOperation], file: SeenFile, header: TableHeader) -> None:
        self._file, self._header, self._clauses = file, header, Clauses(header)
        self._tools = {operation.key.removeprefix("query_"): operation for operation in operations}
        self._left: list[str] = []
        self._text = ""
        self._generic = False

    def _verbs(self, text: str) -> str:
        for verbs, names in _VERBS:
            column = self._header.with_word(*names.split())
            piece = column is not None and {"unit", "each", "per"} & set(words(self._header.names[column]))
            if column is not None and not (piece and self._header.are_sums):
                text = re.sub(rf"\b(?:{verbs})\b", f"#{column}#", text)
        money = self._header.with_word("amount", "cost")
        if money is not None:
            text = re.sub(
                r"^how much (?:money )?(?:(?:was|were) spent"
                r"|(?:did|does|has|have) ([^#]+) (?:spend|spent))\b",
                lambda match: f"total #{money}#" + (f" by {match[1]}" if match[1] else ""),
                text,
                flags=re.I,
            )
        amount = self._header.with_word("quantity", "qty", "unit")
        if amount is not None:
            text = re.sub(rf"#{amount}# (?:sold|ordered|bought)\b", f"#{amount}#", text)
        years = self._header.with_word("year")
        if years is not None:
            text = re.sub(rf"\b(?:{YEARLY})(?= (?:after|before|in|since|until|between|from)\b)", f"#{years}#", text)
        if self._header.rows_are in ("order", "sale", "purchase", "transaction"):
            text = re.sub(
                r" (?:were |was )?(?:ordered|bought|purchased|placed)(?= (?:in|on|at|by|per|from)\b|$)", "", text
            )
        return text

    def _at_rate_of(self, text: str) -> str:
        """ "cheapest per litre", "earns the most per hour" with the column of what that costs or brings for one."""
        for unit in re.findall(r"\b(?:per|an?) ([a-z]+)\b", text):
            rates = [i for i, name in enumerate(self._header.names) if _RATED_BY & {*stems(name)}
                     and root(unit) in map(root, words(name)) and self._header.kind(i) == "number"]  # fmt: skip
            if len(rates) != 1:
                continue
            name = self._header.names[rates[0]]
            for said, end in ((_DEAREST, "highest"), (_CHEAPEST, "lowest")):
                dear = rf"\b(?:(?:is|was) )?(?:{said}) (?:per|an?) {unit}\b"
                text = re.sub(dear, f"has the {end} {name}", text, flags=re.I)
        return text

    def _paid_most(self, text: str) -> str:
        """ "has paid us the most" as the most money of what is paid, where a column says whether it is."""
        flags = "|".join(f"{i}" for i, name in enumerate(self._header.names) if self._header.kind(i) == "flag"
                         and root("paid") in map(root, words(name))) or "(?!)"  # fmt: skip
        match = re.search(
            rf"\b(?:(?:has|have) )?#(?P<c>{flags})# (?:us |me )?the (?P<end>most|least)(?: money)? *$", text
        )
        if match is None or len(self._header.money) != 1:
            return text
        end = "highest" if match["end"] == "most" else "lowest"
        return f"{text[: match.start()]}has the {end} total #{self._header.money[0]}# and is #{match['c']}#"

    def _plain(self, text: str) -> str:
        text = re.sub(r"#(\d+)#", lambda match: self._header.names[int(match[1])], text)
        return text.replace("#R#", "rows").strip(" ,")

    # parts of a form

    def _asks_price(self, text: str, column: int) -> bool:
        """Whether one price is asked for, not the sum of all: "how much does the trip cost"."""
        price = {"cost", "price", "fee", "fare"} & set(words(self._header.names[column]))
        one = re.match(r"how much (?:does|do|is|are)\b", text, re.I)
        return bool(price and one) and not re.search(r"\b(?:total|altogether|together|overall|all)\b", text, re.I)

    def _how_many(self, column: int, counted: bool) -> str:
        name = self._header.names[column]
        if self._header.kind(column) == "number" and not (counted and set(words(name)) & _NO_COUNT):
            return f"sum of {name}"
        if not counted:
            raise CannotAnswerError(f"column {name} of {self._file.named} holds no numbers")
        return f"count of {name}" if self._header.is_rows(column) else self._kinds_of(column)

    def _kinds_of(self, column: int) -> str:
        """How many of a column there are: people, places and kinds are told apart, other things may be rows."""
        name = self._header.names[column]
        classes = {*stems(name)} & (CLASSES | PEOPLE | {*PLACES})
        classes &= {*stems(self._text)} if len(words(name)) > 1 else classes
        return f"{'distinct' if classes or self._header.label() == column else 'single'} of {name}"

    def _pieces(self) -> list[int]:
        """The columns that say how many of something each row is."""
        names = self._header.names
        numbers = [i for i in range(len(names)) if self._header.kind(i) == "number" and self._adds_up(i)]
        return [i for i in numbers if _PIECES & {*stems(names[i])} or words(names[i])[0] == "number"]

    def _is_no_price(self, name: str) -> bool:
        """Whether a column cannot say what something costs, where that is asked: the number of tickets."""
        asks = re.search(r"\b(?:costs?|pay|pays|paid|spend|spent|charged?)\b", self._text, re.I)
        return asks is not None and bool((_PIECES | _PIECES_SOLD) & {*stems(name)}) and name in self._header.names

    def _adds_up(self, column: int) -> bool:
        """Whether the numbers of a column may be summed: prices of one piece, rates and balances may not."""
        name = words(self._header.names[column])
        if re.search(r"/| per ", self._header.names[column]):
            return False
        units = {word for said in UNITS.values() for word in said.split()} - {"each", "per"}
        if (
            _BOUGHT & {*name}
            and not {"per", "each", "unit"} & {*name}
            and not any(_PIECES & {*stems(one)} for one in self._header.names)
        ):
            return True  # the price paid for the one thing that a row is
        return not (_PER_UNIT & {*name} and len([word for word in name if word not in units]) > 1)

    def _count(self) -> str:
        """Rows, and where they are asked for as what they are, such that none of these stands twice."""
        if self._header.rows_are in _STOCKED and self._header.with_word("quantity", "qty", "stock") is not None:
            raise CannotAnswerError("it is not said whether rows or pieces are to be counted")
        done = self._header.rows_are in _DEEDS and re.search(rf"\b{self._header.rows_are}s?\b", self._text, re.I)
        rows = self._generic or self._header.rows_are == "log" or (done and self._header.numbering() is None)
        key = None if rows else self._header.key()
        return "count" if key is None else f"count of {self._header.names[key]}"

    def _number(self, measure: str, where: list[str]) -> DemoCall:
        return self._made("number", measure=measure, conditions=where)

    def _made(self, tool: str, **values: Any) -> DemoCall:
        for said in (values.get("measure", ""), f"rank of {values.get('order', '').partition(' by ')[2]}"):
            self._check_meant(said)
        own = set(words(str(values.get("measure", "")).partition(" of ")[2])) & _RATES
        if own and re.match(r"\w+ of ", values.get("group", "")):
            raise CannotAnswerError("what is said per month or year has no sum for each of them")
        return DemoCall(self._tools[tool], {"path": self._file.named, **values})

    def _check_meant(self, measure: str) -> None:
        """Raises `CannotAnswerError` for a measure of a column that a part of its name, or a verb, leaves open."""
        name = measure.partition(" of ")[2]
        if name not in self._header.names or measure.startswith(("count", "distinct", "single")):
            return
        own = words(re.sub(r"[(\[].*", "", name))
        said = {*stems(self._text)}
        if {"every", "until", "since"} & {*own} - {*words(self._text)}:
            raise CannotAnswerError(f"{name} may not be what is asked for")
        done = {root(word) for word in own if word in _DONE}
        done |= {"spend", "pay"} if root("bought") in done else set()
        done |= {"use"} if "used" in done else set()
        verb = re.search(r"\b(?:did|do|does|have|has) (?:(?:I|we|they|you) |(?:[A-Z]\w+ ?)+)([a-z]+)\b", self._text)
        if (
            done
            and verb
            and is_verb(verb[1])
            and root(verb[1]) not in done | _SAME_DEAL | {"make", "do", "have", "get"}
        ):
            raise CannotAnswerError(f"{name} may not be what was {verb[1]}")
        others = [one for one in self._header.money if self._header.names[one] != name]
        due = bool(DUE & {*own})
        if others and self._header.names.index(name) in self._header.money:
            owes = re.search(r"\bow(?:e|es|ed|ing)\b", self._text, re.I) and not {"owed", "owing", "outstanding"} & {
                *own
            }
            owes = owes and not {"balance"} & {*own}
            bare = own[-1] in ("cost", "costs") and len(own) > 1 and not {*stems(" ".join(own[:-1]))} & said
            if owes or bare or (due and re.search(FLOWS, self._text, re.I)):
                raise CannotAnswerError(f"{name} may not be what was paid, or is still to be paid")
        if self._header.rows_are in _SPENT and re.search(r"\b(?:receiv\w+|earn\w*|came in)\b", self._text, re.I):
            raise CannotAnswerError("what is spent is not received")
        sold = [one for one in self._header.names if _PIECES_SOLD & {*stems(one)}]
        if sold and _OF_ONE & {*own} and re.search(r"\b(?:revenue|turnover|takings|proceeds)\b", self._text, re.I):
            raise CannotAnswerError(f"{name} may be that of one piece")
        head = _HEADS.get(own[-1]) if len(own) > 1 else None
        if head and {*stems(" ".join(own[:-1]))} & said and not re.search(rf"\b(?:{head})", self._text, re.I):
            raise CannotAnswerError(f"the question does not say that {own[-1]} is meant")

    def _label(self) -> str | None:
        label = self._header.label()
        return None if label is None else self._header.names[label]
