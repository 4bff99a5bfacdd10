"""How far two texts are apart: edit distance, Hamming distance, the longest common subsequence."""

from __future__ import annotations

from habilis.demo.families.asked import Asked
from habilis.demo.world import MARK, Call, World


class Distances(Asked):
    """Family of comparisons of two texts that stand in the question, quoted or as single words."""

    name = "distances"

    def read(self, phrase: str, world: World) -> Call | None:
        return None if MARK in phrase else self.asked(phrase, world)
