"""Whether an answer stands on what is known: each number, date, quotation and proper name of it.

A value stands when the sources hold it, or when it follows from them by a named rule: rounding at the digits shown,
scale, unit, percent, separators, number words, another script, a count of what is listed. Arithmetic is no rule: a sum
comes from a recorded call, which is a source. No model is asked, and nothing raises.

The door is lazy, as is that of `habilis`: an answer comes long after a task's first request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from habilis.core.doors import lazy_door

if TYPE_CHECKING:
    from habilis.grounding.checking import Kind as Kind
    from habilis.grounding.checking import Value as Value
    from habilis.grounding.founding import Unfounded as Unfounded
    from habilis.grounding.founding import founded_by as founded_by
    from habilis.grounding.founding import unfounded as unfounded
    from habilis.grounding.founding import unfounded_data as unfounded_data
    from habilis.grounding.known import Known as Known

_DOOR = {"Kind": "checking", "Value": "checking", "Known": "known"}
_DOOR |= dict.fromkeys(("Unfounded", "founded_by", "unfounded", "unfounded_data"), "founding")
__all__ = [*_DOOR]
__getattr__ = lazy_door(__name__, _DOOR)
