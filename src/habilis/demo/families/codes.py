"""Encodings and hashes: base64, hex, percent-encoding and rot13 of a text, digests of a text or a file."""

from __future__ import annotations

import re
from typing import ClassVar

from habilis.demo.families.asked import AskedPatterns, Match, Values, value_of
from habilis.questions.operations import DemoOperation
from habilis.questions.world import MARK, World

_NO_VALUE = r"it|this|that|them|these|those|text|string|word|phrase|message|sentence|bytes|code|file|content|contents"
"""Words that mean something else than themselves, unless they are quoted."""


class Codes(AskedPatterns):
    """Family of encodings and hashes. What is to be encoded stands in the question, quoted or as one word."""

    words: ClassVar = {"FILE": rf"(?P<file>{MARK}[0-9]+)"}

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        said = match.groupdict()
        if said.get("file"):
            return {}
        value = said["text"]
        if MARK in value or re.fullmatch(_NO_VALUE, value, re.I):
            return None
        value = value_of(operation.inputs[0], value, world)
        hexes = operation.key == "hex_encode" and re.fullmatch("[0-9]+", value)
        if hexes and not re.search(r"\b(?:encod|text|string|word)", match[0], re.I):
            return None  # more likely a number that is to be written in another base
        return {operation.inputs[0].role: value}
