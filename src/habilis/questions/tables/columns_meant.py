"""Which columns the words of a question mean: by name, by part of it, by other words for them, by what they hold."""

from __future__ import annotations

import re

from habilis.questions.column_words import words_for
from habilis.questions.language import counted, root, stems, words
from habilis.questions.nouns import PEOPLE, UNIT
from habilis.questions.tables.doers import doer_of, done_by_others, is_shown
from habilis.questions.tables.lexicon import (
    ALIKE,
    ASKED_OF,
    COMES,
    FILLERS,
    FUNCTION_WORDS,
    NUMBERED,
    PLACES,
    THINGS,
    first_column_for,
)
from habilis.questions.tables.partly_said import PartlySaid, roots
from habilis.questions.tables.wordings import reworded
from habilis.questions.world import CannotAnswerError

_TO_DO = (
    r"\b(?:(?:still|yet) (?:have |has )?(?:(?:a|an|some|any) )?(?:#R# )?"
    r"|(?:have|has) (?:(?:a|an|some|any) )?(?:#R# )?still )to (?:be )?#(\d+)#"
)
_LEFT_OUT = (
    r"\b(?:excluding|except(?: for)?|not counting|leaving out|other than) (?:(?:the|any|all) )*#(\d+)#(?=$|[ ,])"
)
_NOT_DONE = r"\bnot (?:yet |been |have |has |had |all |work |live )*#(\d+)#(?: yet)?"
_DID = re.compile(r"\b(?:did|does|do) (?P<who>(?!I\b)[A-Z][\w'-]*\.?(?: [A-Z][\w.'-]*)*) (?P<verb>[a-z]+)\b")
_TAKEN = "revenue|turnover|takings|proceeds|earnings|sales value|income"
_SPENT = "spend|spent|pay|paid"
_SUMS = {"total", "amount", "revenue", "sum", "discount", "status", "state", "returned", "cancelled", "refunded"}
"""Words of columns beside which pieces times a price are not what was taken in."""
_GOT = "buy|bought|order|ordered|purchase|purchased|sell|sold|get|need|eat|eaten|cook|cooked|bake|baked|repair|make"
_ANYBODY = "person|tenant|flatmate|flat mate|roommate|housemate|friend|member|child|one of us"
_MEASURED_SO = "biggest|highest|largest|greatest|smallest|lowest|average|mean|median|total"
_LIES_IN = re.compile(r"^((?:which|what|how many|whose) #\d+#) (?:is|was|are|were) #(\d+)# (?=in )", re.I)
_COUNTED_IN = {
    "time": {"min", "mins", "minutes", "hours", "h", "duration", "seconds", "secs", "sec", "s"},
    "weight": {"kg", "g", "kilos", "grams", "lb", "lbs", "oz"},
    "distance": {"km", "miles", "mi"},
    "temperature": {"c", "f", "celsius", "fahrenheit"},
    "price|cost": {"eur", "euro", "euros", "gbp", "usd", "chf", "dollars", "pounds"},
}
"""What a number of a unit is, which may be said behind the name of its column: "swim time" of "swim (s)"."""


class ColumnsMeant(PartlySaid):
    """The columns of one table as a question words them."""

    def _prepared(self, phrase: str) -> str:
        """`phrase` with columns and rows marked, also by other words than their own, and one wording for many."""
        self._text = phrase
        self._generic = re.search(r"\b(?:rows|entries|records|lines)\b", phrase, re.I) is not None
        text = reworded(phrase)
        self._own_day(phrase)
        done = [name for name in self._header.names if {"finish", "complet"} & {*roots(name)}]
        if done and re.search(r"\b(?:read|completed)\b", text, re.I) and len(self._header.names) > len(done):
            text = re.sub(r"\bread\b(?! (?:in|log))", "read-through", text, flags=re.I)  # begun, or finished
        text = self._before_marking(self._named(text))
        in_unit = re.search(rf"\bin (?:{UNIT})(?=$|[,.])", text)
        text = self._alike(self._verbs(self._header.marked(self._from_where(self._done_last(text)))))
        text = self._of_counts(text)
        text = _DID.sub(self._done_by, text)
        text = re.sub(r"(#\d+#)(?: \1)+", r"\1", self._in_part(text))
        moments = "|".join(f"{i}" for i in range(len(self._header.names)) if self._header.kind(i) == "moment")
        if moments:
            text = re.sub(rf"(#(?:{moments})#) (?:dates?|times?|days?)\b", r"\1", text, flags=re.I)
            text = re.sub(rf"(#(?:{moments})#) (?=\d{{1,2}} [A-Z]|\d{{4}}-|[A-Z][a-z]+ \d)", r"\1 on ", text)
        for said, units in _COUNTED_IN.items():
            own = "|".join(f"{i}" for i, name in enumerate(self._header.names) if units & {*words(name)[-1:]})
            text = re.sub(rf"(#(?:{own})#) (?:{said})s?\b", r"\1", text) if own else text
        text = re.sub(r"#(\d+)# (?:per|an?|each|every) (\w+)", self._own_rate, text)
        text = re.sub(r"#(\d+)# per #(\d+)#", self._rate_of_its_own, text)
        text = re.sub(
            r"(?<=\d)( euros?| dollars?| pounds?| ?[€$£]| hours?)? (?:per|an?|each|every) (\w+)", self._at_rate, text
        )
        text = re.sub(r" in(?=$|,)", "", text) if in_unit else text  # whose unit a column has taken
        text = self._revenue(self._things_done(text))
        text = reworded(text, marked=True)
        text = _LIES_IN.sub(self._lies_in, text)
        text = self._after_marking(re.sub(r",? in (euros?|pounds|dollars)(?=$|[ ,])", self._in_money, text, flags=re.I))
        if (number := self._header.numbering()) is not None:
            text = re.sub(r"#R# (?:numbers?|nos?|ids?)\b", f"#{number}#", text, flags=re.I)
        text = re.sub(r"\bnever #(\d+)#", self._negated, text, flags=re.I)
        text = re.sub(_TO_DO, self._negated, text, flags=re.I)
        text = re.sub(_NOT_DONE, self._negated, text, flags=re.I)
        text = re.sub(_LEFT_OUT, self._left_out, text, flags=re.I)
        totals = [i for i, name in enumerate(self._header.names) if words(name) == ["total"]]
        total = totals[0] if len(totals) == 1 else None
        if total is not None:
            text = re.sub(r"(?<=#R# )totals?\b", f"#{total}#", text, flags=re.I)
            text = re.sub(rf"#R# (?=#{total}#)", "", text)
        text = re.sub(r"(?<![#\w])([\w'-]+) #(\d+)# #(\w+)#", self._of_kind, text)
        for asked, names in ASKED_OF:
            column = self._header.with_word(*names.split())
            summed = self._header.are_sums and column not in self._unit_prices()
            of = None if column is None or summed else re.fullmatch(asked, text, re.I)
            rate = of.groupdict().get("rate") if of else None
            if of and column is not None and (not rate or root(rate) in roots(self._header.names[column])):
                text = f"#{column}# of {next(filter(None, of.groups()))}"
        self._text = f"{phrase} {text}"
        return re.sub(r"\s+", " ", counted(text)).strip(" ,.")

    def _in_money(self, match: re.Match[str]) -> str:
        """ "in euros" is passed over where each column of numbers that is named is in euros, or may be."""
        named = {int(one) for one in re.findall(r"#(\d+)#", match.string)}
        numbers = [one for one in named if self._header.kind(one) == "number"]
        return "" if numbers and all(self._header.takes_unit(one, match[1].lower()) for one in numbers) else match[0]

    def _rate_of_its_own(self, match: re.Match[str]) -> str:
        """ "calories per serving" as the column "kcal per serving", not as what is left when servings divide it."""
        _, per, unit = self._header.names[int(match[1])].lower().partition(" per ")
        return f"#{match[1]}#" if per and {*stems(unit)} & {*stems(self._header.names[int(match[2])])} else match[0]

    def _lies_in(self, match: re.Match[str]) -> str:
        """ "which bikes are located in Oslo" without the column that says where; a day is of what was done."""
        return match[0] if self._header.kind(int(match[2])) == "moment" else f"{match[1]} was "

    def _done_last(self, text: str) -> str:
        """ "were last groomed" with the name of the column "Last groom"."""
        for i, name in enumerate(self._header.names):
            which, *done = words(name)
            if which in ("last", "next", "first") and len(done) == 1 and self._header.kind(i) == "moment":
                own = re.compile(rf"\b{which} (?!{done[0]}\b)([a-z]+)\b", re.IGNORECASE)
                told = own.search(text)
                text = own.sub(f"{which} {done[0]}", text) if told and root(told[1]) == root(done[0]) else text
        return text

    def _of_counts(self, text: str) -> str:
        """ "the biggest count of starlings" with the column that counts, "cheapest per ball" with such a price."""
        for i, name in enumerate(self._header.names):
            if words(name)[-2:] in (["in", "stock"], ["on", "hand"]) and self._header.kind(i) == "number":
                text = re.sub(
                    rf"\b(?:in|on) (?:(?:the|our) )?(?:#R#|{words(name)[-1]})(?=$|[ ,])", f"#{i}#", text, flags=re.I
                )
            if (unit := words(name)[-1:]) and self._header.kind(i) == "number" and (said := words_for(unit[0])):
                text = re.sub(rf"\b(?:{'|'.join(said)}) of (?:the |my |our )?(?=#{i}#)", "", text, flags=re.I)
            if words(name) == ["count"] and self._header.kind(i) == "number":
                text = re.sub(rf"\b({_MEASURED_SO}) counts?\b(?! of #R#)", rf"\1 #{i}#", text, flags=re.I)
            if per := re.search(r"\b(?:price|cost|rent|fee)(?: per |/| each )(\w+)$", name, re.I):
                text = self._priced_by(text, i, "|".join({per[1], *words_for(per[1])}))
        return text

    def _priced_by(self, text: str, column: int, pieces: str) -> str:
        """ "the cheapest per litre" with the column of the price per litre."""
        for said, way in (("cheapest|least expensive", "lowest"), ("dearest|most expensive", "highest")):
            of_one = rf"\b(?:{said})\b(.*?) ?(?:per|for (?:an?|one|each)) (?:{pieces})\b"
            text = re.sub(of_one, rf"\1 with the {way} #{column}#", text, flags=re.I)
        return text

    def _things_done(self, text: str) -> str:
        """ "what did we buy" with the column of things, "which tenant paid" as who did, where a column is "paid by"."""
        things = [i for i, name in enumerate(self._header.names) if {*stems(name)} <= THINGS]
        if len(things) == 1:
            did = rf"^what (?:(?:did|do|have) (?:we|i|they) (?:{_GOT})|(?:was|were) (?:{_GOT}))\b"
            text = re.sub(did, f"which #{things[0]}# ", text, flags=re.I)
            text = re.sub(
                rf"^what (?:did|has) (#\d+#= [^#,]+,) (?:{_GOT})\b", rf"which #{things[0]}# \1", text, flags=re.I
            )
            text = re.sub(rf"(#{things[0]}#) costs? (?=(?:more|less|over|under|at) )", self._priced, text, flags=re.I)
        value = self._header.with_word("value", "worth")
        if value is not None and self._header.kind(value) == "number":
            worth = r"^(?:what (?:is|are) )?(?:the )?(#.+?) worth(?: altogether| together)?$"
            text = re.sub(worth, rf"total #{value}# of \1", text, flags=re.I)
            text = re.sub(rf"(?<=^total #{value}# of )#{self._header.label()}#", "#R#", text)
        who = self._who()
        if who is not None and words(self._header.names[who])[-1] == "by":
            text = re.sub(rf"^which (?:{_ANYBODY}) (?=[a-z])", "who ", text, flags=re.I)
        return text

    def _priced(self, match: re.Match[str]) -> str:
        """ "products cost more than 5" with the column of what one of them costs."""
        price = self._header.with_word("price")
        return match[0] if price is None else f"{match[1]} #{price}# "

    def _revenue(self, text: str) -> str:
        """What was taken in all, as pieces times the price of one, where no column says it."""
        names = self._header.names
        prices = [i for i in self._unit_prices() if self._header.kind(i) == "number"]
        pieces = [i for i, name in enumerate(names) if {"quantity", "qty", "units", "pieces"} & {*words(name)}]
        if (
            len(prices) != 1
            or len(pieces) != 1
            or {*self._header.money} - {*prices}
            or _SUMS & {*words(" ".join(names))}
        ):
            return text
        taken = f"#{pieces[0]}# times #{prices[0]}#"
        text = re.sub(rf"(?<![#\w])(?:{_TAKEN})(?![\w#])(?! \(?#)", taken, text, flags=re.I)
        text = re.sub(
            rf"^how much (?:money )?(?:did|has|have) (.+?) (?:{_SPENT})\b", rf"total {taken} of \1", text, flags=re.I
        )
        return re.sub(
            rf"^(which #\d+#|who) (?:{_SPENT}|brought in|made|earned) the (most|least)(?: money)?\b",
            rf"\1 had the \2 {taken}", text, flags=re.I,
        )  # fmt: skip

    def _unit_prices(self) -> list[int]:
        """The columns that say what one piece costs."""
        named = [{*words(name)} for name in self._header.names]
        return [i for i, own in enumerate(named) if own & {"price", "cost"} and own & {"unit", "each", "per", "piece"}]

    def _named(self, text: str) -> str:
        """`text` without the file's own name, and with the one wording of two columns that people mix up."""
        stem = self._file.named.rsplit("/")[-1].rpartition(".")[0]
        said = " ".join(words(stem))
        text = re.sub(rf" (?:in|on|of|from) (?:the|this|my|our) (?:{re.escape(stem)}|{said})$", "", text, flags=re.I)
        *kind, rows = words(stem) or [""]
        if kind and all(map(str.isalpha, kind)) and stems(rows) == [self._header.rows_are]:
            text = re.sub(rf"\b{' '.join(kind)} (?={rows}\b)", "", text, flags=re.I)  # "office orders"
        for end, short in (("lowest", "min"), ("highest", "max")):
            word = f"{short}imum"
            if self._header.with_word(short, word) is not None:
                said = rf"(?<!no )(?<!average )(?<!mean )\b(?:{end}|{word}) (?:{word} )?temperature\b"
                text = re.sub(said, f"{end} {word} temperature", text, flags=re.I)
        return text

    def _done_by(self, match: re.Match[str]) -> str:
        """ "did Tom send" with the column of senders. Raises `CannotAnswerError` where only others are named."""
        column = doer_of(self._header, match["verb"])
        if column is None and done_by_others(self._header, match["verb"]):
            raise CannotAnswerError(f"{self._file.named} does not say who did {match['verb']}")
        counted_only = re.match(r"(?:on |in )?how many (?!more)|number of", match.string, re.I)
        bound = counted_only and column is not None and is_shown(self._header, match["verb"])
        return f"#{column}#= {match['who']} ," if bound else match[0]

    def _from_where(self, text: str) -> str:
        """ "started at Museum" with the column that says from where."""
        for said, names in COMES:
            column = self._header.with_word(*names.split())
            if column is not None:
                text = re.sub(rf"\b(?:{said}) (?:the )?(?=[A-Z])", f"#{column}#= ", text)
        return text

    def _of_kind(self, match: re.Match[str]) -> str:
        """ "high priority tickets": the rows, with a cell of a column."""
        value, column, rows = match[1], int(match[2]), match[3]
        text = self._header.kind(column) == "text" and not self._names_rows(match[2])
        plain = value.lower() not in FILLERS | {*FUNCTION_WORDS.split()} and not self._is_verb(value)
        return f"#{rows}# #{column}#= {value}" if text and plain and self._names_rows(rows) else match[0]

    def _left_out(self, match: re.Match[str]) -> str:
        """ "not counting races" as "not a race"; "not counting tips" is about a sum, not about rows."""
        return self._negated(match) if self._header.kind(int(match[1])) == "flag" else match[0]

    def _negated(self, match: re.Match[str]) -> str:
        kind = self._header.kind(int(match[1]))
        if kind == "number" and match[0].lower().startswith("never"):
            return f"without #{match[1]}#"
        return (
            f"not #{match[1]}#" if kind == "flag" else f"without #{match[1]}#" if kind in ("moment", "") else match[0]
        )

    def _alike(self, text: str) -> str:
        """Words that mean one column without being in its name, marked."""
        for said, names in ALIKE:
            column = first_column_for(self._header, names)
            timed = names in ("in arrival arrived", "out departure left")  # no "Arrival Country"
            if column is not None and not (timed and self._header.kind(column) == "text"):
                text = re.sub(rf"(?<![#\w])(?:{said})(?![\w#])", f"#{column}#", text, flags=re.I)
        people = self._header.is_people and self._header.label() is not None
        who = self._header.label() if people else self._who()
        said = rf"(?<![#\w])(?:persons?{'|people|everybody|everyone' if people else ''})(?![\w#])"
        some = rf"^(which|what) ((?:{NUMBERED} )?)(?:people|persons?|members|children|kids)(?![\w#])"
        text = text if who is None else re.sub(some, rf"\1 \2#{who}#", text, flags=re.I)
        return text if who is None else re.sub(said, f"#{who}#", text, flags=re.I)

    def _own_rate(self, match: re.Match[str]) -> str:
        """ "travel allowance per month" where the column is the monthly allowance."""
        own = root(match[2]) in roots(self._header.names[int(match[1])])
        return f"#{match[1]}#" if own else match[0]

    def _at_rate(self, match: re.Match[str]) -> str:
        """ "less than 1000 a month" of a monthly rent."""
        hours = self._header.of_unit("hours") if (match[1] or "").startswith(" hour") else None
        columns = self._header.money if hours is None else [hours]
        own = any(root(match[2]) in roots(self._header.names[i]) for i in columns)
        return (match[1] or "") * (hours is not None) if own else match[0]

    # the column for a word that names none

    def _column_in(self, text: str) -> int | None:
        """The first column of `text` that holds numbers; None where it names none."""
        found = [int(one) for one in re.findall(r"#(\d+)#", text)]
        return next((one for one in found if self._header.kind(one) in ("number", "")), None)

    def _money(self, text: str = "") -> int | None:
        """The column that counts money, given or taken as `text` says; None where there are several such."""
        ways = ["total", "amount", "revenue"]
        if re.search(r"\b(?:spent|spend|spending|paid|pay|pays|payments?|costs?|expenses)\b", text, re.I):
            ways = ["paid", "debit", "spent"]
        elif re.search(r"\b(?:came in|received|earned|earn|income|deposited)\b", text, re.I):
            ways = ["income", "credit", "received"]
        money = self._header.money
        found = [[one for one in money if names in stems(self._header.names[one])] for names in ways]
        other = (self._header.with_word(*stems(names)) for names in ways)
        sure = [one[0] for one in found if len(one) == 1]
        sure += [one for one in other if one is not None and self._header.kind(one) == "number"]
        own = next(iter(sure), None)
        return money[0] if own is None and len(money) == 1 else own

    def _only_number(self) -> int | None:
        found = [one for one in range(len(self._header.names)) if self._header.kind(one) == "number"]
        return found[0] if len(found) == 1 else None

    def _moment_name(self) -> str | None:
        moment = self._header.only_day()
        return None if moment is None else self._header.names[moment]

    def _where_name(self) -> str | None:
        """The column that says where something is."""
        place = self._header.with_word(*PLACES)
        return None if place is None else self._header.names[place]

    def _who(self) -> int | None:
        if self._header.labels_people:
            return self._header.label()
        names = self._header.names
        found = [i for i, name in enumerate(names) if {*stems(name)} & PEOPLE or words(name)[-1:] == ["by"]]
        found = [one for one in found if self._header.kind(one) in ("text", "") and self._is_done(one)]
        return found[0] if len(found) == 1 else None

    def _is_done(self, column: int) -> bool:
        """Whether a column of those by whom something was done may be meant: that must be said."""
        *done, last = words(self._header.names[column])
        said = {root(word) for word in words(self._text)}
        return last != "by" or not done or root(done[0]) in said or "#R#" in self._text

    def _whose(self, asks: str) -> str | None:
        column = self._who() if asks.lower() == "who" else self._header.label()
        return None if column is None else self._header.names[column]
