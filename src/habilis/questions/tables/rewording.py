"""Questions about one table in the words of its rows and columns: what is done, counted or paid there."""

from __future__ import annotations

import re

from habilis.questions.language import root, stems, words
from habilis.questions.nouns import UNIT, UNITS
from habilis.questions.tables.days_meant import DaysMeant
from habilis.questions.tables.doings import VERBS
from habilis.questions.tables.lexicon import SUPERLATIVES, first_column_for
from habilis.questions.tables.measures import DUE, FLOWS

_DONE_TO = {"sold": "sell|sells", "bought": "buy|buys", "used": "use|uses", "made": "make|makes", "eaten": "eat|eats"}
"""What was done with a noun in the name of a column, and how a question may say it."""
_PIECES_NAMED = {"number", "count", "quantity", "qty", "many"}
_HELD = {"hand", "quantity", "qty", "stock", "pieces"}
_LOW_OR_HIGH = "lowest|highest|minimum|maximum|min|max|low|high"
_OF_MONEY = {"pay", "pays", "paid", "cost", "costs", "bill", "bills", "charge", "charged", "invoice", "invoiced"}
"""Verbs that say less of money than the column does that bears their name."""
_TIMED = {"best": "fastest time", "worst": "slowest time"}
_MEASURED_TIME = "average|mean|median|total|fastest|quickest|slowest|longest|shortest"
_RATED = {"monthly": "month", "yearly": "year", "annual": "year", "weekly": "week", "daily": "day", "hourly": "hour"}
_PRICED = re.compile(r"\b(?:costs?|cheap\w*|dear\w*|expensive|spen[dt]|pay|paid|price|bill|charged?)\b", re.I)
_ENDS = "|".join(sorted(SUPERLATIVES, key=len, reverse=True))


class Rewording(DaysMeant):
    """Rewrites a question before and after the marking of its columns."""

    def _before_marking(self, text: str) -> str:
        """`text` with marks for what the verbs and nouns of the file's name and of its columns mean."""
        for rule in (self._joined_verbs, self._both_ends, self._nights, self._at_rate_of, self._picked,
                     self._units_held, self._in_stock, self._done_often, self._lasting, self._since,
                     self._at_its_rate, self._failed, self._undone, self._visited, self._noun_done,
                     self._counted_by_name, self._kinds_there_are):  # fmt: skip
            text = rule(text)
        return text

    def _after_marking(self, text: str) -> str:
        """`text`, whose columns are marked, in the words that the readers know."""
        for rule in (self._paid_most, self._aside, self._too_late, self._flowing, self._kinds_of_rows,
                     self._counted_people, self._in_its_unit, self._below_minimum, self._about, self._flagged,
                     self._per_piece,
                     self._owed, self._of_days, self._of_one, self._kind_of, self._most_of, self._moneyed,
                     self._end_of_one):  # fmt: skip
            text = rule(text)
        return text

    def _joined_verbs(self, text: str) -> str:
        """ "picked up" in one word, where a column has it so: pickup time."""
        for word in {word for name in self._header.names for word in words(name)}:
            if found := re.fullmatch(r"([a-z]{3,})(up|off|out|in|down|back)", word):
                verb = rf"{found[1]}(?:{found[1][-1]}?(?:ed|ing)|s)?"
                text = re.sub(rf"\b(?:being )?{verb} {found[2]}\b", word, text, flags=re.I)
        return text

    def _both_ends(self, text: str) -> str:
        """ "between the lowest and the highest temperature" with what both are ends of said twice."""
        said = rf"\b(?P<one>{_LOW_OR_HIGH}) and (?:the )?(?P<other>{_LOW_OR_HIGH}) (?P<what>[a-z]+)"
        match = re.search(said, text, re.I)
        names = [{*stems(name)} for name in self._header.names]
        ends = [[i for i, own in enumerate(names) if {match[way].lower(), *stems(match["what"])} <= own]
                for way in ("one", "other")] if match else []  # fmt: skip
        if match is None or any(len(one) != 1 for one in ends) or ends[0] == ends[1]:
            return text
        return text.replace(match[0], f"{match['one']} {match['what']} and {match['other']} {match['what']}")

    def _marks(self, *kinds: str) -> str:
        """The numbers of the columns of some kinds, as a pattern that fits nothing where there is none."""
        return "|".join(f"{i}" for i in range(len(self._header.names)) if self._header.kind(i) in kinds) or "(?!)"

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

    def _units_held(self, text: str) -> str:
        """ "how many units" as what is in stock, where another column is what one unit costs."""
        held = [i for i, name in enumerate(self._header.names) if _HELD & {*words(name)}]
        if len(held) != 1 or self._header.kind(held[0]) != "number" or self._header.with_word("unit") is None:
            return text
        return re.sub(r"^how many units\b", f"how many {self._header.names[held[0]]}", text, flags=re.I)

    def _aside(self, text: str) -> str:
        """ "how many sick days (working days)" as the working days of what is sick."""
        match = re.match(rf"how many (?P<of>[a-z]+) (?P<noun>[a-z]+) \(#(?P<c>{self._marks('number')})#\)", text, re.I)
        if match is None or not {*stems(match["noun"])} & {*stems(self._header.names[int(match["c"])])}:
            return text
        return f"how many #{match['c']}# of {match['of']}{text[match.end() :]}"

    def _too_late(self, text: str) -> str:
        """ "paid invoices came in after their due date" with the column of when that was, where one says so."""
        match = re.search(r"(?<!#) (?P<how>after|before|later than|earlier than) (?:their|its|the) #(?P<c>\d+)#", text)
        if match is None or self._header.kind(int(match["c"])) != "moment":
            return text
        flags = {root(word) for i in re.findall(rf"#({self._marks('flag')})#", text)
                 for word in words(self._header.names[int(i)])}  # fmt: skip
        days = [i for i, name in enumerate(self._header.names) if self._header.kind(i) == "moment"
                and flags & {*map(root, words(name))} and i != int(match["c"])]  # fmt: skip
        if len(days) != 1:
            return text
        before = re.sub(r" (?:came|come|comes|went|were|was|made)(?: in| out)?$", "", text[: match.start()])
        return f"{before}, #{days[0]}# {match['how']} #{match['c']}#{text[match.end() :]}"

    def _done_often(self, text: str) -> str:
        """ "cooked most often", "did I last cook" with the columns that say how often and when."""
        for column, name in enumerate(self._header.names):
            said = words(name)
            if len(said) == 1 and self._header.kind(column) == "number":
                verb = rf"(?:has|have|had|is|was|were|are) (?:been )?{re.escape(root(said[0]))}(?:ed|d)"
                text = re.sub(rf"\b{verb} (?:the )?(most|least)(?: often| frequently)?\b",
                              rf"has the \1 #{column}#", text, flags=re.I)  # fmt: skip
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

    def _noun_done(self, text: str) -> str:
        """ "sell the most tickets" with the column "tickets sold", where others are about tickets too."""
        for column, name in enumerate(self._header.names):
            noun, done, *more = [*words(name), ""]
            if more != [""] or done not in _DONE_TO or self._header.kind(column) != "number":
                continue
            if re.search(rf"\b(?:{_DONE_TO[done]})\b", text, re.I) and name not in text:
                said = rf"\b{re.escape(noun)}(?! {done})(?= |$)"
                text = re.sub(said, f"{noun} {done}", text, count=1, flags=re.I)
        return text

    def _counted_by_name(self, text: str) -> str:
        """ "how many birds" of bird_observations.csv with the column that says how many."""
        kind = words(self._file.named.rsplit("/")[-1].rpartition(".")[0])[:-1]
        found = [i for i, name in enumerate(self._header.names) if _PIECES_NAMED & {*words(name)}]
        rows = len(kind) == 1 and stems(kind[0]) == [self._header.rows_are]  # sales of sales_may.csv
        if len(kind) != 1 or rows or len(found) != 1 or self._header.kind(found[0]) != "number":
            return text
        said = rf"\b(how many|most|fewest|number of) {re.escape(kind[0])}s?\b(?! {self._header.rows_are})"
        return re.sub(said, rf"\1 #{found[0]}#", text, flags=re.I)

    def _failed(self, text: str) -> str:
        """ "who failed" as not passed."""
        flag = self._header.with_word("passed", "pass")
        failed = flag is not None and self._header.kind(flag) == "flag"
        return re.sub(r"\bfail(?:ed|s)?\b", f"not #{flag}#", text, flags=re.I) if failed else text

    def _undone(self, text: str) -> str:
        """ "unpaid bills" as bills not paid, where a column says whether or when they were."""
        for column in map(int, re.findall(r"\d+", self._marks("flag", "moment"))):
            for word in words(self._header.names[column]):
                if len(word) > 3 and word.endswith(("ed", "id", "ld", "en")):
                    text = re.sub(rf"\bun{word} (\w+)\b", rf"\1 not #{column}#", text, flags=re.I)
                    text = re.sub(rf"\bun{word}\b", f"not #{column}#", text, flags=re.I)
        return text

    def _visited(self, text: str) -> str:
        """Without "to the vet" in a table of vet visits."""
        kind = words(self._file.named.rsplit("/")[-1].rpartition(".")[0])[:-1]
        said = rf" (?:to|at|from|with) the {kind[0]}s?\b(?! [A-Z0-9])" if len(kind) == 1 else "(?!)"
        return re.sub(said, "", text)

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
        match = re.search(rf",? in (?P<unit>{UNIT})(?=,|$),?", text)
        columns = re.findall(r"#(\d+)#", text)
        unit = self._header.of_unit(match["unit"]) if match else None
        own = unit is not None and (not columns or f"{unit}" in columns)
        said = match and any(
            {match["unit"]} & {*said.split()} and {*said.split()} & {*words(self._header.names[int(one)])}
            for said in UNITS.values() for one in columns
        )  # fmt: skip
        return f"{text[: match.start()]} {text[match.end() :]}" if match and (own or said) else text

    def _lasting(self, text: str) -> str:
        """ "cooking time", "took the longest on average" with the column of how long it took."""
        text = re.sub(r"\b(\w+ing) time\b", self._lasted, text, flags=re.I)
        units = {word for unit in ("s", "min", "h") for word in UNITS[unit].split()} | {"duration"}
        lasting = [i for i, name in enumerate(self._header.names) if units & {*words(name)}]
        if len(lasting) != 1 or self._header.kind(lasting[0]) != "number":
            return text
        clock = any(
            self._header.is_clock(i) for i in range(len(self._header.names)) if self._header.kind(i) == "moment"
        )
        if not clock and self._header.with_word("time") is None:
            text = re.sub(r"\b(best|worst) time\b", lambda found: _TIMED[found[1].lower()], text, flags=re.I)
            text = re.sub(rf"\b({_MEASURED_TIME}) ((?:[a-z]+ )?)times?\b", rf"\1 \2#{lasting[0]}#", text, flags=re.I)
        for said, end in (("longest", "highest"), ("shortest|least time|quickest", "lowest")):
            took = rf"\b(?:takes?|took|lasts?|lasted|stayed) (?:the )?(?:{said})"
            text = re.sub(rf"{took} on average$", f"has the {end} average #{lasting[0]}#", text)
            text = re.sub(rf"{took}$", f"has the {end} #{lasting[0]}#", text)
        return text

    def _at_its_rate(self, text: str) -> str:
        """Without "per month" in a question about money, where the only column of money is a monthly one, and the rows
        are not those of one month or another."""
        money = self._header.money
        if len(money) != 1 or self._header.only_day() is not None or not _PRICED.search(text):
            return text
        for said, unit in _RATED.items():
            if said in words(self._header.names[money[0]]):
                text = re.sub(rf" (?:(?:us|me) )?(?:per|an?|each|every) {unit}\b", "", text, flags=re.I)
        return text

    def _lasted(self, match: re.Match[str]) -> str:
        """ "cooking time" as the minutes that something cooks."""
        names = [{root(word) for word in words(name)} for name in self._header.names]
        lasting = [i for i, name in enumerate(names) if root(match[1]) in name and {"minut", "hour", "min"} & name]
        if match[1].lower() in ("playing", "running"):
            units = {*UNITS["s"].split(), *UNITS["min"].split(), *UNITS["h"].split()}
            lasting = [i for i, name in enumerate(self._header.names) if units & {*words(name)[-1:]}]
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
        least = self._header.with_word("minimum", "min", "reorder")
        names = [{*stems(name)} for name in self._header.names]
        stock = [i for i, name in enumerate(names) if {"stock", "hand"} & name and self._header.kind(i) == "number"]
        stock = [i for i in stock if i != least]
        if least is None or len(stock) != 1 or self._header.kind(least) != "number":
            return text
        there = stock[0]
        fallen = (
            r"\b(?:(?:is|are|have|has|fallen|dropped|gone|been) )+(below|under) "
            rf"(?:(?:their|its|the) )?#{least}#"
        )
        return re.sub(fallen, rf"#{there}# \1 #{least}#", text, flags=re.I)

    def _counted_people(self, text: str) -> str:
        """ "absent pupils" and "pupils absent" as the column of numbers alone, where no column names pupils."""
        people = r"(?:pupils?|students?|people|persons?|children|kids|guests?|visitors?|members?|adults?)(?![\w#])"
        numbers = self._marks("number")
        text = re.sub(rf"(#(?:{numbers})#) {people}", r"\1", text, flags=re.I)
        text = re.sub(rf"\b{people} (?=#(?:{numbers})#)", "", text, flags=re.I)
        for one, other in re.findall(rf"#({numbers})# #({numbers})#", text):
            if words(self._header.names[int(one)])[-1].endswith(("ed", "en")):  # "broken eggs"
                text = text.replace(f"#{one}# #{other}#", f"#{one}#")
        return text

    def _about(self, text: str) -> str:
        """Without words between a column of text and its cell, or rows between a question word and a column."""
        texts = self._marks("text")
        text = re.sub(rf"(#(?:{texts})#) (?:on|about) (?!\d)", r"\1 ", text)
        return re.sub(rf"\b(which|what|by|per|different) #R# (#(?:{texts})#)", r"\1 \2", text, flags=re.I)

    def _flagged(self, text: str) -> str:
        """ "all vegetarian recipes" as which they are, "paid = no" as not paid."""
        said = r"(?:=|is|are|says|equals|set to) ?[\"']?(?:(no|false|n)|yes|true|y)\b[\"']?"
        said = rf"(#(?:{self._marks('flag')})#) ?{said}"
        text = re.sub(said, lambda found: f"not {found[1]}" if found[2] else found[1], text, flags=re.I)
        said = rf"^(?:(?:all|the|my|our) )*((?:not )?#(?:{self._marks('flag')})# #R#)"
        return re.sub(said, r"which \1", text, flags=re.I)

    def _per_piece(self, text: str) -> str:
        """ "a bottle of X" with a price per bottle, "cheapest per unit" with a price of a unit."""
        if self._header.with_word("unit") is not None:
            text = re.sub(r"\b(expensive|cheapest) per (?:unit|piece|#\d+#)", r"\1", text, flags=re.I)

        def told(match: re.Match[str]) -> str:
            price, piece = ({*stems(self._header.names[int(match[i])])} for i in (1, 2))
            return f"#{match[1]}# of " if piece <= price else match[0]

        return re.sub(r"#(\d+)# of (?:an? |one |the )?#(\d+)# of ", told, text)

    def _owed(self, text: str) -> str:
        """ "who owes", "still have to pay" as what is not paid, where a column says whether or when it was."""
        paid = [i for i, name in enumerate(self._header.names) if {"paid", "payed"} & {*words(name)}]
        asked = re.match(r"(?:which|who|how many|whose)\b", text, re.I)
        if len(paid) != 1 or not asked or self._header.kind(paid[0]) not in ("flag", "moment"):
            return text
        what = r"(?: (?:(?:their|his|her|its|the|any|some|us|money) ?)+(?:#R#)?)?"
        said = {"flag": f"not #{paid[0]}#", "moment": f"without #{paid[0]}#"}[self._header.kind(paid[0])]
        return re.sub(rf"\b(?:still )?(?:owes?|owing){what}", said, text, flags=re.I)

    def _of_one(self, text: str) -> str:
        """ "red wine" as the rows that are red, "the album Lights" as that cell, where the noun is what a row is."""
        rows = [i for i in range(len(self._header.names)) if self._header.is_rows(i) or i == self._header.label()]
        for column in rows:
            if self._header.kind(column) == "text":
                text = re.sub(rf"\b(of (?:the |my |our |all )*)([a-z]+) #{column}#", r"\1\2 #R#", text)
        return text

    def _most_of(self, text: str) -> str:
        """ "which country do most of my wines come from" as the one with the most of them."""
        rows = "|".join(["R", *(f"{i}" for i in range(len(self._header.names)) if self._names_rows(f"{i}"))])
        done = "come|came|live|work|belong|made|taken|placed|held|go|went|take|happen|have"
        said = (
            r"^(?:(?:from|in|to|at|by|of|on) )?(?:which|what) (#\d+#|day|month|year|weekday) (?:do|did|does|are|were) "
            rf"(?:the )?most (?:of )?(?:(?:the|my|our|these|all) )*#(?:{rows})#"
            rf"(?: (?:{done}))?(?: (?:from|to|in|at|by|of|on))?$"
        )
        return re.sub(said, r"which \1 has the most #R#", text, flags=re.I)

    def _moneyed(self, text: str) -> str:
        """ "how much did A claim" with the amount claimed, "how much has not been paid" with the only amount."""
        asks = re.match(r"how much\b(?! #)(?! (?:more|less)\b)", text, re.I)
        if asks is None or any(f"#{one}#" in text for one in map(int, re.findall(r"\d+", self._marks("number")))):
            return text
        done = re.match(
            r"how much (?:money )?(?:of it )?(?:has|have|was|were|is|are) (?:(?:still|already|yet|been) )*"
            rf"((?:not |without )?)(?:been )?#({self._marks('flag', 'moment')})#",
            text,
            re.I,
        )
        if done and len(self._header.money) == 1:
            return f"total #{self._header.money[0]}# {done[1]}#{done[2]}#{text[done.end() :]}"
        for verb in re.findall(r"\b[a-z]{4,}\b", text[asks.end() :]):
            meant = [i for i in self._header.money if root(verb) in map(root, words(self._header.names[i]))]
            rows = {root(self._header.rows_are), root(self._header.numbered)}
            own = self._header.money if root(verb) in rows and len(self._header.money) == 1 else []
            plain = (
                len(meant) == 1 and root(verb) == root(words(self._header.names[meant[0]])[0]) and verb not in _OF_MONEY
            )
            if len(meant or own) == 1 and (verb not in VERBS or own or plain):
                return re.sub(rf"\b{verb}\b", " ", f"total #{(meant or own)[0]}# {text[asks.end() :]}")
        return text

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

    def _names_rows(self, mark: str) -> bool:
        return mark == "R" or int(mark) in (self._header.label(), self._header.key()) or self._header.is_rows(int(mark))
