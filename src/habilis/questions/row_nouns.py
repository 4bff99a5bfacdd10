"""What the rows of a table may be called beyond the last word of its file's name: by other words of it, by what its
columns say that each row is."""

from __future__ import annotations

from collections.abc import Sequence

from habilis.questions.language import stems, words
from habilis.questions.nouns import CONTAINERS, DONE, KINDS, MONTHS, NO_NOUN

_NAMES_THEM = {"name", "title", "label", "address", "item", "thing", "description", "product", "full"}
"""Words of a column that names rows, whatever they are."""
_TOLD_BY = (
    ({"title", "author"}, "book"), ({"title", "director"}, "film movie"), ({"song", "artist"}, "song track"),
    ({"album", "artist"}, "album record"), ({"dish", "ingredient"}, "recipe dish"),
)  # fmt: skip
"""Columns that tell together what a row is."""
_OF_PEOPLE = {"surname", "dob", "birthdate", "birthday", "lastname", "firstname", "forename"}
_PEOPLE = {"person", "people", "member", "participant", "attendee"}
_OF_GROUP = {
    "choir": "singer", "orchestra": "musician", "band": "musician", "team": "player", "squad": "player",
    "class": "pupil student", "staff": "employee worker colleague",
}  # fmt: skip
"""Who is in a group that has a file's name. Not who may be a part of them only, such as the children of a club."""
_OF_YOUNG = {*"camp class school pupil kid nursery playgroup kindergarten junior trip scout".split()}  # noqa: SIM905
_YOUNG = {"child", "kid", "pupil", "student"}


def file_words(stem: str) -> tuple[str, ...]:
    """The nouns of a file's name, in one number."""
    kept = [word for word in words(stem) if word.isalpha() and len(word) > 2 and not word.endswith("ed")]
    return tuple(stems(" ".join(word for word in kept if word not in NO_NOUN | DONE | CONTAINERS | MONTHS)))


def called(of_file: Sequence[str], names: Sequence[str], naming: str | None) -> set[str]:
    """Further words for the rows of a table with these columns, as stems; `naming` is the column that names them.

    The first of two nouns, as in flat_viewings, is what a row is only where a column names each, so that none counts
    twice.
    """
    own = {word for name in names for word in stems(name)}
    found = {word for told, said in _TOLD_BY if told <= own for word in said.split()}
    if naming is not None and {*stems(naming)} <= _NAMES_THEM | {*of_file}:
        found |= {*of_file[-2:]}
    if own & _OF_PEOPLE or any({"first", "name"} <= {*stems(name)} for name in names):
        found |= _PEOPLE | (_YOUNG if {*of_file} & _OF_YOUNG else set())
    if naming is not None or found & _PEOPLE:
        found |= {word for group in of_file for word in _OF_GROUP.get(group, "").split()}
    found |= {*stems(naming)[-1:]} - _NAMES_THEM if naming is not None else set()
    kin = {one for kind in KINDS if found & {*kind.split()} for one in kind.split()}
    return found | kin - own
