"""What can be said of an answer without a model: rules that refuse it, and rules that accept it where no judge tells.

All of them look at the `Evidence`: the question, its files, the calls that were made and what they gave. `refusing`
goes through the rules that refuse: those about the arguments of calls are in `arguments`, `quoted` and `ends`, those
about what an answer makes of the results in `retelling`, `leaves`, `other_kinds` and `units`. `settling` accepts one
result of one call that does no more and no less than was asked, as far as `bounds`, `number_order` and `rounding` see.
`phrases` are the words for what went wrong.
"""

from habilis.rules.evidence import Evidence, Refusal, plain
from habilis.rules.phrases import UNDONE
from habilis.rules.refusing import (
    MAX_TEXT,
    NO_CALL,
    TELLING,
    WORK,
    mistelling,
    refusal,
)
from habilis.rules.settling import OwnTool, plain_telling, settled, words_in

__all__ = [
    "MAX_TEXT",
    "NO_CALL",
    "TELLING",
    "UNDONE",
    "WORK",
    "Evidence",
    "OwnTool",
    "Refusal",
    "mistelling",
    "plain",
    "plain_telling",
    "refusal",
    "settled",
    "words_in",
]
