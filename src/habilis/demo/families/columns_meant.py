"""Which columns the words of a question mean: by name, by other words for them, by what they hold."""

from __future__ import annotations

import re

from habilis.demo.families.asked import counted
from habilis.demo.families.lexicon import ALIKE, COMES, PEOPLE, REWRITTEN, column_for, first_column_for
from habilis.demo.families.measures import Measures
from habilis.demo.questions.language import stems


class ColumnsMeant(Measures):
    """The columns of one table as a question words them."""

    def _prepared(self, phrase: str) -> str:
        """`phrase` with columns and rows marked, also by other words than their own, and one wording for many."""
        text = phrase
        for pattern, said in REWRITTEN:
            text = re.sub(pattern, said, text, flags=re.I)
        stem = re.escape(self._file.named.rsplit("/")[-1].rpartition(".")[0])
        text = re.sub(rf" (?:in|on|of|from) (?:the|this|my|our) {stem}$", "", text, flags=re.I)
        for end, names in (("lowest", "min minimum"), ("highest", "max maximum")):
            if column_for(self._header, names) is not None:
                word = names.split()[1]
                text = re.sub(
                    rf"(?<!no )(?<!average )(?<!mean )\b(?:{end}|{word}) (?:{word} )?temperature\b",
                    f"{end} {word} temperature",
                    text,
                    flags=re.I,
                )
        text = self._alike(self._verbs(self._header.marked(self._from_where(text))))
        text = re.sub(
            r"(#\d+#) (?:numbers?|address(?:es)?|values?|recorded|given|listed)(?=[ ,]|$)", r"\1", text, flags=re.I
        )
        text = re.sub(
            r"(#\d+#) (?:is |was |were |are )?(negative|positive)\b",
            lambda match: f"{match[1]} {'below' if match[2] == 'negative' else 'above'} 0",
            text,
        )
        text = re.sub(r" (?:each|apiece)$|^(?:all|any) (?:of )?(?:the )?", "", text, flags=re.I)
        total = self._header.names.index("total") if "total" in self._header.names else None
        if total is not None:
            text = re.sub(r"(?<=#R# )totals?\b", f"#{total}#", text, flags=re.I)
            text = re.sub(rf"#R# (?=#{total}#)", "", text)
        text = re.sub(r"^(average|mean|median)(.*?) (?:per|in an?|of an?) #R#", r"\1\2", text, flags=re.I)
        text = re.sub(r"^how (#\d+#) (?:is|was|are) (.+)$", r"\1 of \2", text, flags=re.I)
        for asked, names in (
            ("where (?:does|do|did)(?P<who> .+) (?:live|stay)", "city town place address location"),
            ("how long (?:does|do|did)(?P<who> .+) (?:take|last|need)", "minutes duration"),
        ):
            column = column_for(self._header, names)
            if column is not None:
                text = re.sub(rf"^{asked}$", rf"#{column}# of\g<who>", text, flags=re.I)
        text = re.sub(r"^(?:on|in|at|for|to|from) (?=how many )", "", text, flags=re.I)
        text = re.sub(r"\bnot (?:yet |been |have |has )*#(\d+)#(?: yet)?", self._negated, text, flags=re.I)
        text = counted(re.sub(r"^(?:sum|add)(?: up)? (?:of )?(?:all )?(?:the )?", "total ", text, flags=re.I))
        return re.sub(r"\s+", " ", text).strip(" ,.")

    def _from_where(self, text: str) -> str:
        """ "started at Museum" with the column that says from where."""
        for said, names in COMES:
            column = self._header.with_word(*names.split())
            if column is not None:
                text = re.sub(rf"\b(?:{said}) (?:the )?(?=[A-Z])", f"#{column}#= ", text)
        return text

    def _negated(self, match: re.Match[str]) -> str:
        return f"without #{match[1]}#" if self._header.kind(int(match[1])) in ("moment", "") else match[0]

    def _alike(self, text: str) -> str:
        """Words that mean one column without being in its name, marked."""
        for said, names in ALIKE:
            column = first_column_for(self._header, names)
            if column is not None:
                text = re.sub(rf"(?<![#\w])(?:{said})(?![\w#])", f"#{column}#", text, flags=re.I)
        who = self._who()
        return (
            text
            if who is None
            else re.sub(r"(?<![#\w])(?:persons?|people|everybody|everyone)(?![\w#])", f"#{who}#", text, flags=re.I)
        )

    def _column_in(self, text: str) -> int | None:
        """The first column of `text` that holds numbers; None where it names none."""
        found = [int(one) for one in re.findall(r"#(\d+)#", text)]
        return next((one for one in found if self._header.kind(one) in ("number", "")), None)

    def _money(self, text: str = "") -> int | None:
        ways = ["total", "amount", "revenue"]
        if re.search(r"\b(?:spent|spend|spending|paid|pay|payments?|costs?|expenses)\b", text, re.I):
            ways += ["cost", "debit", "paid"]
        elif re.search(r"\b(?:came in|received|earned|earn|income|deposited)\b", text, re.I):
            ways = ["income", "credit", *ways[:1]]
        return next(
            (
                one
                for names in ways
                if (one := column_for(self._header, names)) is not None and self._header.kind(one) == "number"
            ),
            None,
        )

    def _only_number(self) -> int | None:
        found = [one for one in range(len(self._header.names)) if self._header.kind(one) == "number"]
        return found[0] if len(found) == 1 else None

    def _moment_name(self) -> str | None:
        moment = self._header.only_day()
        return None if moment is None else self._header.names[moment]

    def _who(self) -> int | None:
        label = self._header.label()
        if label is not None and (self._header.is_people or set(stems(self._header.names[label])) & PEOPLE):
            return label
        return self._header.with_word(*PEOPLE)

    def _whose(self, asks: str) -> str | None:
        column = self._who() if asks.lower() == "who" else self._header.label()
        return None if column is None else self._header.names[column]
