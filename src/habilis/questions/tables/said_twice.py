"""What a question says again, or around a column, beyond what the column itself says."""

from __future__ import annotations

import re

from habilis.questions.language import root, stems, words
from habilis.questions.nouns import PEOPLE
from habilis.questions.tables.rewording import Rewording

_AUX = "is|are|was|were|did|do|does|has|have|had"
_NAME = r"[A-Z][\w.'-]*(?: [A-Z][\w.'-]*)*"
_HEADS = set(
    """content rate reading readings value values figure figures amount amounts bill bills level levels score scores
    mark marks rating ratings number numbers cost costs fee fees count counts result results""".split()  # noqa: SIM905
)
"""Nouns behind a column of numbers that say no more than that it holds numbers."""
_PRICES = {"price", "prices", "payment", "payments"}
_KINDS = set("group groups category categories type types kind kinds class status section sections".split())  # noqa: SIM905
_MORE = "more than|less than|over|under|above|below|at least|at most|no more than|up to"
_COUNTED = ("quantity", "qty", "piece", "unit", "stock", "count")
_MARKED = "is|are|were|was|have|has|had|that|which|marked|entered|listed|set|put|written|noted|say|says|a|an|with|to"
_OWED = r"\b(?:(?:is|are|was|were) )?(?:still )?(?:to be paid|outstanding|unpaid|owed|owing)(?: still| yet)?(?![\w#])"
_SAID_OWED = {"outstanding", "owed", "owing", "due", "balance", "unpaid", "open"}


class SaidTwice(Rewording):
    """Takes such words away, or brings them into the form that the readers know."""

    def _before_marking(self, text: str) -> str:
        for rule in (self._cells_of_words, self._by_initials, self._not_done, self._counted_in):
            text = rule(text)
        return super()._before_marking(text)

    def _after_marking(self, text: str) -> str:
        for rule in (self._most_done, self._without_flag, self._once_more, self._of_sex, self._headed,
                     self._is_its_cell, self._done_so_much, self._did_so, self._not_paid, self._costing,
                     self._marked_so, self._frequent, self._among, self._valued, self._of_any,
                     self._first_to_last):  # fmt: skip
            text = rule(text)
        return super()._after_marking(text)

    # before columns are marked

    def _cells_of_words(self, text: str) -> str:
        """ "Year 8" quoted where the cells of a column are "Year 7", "Year 9": the word before them is no column."""
        for row in self._header.samples:
            for cell in row:
                if found := re.fullmatch(r"([A-Z][a-z]+) \d{1,3}", cell.strip()):
                    said = rf"(?<![\"\w]){found[1]} (\d{{1,3}})(?![\w\"])"
                    text = re.sub(said, rf'"{found[1]} \1"', text, flags=re.I)
        return text

    def _by_initials(self, text: str) -> str:
        """ "resting heart rate" of the column resting_hr: short words without a vowel are initials."""
        for name in self._header.names:
            for short in words(name):
                if re.fullmatch(r"[b-df-hj-np-tv-xz]{2,3}", short) and len(words(name)) > 1:
                    said = r" ".join(rf"{letter}[a-z]+" for letter in short)
                    text = re.sub(rf"\b{said}\b", short, text)
        return text

    def _not_done(self, text: str) -> str:
        """ "have I not rated" as without a rating, where one column bears the word and holds numbers or days."""

        def told(match: re.Match[str]) -> str:
            own = [i for i, name in enumerate(self._header.names) if root(match[1]) in map(root, words(name))]
            if len(own) != 1:
                return match[0]
            return f"without #{own[0]}#" if self._header.kind(own[0]) in ("number", "moment") else match[0]

        text = re.sub(r"\bnot (sell|get|pay|come|leave|go|return|arrive|finish)\b(?= *$|,)", told, text)
        return re.sub(r"\b(?:not|never) (?:(?:yet|been|ever) )*([a-z]{2,}ed)\b(?= *$|,)", told, text)

    def _counted_in(self, text: str) -> str:
        """ "how many moths did I catch" of a moth trap's Count, where each row is of several."""
        own = [name for name in self._header.names if words(name) in (["count"], ["how", "many"])]
        said = {*stems(" ".join(self._header.names))}
        # What was done, such as sightings, are the rows themselves.
        of_file = [one for one in self._header.of_file if one not in said and not one.endswith("ing")]
        if len(own) != 1 or not of_file or self._header.kind(self._header.names.index(own[0])) != "number":
            return text
        others = r"(?!.*\b(?:entries|rows|records|different|distinct|unique|kinds?|types?|species|sorts?)\b)"
        return re.sub(rf"^how many (?:{'|'.join(of_file)})s {others}", f"what is the total {own[0]} ", text, flags=re.I)

    # behind the marking

    def _most_done(self, text: str) -> str:
        """ "my most downloaded episode" as the one with the most downloads."""
        numbers, rows = self._marks("number"), "|".join(
            ["R", *(f"{i}" for i in range(len(self._header.names)) if self._names_rows(f"{i}"))])  # fmt: skip
        said = rf"^(?:(?:which is|who is) )?(?:(?:my|our|the) )*(most|least) (#(?:{numbers})#) (#(?:{rows})#)"
        if not re.search(r"\b(?:most|least) [a-z]+ed\b", self._text, re.I):
            return text
        return re.sub(
            said,
            lambda one: f"which {one[3]} has the {'highest' if one[1] == 'most' else 'lowest'} {one[2]}",
            text,
            flags=re.I,
        )

    def _without_flag(self, text: str) -> str:
        """ "without a break" as the rows that say no of one."""
        flags = self._marks("flag")
        text = re.sub(
            rf"\b(?:without|with no|had no|have no|has no) (?:an? |any |the |taking an? )?#({flags})#",
            r"not #\1#",
            text,
            flags=re.I,
        )
        are = r"(?:(?:that|which) )?(?:are|is|were|was|have|has)(?: been)?"
        both = rf"(#(?:{flags})#) (#\w+#) {are} (?=(?:not )?#(?:{flags})#)"
        text = re.sub(both, r"\2 are \1 , ", text, flags=re.I)
        return re.sub(r"(#\d+#) of the week\b", r"\1", text, flags=re.I)

    def _once_more(self, text: str) -> str:
        """ "how many rehearsals did the altos attend" of "Rehearsals attended": the verb says the column again."""
        numbers = self._marks("number")
        text = re.sub(rf"(#(?:{numbers})#) ((?:{_AUX})(?: [^#]*?)?) ?\1(?=$|[ ,])", r"\1 \2", text)
        text = re.sub(rf"((#(?:{numbers})#)\b.*?) (?:that|which|who) (?:do )?(?:have|has|had) an? \2", r"\1", text)
        return re.sub(rf"(#(?:{numbers})#) (?:are|is|was|were)(?=$| altogether)", r"\1", text)

    def _of_sex(self, text: str) -> str:
        """ "the females" of a column that says F of them."""
        column = self._header.with_word("sex", "gender")
        if column is None:
            return text
        cells = {row[column].strip().lower() for row in self._header.samples if column < len(row)} - {""}
        letters = bool(cells & {"f", "m", "w"})
        if not cells or not cells <= ({"f", "m", "w"} if letters else {"female", "male"}):
            return text
        for said, cell in (
            ("females?|girls|women|ladies|(?-i:woman|lady)", "Female"),
            ("males?|boys|men|gentlemen|(?-i:man)", "Male"),
        ):
            own = ("W" if "w" in cells and cell == "Female" else cell[0]) if letters else cell
            text = re.sub(
                rf"(?<![#\w=])(?:{said})(?: #R#)?(?![#\w])", f"#R# with #{column}#= {own} ,", text, flags=re.I
            )
        return text

    def _headed(self, text: str) -> str:
        """ "water content" of "Water (%)", "voice group" of "Voice": without the noun behind the column."""
        said = {*stems(" ".join(self._header.names))}
        said |= {"cost", "count", "number"} if re.search(r"\b(?:did|does|do)\b", text, re.I) else set()  # a verb

        def told(match: re.Match[str]) -> str:
            column, head = int(match[1]), match[2]
            kind, name = self._header.kind(column), self._header.names[column]
            if kind == "text":
                own = head in _KINDS and not self._names_rows(match[1]) and not {*stems(name)} & PEOPLE
            else:
                own = kind == "number" and head in _HEADS
            own = own and not {*stems(head)} & said and not self._header.is_cell(head)
            paid = column in self._header.money and head in _PRICES and not {"price", "cost"} & said
            return f"#{match[1]}#" if own or paid else match[0]  # no "customer type"

        return re.sub(r"#(\d+)# ([a-z]+)(?![\w#])", told, text)

    def _is_its_cell(self, text: str) -> str:
        """ "was Sophie the driver" as the rows whose driver she is."""
        said = rf"\b(?:is|was|were|are) ({_NAME}) (?:the|a|an|our|my) (#(?:{self._marks('text')})#)(?=$|,)"
        return re.sub(said, r", \2= \1 ,", text)

    def _done_so_much(self, text: str) -> str:
        """ "did I walk at least 10000 steps" without the verb, which says nothing but what is counted, and may be a
        cell as well."""
        subject = rf"\b((?:did|do|does|have|has|had) (?:I|we|you|they|{_NAME})) [a-z]{{3,}} "
        return re.sub(rf"{subject}(?=(?:{_MORE}|exactly) [\d.,]+ #(?:{self._marks('number')})#)", r"\1 with ", text)

    def _did_so(self, text: str) -> str:
        """ "did I finish", "would I recommend" with the column that says whether or when, where one bears the verb."""

        def told(match: re.Match[str]) -> str:
            days = self._marks("moment").count("|")  # with one day only, it is the one on which a row was made
            kinds = ("flag", "moment") if days else ("flag",)
            told = [i for i in range(len(self._header.names)) if self._header.kind(i) in kinds]
            own = [i for i in told if root(match[1]) in map(root, words(self._header.names[i]))]
            return f"#{own[0]}#" if len(own) == 1 else match[0]

        return re.sub(
            r"\b(?:did|do|does|have|has|had|would|will) (?:I|we|you|they)(?: (?:actually|really|ever|already))? "
            r"([a-z]{3,})\b(?! (?:in|on|at|before|after|since|from|until|between|for|with|by)\b)",
            told,
            text,
        )

    def _not_paid(self, text: str) -> str:
        """ "is still outstanding" as not paid, where a column says whether or when, and none what is owed."""
        paid = [i for i, name in enumerate(self._header.names) if {"paid", "payed"} & {*words(name)}]
        paid = [i for i in paid if self._header.kind(i) in ("flag", "moment")]
        if len(paid) != 1 or _SAID_OWED & {*words(" ".join(self._header.names))}:
            return text
        again = re.search(rf"\bnot #{paid[0]}#", text)
        said = "" if again else f"not #{paid[0]}#" if self._header.kind(paid[0]) == "flag" else f"without #{paid[0]}#"
        text = re.sub(rf"{_OWED}(?:,? i\.e\.,?(?: the)?)?", said, text, flags=re.I)
        return re.sub(rf"^(total #\d+#) in (?=not #{paid[0]}#|without)", r"\1 ", text)

    def _costing(self, text: str) -> str:
        """ "pay more than 66" with the only column of money."""
        money = self._header.money
        if len(money) != 1 or f"#{money[0]}#" in text:
            return text
        said = rf"\b(?:pays?|paid|spen[dt]|costs?|charged?) (?=(?:{_MORE}) [€$£]? ?\d)"
        return re.sub(said, f"with #{money[0]}# ", text, flags=re.I)

    def _frequent(self, text: str) -> str:
        """ "our most frequent customer" and "which genre comes up most" as the one with the most rows."""
        column = rf"(#(?:{self._marks('text')})#)"
        asks = r"^(?:who|which|what)(?: (?:is|was|are))? (?:the |our |my )?most (?:frequent|common|regular) "
        text = re.sub(rf"{asks}{column}", r"which \1 has the most #R#", text, flags=re.I)
        if re.search(r"\bthe most of\b", self._text, re.I):
            got = rf"^((?:which|what) {column[1:-1]}) (?:(?:have|do|did) (?:I|we) )?(?:got|have|own|get) the most$"
            text = re.sub(got, r"\1 has the most #R#", text, flags=re.I)
        comes = r"(?:came-up|appears?|appeared|shows? up|turns? up|occurs?) (?:the )?most(?: often| frequently)?"
        return re.sub(rf"^((?:which|what) {column[1:-1]}) {comes}(?=$| )", r"\1 has the most #R#", text, flags=re.I)

    def _first_to_last(self, text: str) -> str:
        """ "how many days between the first and the last raku firing" with the only day that a row has."""
        day = self._header.only_day()
        if day is None:
            return text
        said = r"^(how many days (?:are )?between the first and (?:the )?last) ([^#]+?)(?: #\w+#)?$"
        return re.sub(said, rf"\1 #{day}# for \2", text, flags=re.I)

    def _among(self, text: str) -> str:
        """ "of the guests who accepted, which city has the most" as the city with the most of them."""
        rows = "|".join(["R", *(f"{i}" for i in range(len(self._header.names)) if self._names_rows(f"{i}"))])
        end = r"((?:which|what) #\d+#) has the (most|fewest|least)$"
        said = rf"^of (?:all )?(?:the |our |my )?#(?:{rows})# ([^#]+?),? {end}"
        return re.sub(said, r"\2 has the \3 #R# \1", text, flags=re.I)

    def _valued(self, text: str) -> str:
        """ "total value of all orders" of the only money that a row has."""
        money = self._header.money
        if (
            len(money) != 1
            or "#" in re.sub(r"#R#", "", text.split(" of ")[0])
            or self._header.with_word(*_COUNTED) is not None
        ):
            return text
        text = re.sub(
            r"^total (?:takings|revenue|turnover|sales|income)(?= |$)", f"total #{money[0]}#", text, flags=re.I
        )
        return re.sub(r"^total (?:value|worth) of ", f"total #{money[0]}# of ", text, flags=re.I)

    def _of_any(self, text: str) -> str:
        """ "what kind of cake" of a column of cakes, "of one picking" in an average of rows."""
        text = re.sub(rf"\b(which|what) kind of (#(?:{self._marks('text')})#)", r"\1 \2", text, flags=re.I)
        text = re.sub(r"^(average|mean|median)(.*?) (?:for|of) (?:one|a single|each) #R#", r"\1\2", text, flags=re.I)
        text = self._total_named(text)
        text = re.sub(
            rf"^total (?:of )?all (?:the |my |our )?(?=#(?:{self._marks('number')})#)", "total ", text, flags=re.I
        )
        says = rf"^what (?:did|does|do) (?:the |my |our )?(#(?:{self._marks('number')})#) (?:say|read|show)\b"
        return re.sub(says, r"\1", text, flags=re.I)

    def _marked_so(self, text: str) -> str:
        """ "have "no" under Receipt", "marked Yes for Furnished", "nothing under Paid", "marked as flooded"."""
        flags, any_column = self._marks("flag"), r"(#\d+#)"
        marked = rf"(?:(?:{_MARKED}) )+"
        yes = rf"{marked}(?:as )?[\"']?(?P<v>yes|no|y|n)[\"']? (?:under|for|in|at|as) (?:the )?#(?P<c>{flags})#"
        text = re.sub(yes, lambda found: f"{'not ' * (found['v'][0] in 'nN')}#{found['c']}#", text, flags=re.I)
        nothing = rf"{marked}(?:nothing|no entry|no value)(?: (?:{_MARKED}))? (?:under|for|in|at) (?:the )?"
        text = re.sub(rf"{nothing}{any_column}", r"without \1", text, flags=re.I)
        text = re.sub(
            rf"\b(?:marked|listed|noted|recorded|entered) as (?=(?:not )?#(?:{flags})#)", "", text, flags=re.I
        )
        text = re.sub(rf"\b(highest|lowest|most|largest|smallest) total number of (#(?:{self._marks('number')})#)",
                      r"\1 total \2", text, flags=re.I)  # fmt: skip
        most = r"^((?:which|what) #\d+# .*\b(?:most|least|fewest)\b.*) (?:of|on|in|with|from|for|at)$"
        return re.sub(most, r"\1", text, flags=re.I)

    def _total_named(self, text: str) -> str:
        """ "average total", "a total of 18 or more" with the column of that name."""
        own = [i for i, name in enumerate(self._header.names) if words(name) == ["total"]]
        if len(own) != 1 or self._header.kind(own[0]) != "number":
            return text
        return re.sub(
            r"\b(average|mean|median|an?) total\b(?! (?:of )?(?:the )?#)", rf"\1 #{own[0]}#", text, flags=re.I
        )
