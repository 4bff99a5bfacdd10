"""Which contents of a store its documents refer to: those of `rundir.kept` (trees) and `rundir.datafiles` (files)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from habilis.core.errors import UserError
from habilis.rundir.datafiles import FILES
from habilis.rundir.kept import GENERATIONS, TREE, tree_in

POINTING = (
    rf"/{GENERATIONS}/[0-9]+/{re.escape(TREE)}$|^[^/]+/(tasks|earlier)/[^/]+/{re.escape(TREE)}$"
    rf"|^[^/]+/{FILES}/[0-9a-f]{{64}}\.json$"
)
"""Names of the documents that refer to contents: a regular expression, for Python and for PostgreSQL."""


def pointed(documents: Iterable[tuple[str, bytes]]) -> set[str]:
    """The digests that these documents, each with its name, refer to.

    Raises `UserError` for one that cannot be read: what it refers to is not known, so nothing may be taken for unused.
    """
    found: set[str] = set()
    for name, content in documents:
        try:
            for _, pieces in tree_in(content)["files"].values():
                found.update(map(str, pieces))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(
                f"{name} in the store is damaged ({' '.join(str(error).split())[:80]}), so what it refers to is not "
                "known; bring it back from a copy of the store"
            ) from None
    return found
