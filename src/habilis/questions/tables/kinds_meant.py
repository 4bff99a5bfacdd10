"""Kinds of what a table is about: "what kinds of honey are there", "which kind of claim", "late shifts"."""

from __future__ import annotations

import re

from habilis.questions.language import stems
from habilis.questions.tables.lexicon import FILLERS, FUNCTION_WORDS, first_column_for
from habilis.questions.tables.measures import Measures

_NO_KINDS = ("different", "distinct", "unique", "kinds", "types", "expensive", "recent", "popular")
_KINDS = {"type", "kind", "category", "sort", "variety", "species", "genre", "flavour", "flavor"}
_KINDS_OF = (
    r"(?:what|which|list|name) (?:(?:all|the|different|distinct) )*"
    r"(?:kinds|types|sorts|varieties|categories|flavours) of "
    r"(?P<what>[^#]+?)(?: (?:are|is) .*| do (?:i|we) have)?"
)
_NO_KIND = FILLERS | {*FUNCTION_WORDS.split(), *_NO_KINDS}


class KindsMeant(Measures):
    """The columns that say of what kind a row is."""

    def _kinds_there_are(self, text: str) -> str:
        """ "what kinds of honey are there" as the column of its kinds, else the one of that name, if it holds texts."""
        match = re.fullmatch(_KINDS_OF, text, re.I)
        if match is None:
            return text
        names, said = [{*stems(name)} for name in self._header.names], {*stems(match["what"])}
        texts = [i for i in range(len(names)) if self._header.kind(i) == "text" and i != self._header.numbering()]
        kinds = [i for i in texts if _KINDS & names[i]]
        own = [i for i in kinds if said & names[i] or names[i] <= _KINDS] or [i for i in texts if said & names[i]]
        return f"different {self._header.names[own[0]]}" if len(own) == 1 else f"every kind of {match['what']}"

    def _kinds_of_rows(self, text: str) -> str:
        """ "late shifts" as rows of that kind, "how many shifts" as rows, where rows and their kinds have one name."""

        def told(match: re.Match[str]) -> str:
            """The words before a mark, of which the last may be a kind, and the mark of rows where it is one."""
            many, kind, column = match[1], match[2] or "", match[3]
            rows = column == "R" or (self._header.is_rows(int(column)) and self._header.kind(int(column)) == "text")
            if not rows or re.split("[ -]", kind.strip().lower())[0] in _NO_KIND:
                return match[0]
            return f"{many}{kind} #R#" if many.lower() in ("how many", "number of") else f"{many} #R#{kind}"

        return re.sub(r"\b(how many|number of|most|fewest)( [a-z-]+)? #(\w+)#", told, text, flags=re.I)

    def _kind_of(self, text: str) -> str:
        """ "what kind of claim" with the column of kinds."""
        column = first_column_for(self._header, "type kind category sort genre species")
        return text if column is None else re.sub(r"\bwhich kind of (?:#\w+#|\w+)", f"which #{column}#", text)
