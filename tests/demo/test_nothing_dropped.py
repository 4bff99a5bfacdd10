"""No part of a question is dropped or taken for another: a number of rows, a cell, a day, a kind, a second sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_own_files import seen
from .test_queries import answered_in

FILES = {
    "flat_viewings.csv": """ref,visitor,flat,pets,agent
V-1,Ana Ruiz,Harbour Court,0,Kim
V-2,Joe Park,Harbour Court,2,Lee
V-3,Mia Lund,Elm House,0,Kim
V-4,Tom Beck,Harbour Court,0,Lee
""",
    "library.json": """[
{"title": "Salt Road", "author": "Ira Bell", "year": 2021, "read": {"date": "2019-04-02", "place": "fair"}},
{"title": "Low Sun", "author": "Ina Falk", "year": 2019, "read": {"date": "2021-01-09", "place": "shop"}},
{"title": "Reeds", "author": "Ira Bell", "year": 2019, "read": {"date": "2021-07-30", "place": "fair"}}]
""",
    "films.csv": """title,director,year,minutes
Ash,Ada Poe,2019,90
Birch,Ben Roy,2020,100
Cedar,Cleo Sun,2020,110
""",
    "van_trips.csv": """Trip No,Driver,Fuel,Tolls,Way
T1,Ada,40,5,Sales
T2,Ben,60,15,Service
T3,Cy,30,1,Sales
T4,Di,70,2,Service
""",
    "tea_stock.csv": """Tin;Tea (g);Tea Type;Bought On
1;100;Green;2022-02-01
2;250;Black;2023-02-01
3;125;Green;2023-05-01
""",
    "till.csv": """receipt,clerk,method,amount
1,Jo,Card,5
2,Jo,Card,6
3,Al,Cash,7
4,Jo,Card,8
""",
}
ASKED = {
    "Which visitors saw Harbour Court without any pets? Names from flat_viewings.csv, please.": "Ana Ruiz, Tom Beck",
    "Which flats did Kim show in flat_viewings.csv? Names.": "Harbour Court, Elm House",
    "How many books did I read in 2021, going by library.json?": "2",
    "How many books in library.json are from 2019?": "2",
    "How many films did I watch in 2020, going by films.csv?": None,
    "How many films were released in 2020, going by films.csv?": "2",
    "Give me the two trip numbers with the highest total (fuel plus tolls) in van_trips.csv, dearest first.": "T2, T4",
    "Which two drivers had the lowest costs (fuel plus tolls) in van_trips.csv?": "Cy, Ada",
    "van_trips.csv: names of the drivers who went somewhere for Sales": "Ada, Cy",
    "What kinds of tea are there in tea_stock.csv? List each one once.": "Green, Black",
    "What kinds of tins are there in tea_stock.csv?": None,
    "How many tins did I buy in 2023, by the Bought On column in tea_stock.csv?": "2",
    "How many tins did I buy in 2023 by bought on in tea_stock.csv?": "2",
    "Which are the receipts that are by Al in till.csv?": "3",
    "Which clerk did we refund the most receipts in till.csv?": None,
    "Which clerk has the most Cash receipts in till.csv?": "Al",
}
"""None: the table cannot tell, or the question may mean two things."""


@pytest.mark.parametrize(("question", "right"), ASKED.items())
def test_every_part_of_a_question_counts(tmp_path: Path, question: str, right: str | None) -> None:
    name = next(one for one in FILES if one in question)
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    assert answered_in(tmp_path, question, seen(name, tmp_path)) == right
