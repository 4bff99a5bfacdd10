"""What servers leave in a reply's text that was never meant to be read: special tokens, channels, frames of answers."""

from __future__ import annotations

import re

from habilis.tool_calling.markup.marks import ENDS_OF_TURN, RESULTS

_BEGINNINGS = (
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|start|>assistant",
    "<|begin|>assistant<|content|>",
    "<|begin_of_solution|>",
    "<bos>",
)
_HEADER = re.compile(
    r"(?:<\|start\|>)?(?:assistant)?\s{0,3}<\|channel\|>\s{0,3}(analysis|commentary|final)[^<\n]{0,100}"
    r"(?:<\|constrain\|>\w{0,20}\s{0,3})?<\|message\|>"
)
"""Head of one message of gpt-oss (the harmony format)."""
_BARE_HEADERS = re.compile(r"\Aanalysis(?P<thought>.*?)assistantfinal", re.DOTALL)
"""The same of a server that dropped the special tokens between the words."""
_BARE_START = re.compile(r"\A(?:analysis(?=[A-Z<])|assistant(?=<)|commentary(?=[A-Z<]))")
_FRAME = re.compile(r"\A\s*<answer>(.*?)</answer>\s*\Z", re.DOTALL)


def without_leftovers(text: str) -> str:
    """`text` without the special tokens that it begins or ends with, and what surrounds it of blank space."""
    text = text.strip()
    while True:
        token = next((t for t in (*ENDS_OF_TURN, *RESULTS) if text.endswith(t) and _is_left(text, t)), "")
        begun = next((t for t in (*_BEGINNINGS, *ENDS_OF_TURN) if text.startswith(t)), "")
        if not token and not begun:
            return text
        text = (text[len(begun) :] if begun else text[: -len(token)]).strip()


def _is_left(text: str, token: str) -> bool:
    """Whether a token at the end is none of the text's own: `</s>` may end what `<s>` began, code may end with it."""
    return "<s>" not in text if token == "</s>" else True


def answer_in(text: str) -> str:
    """The answer in a text without calls: of several channels the final one, without any frame around it."""
    text = without_leftovers(text)
    if bare := _BARE_HEADERS.match(text):
        return text[bare.end() :].strip()
    heads = list(_HEADER.finditer(text)) if text.startswith(("<|", "assistant<|")) else []
    if not heads or text[: heads[0].start()].strip():
        framed = _FRAME.match(text)
        return framed[1].strip() if framed else text
    ends = [*(head.start() for head in heads[1:]), len(text)]
    said = {head[1]: text[head.end() : end] for head, end in zip(heads, ends, strict=True)}
    return without_leftovers(said.get("final", said.get("commentary", "")))


def thought_in(text: str) -> str:
    """What stands before calls, without special tokens and heads of messages."""
    text = _BARE_START.sub("", without_leftovers(_HEADER.sub("\n", without_leftovers(text))))
    for token in ENDS_OF_TURN[:7]:
        text = text.replace(token, "")
    return text.strip()
