"""What can be said of an answer without a model: rules that refuse it, and rules that accept it where no judge tells.

All of them look at the `Evidence`: the question, its files, the calls that were made and what they gave. `refusing`
goes through the rules that refuse: those about the arguments of calls are in `arguments`, `quoted` and `ends`, those
about what an answer makes of the results in `retelling`, `leaves`, `other_kinds` and `units`. `settling` accepts one
result of one call that does no more and no less than was asked, as far as `bounds`, `number_order` and `rounding` see.
`phrases` are the words for what went wrong.

The door is lazy, as is that of `habilis`: an answer comes long after a task's first request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from habilis.core.doors import lazy_door

if TYPE_CHECKING:
    from habilis.rules.evidence import Evidence as Evidence
    from habilis.rules.evidence import Refusal as Refusal
    from habilis.rules.evidence import plain as plain
    from habilis.rules.phrases import UNDONE as UNDONE
    from habilis.rules.refusing import MAX_TEXT as MAX_TEXT
    from habilis.rules.refusing import NO_CALL as NO_CALL
    from habilis.rules.refusing import TELLING as TELLING
    from habilis.rules.refusing import WORK as WORK
    from habilis.rules.refusing import mistelling as mistelling
    from habilis.rules.refusing import refusal as refusal
    from habilis.rules.settling import OwnTool as OwnTool
    from habilis.rules.settling import plain_telling as plain_telling
    from habilis.rules.settling import settled as settled
    from habilis.rules.settling import words_in as words_in

_DOOR = dict.fromkeys(("Evidence", "Refusal", "plain"), "evidence") | {"UNDONE": "phrases"}
_DOOR |= dict.fromkeys(("MAX_TEXT", "NO_CALL", "TELLING", "WORK", "mistelling", "refusal"), "refusing")
_DOOR |= dict.fromkeys(("OwnTool", "plain_telling", "settled", "words_in"), "settling")
__all__ = [*_DOOR]
__getattr__ = lazy_door(__name__, _DOOR)
