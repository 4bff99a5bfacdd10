"""Calculations that a question explains: what stands around them narrows the rows, or is understood to say no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_own_files import seen
from .test_queries import answered_in

PANTRY = """item,shelf,packs,minimum,price,costs
rice,A,12,6,2.50,20
lentils,A,4,4,3.10,8
oats,B,7,3,1.80,7
honey,B,2,2,6.40,9
tea,B,9,5,4.25,30
salt,C,3,1,0.90,1
"""
ASKED = {
    "How much are the packs on shelf B worth together (packs times price) in pantry.csv?": "63.65",
    "What are the packs for shelf A worth (packs times price) in pantry.csv?": "42.4",
    "What is all the rice we have in packs worth (packs times price), going by pantry.csv?": "30",
    "What did the items in pantry.csv bring in altogether, if we multiply packs by price for each row and add it up?": (
        "108.75"
    ),
    "What was left over from the tea in pantry.csv, that is packs times price minus costs?": "8.25",
    "What is the total value of the items with packs below 5 (packs times price) in pantry.csv?": "27.9",
    "What are the items with packs at minimum worth (packs times price) in pantry.csv?": None,
    "What were the packs worth at the minimum (packs times price) in pantry.csv?": None,
    "What is the packs at 4 worth (packs times price) in pantry.csv?": None,
    "How much would the packs in the cellar be worth (packs times price), by pantry.csv?": None,
    "What are the packs from before May worth (packs times price) in pantry.csv?": None,
    "What is the cheap stuff worth (packs times price) in pantry.csv?": None,
}
"""None: it narrows the rows in a way that the table cannot tell, and must not be passed over."""


@pytest.mark.parametrize(("question", "right"), ASKED.items())
def test_what_narrows_a_calculation_is_never_passed_over(tmp_path: Path, question: str, right: str | None) -> None:
    (tmp_path / "pantry.csv").write_text(PANTRY, encoding="utf-8")
    assert answered_in(tmp_path, question, seen("pantry.csv", tmp_path)) == right
