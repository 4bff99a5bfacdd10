"""Yes or no about one row, two rows held against each other, and what is in groups: right answers, and honest no."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from .test_own_files import seen
from .test_queries import answered_in

CLUB = {
    "club": "Hill Runners",
    "founded": 1990,
    "teams": [
        {
            "name": "Red",
            "coach": "Ole Berg",
            "members": [
                {"name": "Ada Lind", "age": 31, "level": "A"},
                {"name": "Bo Fjord", "age": 44, "level": "B"},
            ],
        },
        {
            "name": "Blue",
            "coach": "Mia Strand",
            "members": [
                {"name": "Cy Moor", "age": 19, "level": "A"},
                {"name": "Di Vale", "age": 25, "level": "C"},
                {"name": "Ed Frost", "age": 60, "level": "A"},
            ],
        },
        {"name": "Kids", "coach": "Ole Berg", "members": [{"name": "Flo Heath", "age": 12, "level": "C"}]},
    ],
}
DEPARTMENTS = {
    "Kitchen": [{"name": "Ada", "hours": 30}, {"name": "Bo", "hours": 22}],
    "Service": [{"name": "Cy", "hours": 40}, {"name": "Di", "hours": 12}, {"name": "Ed", "hours": 20}],
}
PEOPLE = [
    {"name": "Ada Berg", "age": 34, "city": "Oslo", "salary": 4100, "born": "1990-02-03"},
    {"name": "Ben Moor", "age": 29, "city": "Bergen", "salary": 3900, "born": "1995-07-01"},
    {"name": "Cleo Dahl", "age": 34, "city": "Oslo", "salary": 5200, "born": "1990-11-30"},
    {"name": "Ben Holt", "age": 51, "city": "Voss", "salary": 3000, "born": "1973-04-04"},
]
BOOKS = """title,author,genre,pages,price,rating,published,lent
Fog Harbour,Ines Vale,crime,320,12.5,4.2,2019-03-01,yes
The Long Night,Omar Reed,crime,410,15,3.8,2021-06-10,no
Salt,Pia Holm,poetry,96,9.9,4.7,2018-01-20,no
Green Valley,Ines Vale,novel,280,11,,2020-09-15,yes
"""
CHILDREN = """child,born,height_cm,group
Ida,2017-05-02,112,Bees
Jon,2016-11-20,118,Ants
Kai,2018-01-09,,Bees
"""
FILES = {
    "club.json": json.dumps(CLUB),
    "departments.json": json.dumps(DEPARTMENTS),
    "people.json": json.dumps(PEOPLE),
    "books.csv": BOOKS,
    "children.csv": CHILDREN,
}
IN_GROUPS = [
    ("club.json", "How many members are there?", "6"),
    ("club.json", "How many members are there in all teams?", "6"),
    ("club.json", "How many members does the club have when you count all the teams?", "6"),
    ("club.json", "How many members are there across all teams?", "6"),
    ("club.json", "How many people are in the club?", "6"),
    ("club.json", "Who is the oldest member?", "Ed Frost"),
    ("club.json", "Who is the oldest member of the Blue team?", "Ed Frost"),
    ("club.json", "Who is the oldest member of each team?", "Blue: Ed Frost, Kids: Flo Heath, Red: Bo Fjord"),
    ("club.json", "What is the average age of the Red team?", "37.5"),
    ("club.json", "What is the average age of all members?", "31.833333"),
    ("club.json", "What is the average age per team?", "Blue: 34.666667, Kids: 12, Red: 37.5"),
    ("club.json", "Which team has the most members?", "Blue"),
    ("club.json", "How many members are there per team?", "Blue: 3, Kids: 1, Red: 2"),
    ("club.json", "How many members are there in each team?", "Blue: 3, Kids: 1, Red: 2"),
    ("club.json", "How many teams have more than one member?", "2"),
    ("club.json", "Which team has the highest average age?", "Red"),
    ("club.json", "How many members does the Blue team have?", "3"),
    ("club.json", "How many members are in Blue?", "3"),
    ("club.json", "How many teams are there?", "3"),
    ("club.json", "Who coaches the Blue team?", "Mia Strand"),
    ("club.json", "Which team is Di Vale in?", "Blue"),
    ("club.json", "How old is Ed Frost?", "60"),
    ("club.json", "Which members have level A?", "Ada Lind, Cy Moor, Ed Frost"),
    ("club.json", "How many members of the Blue team have level A?", "2"),
    ("club.json", "List the members of the Red team.", "Ada Lind, Bo Fjord"),
    ("club.json", "Who is in the Kids team?", "Flo Heath"),
    ("departments.json", "How many people work in the Kitchen?", "2"),
    ("departments.json", "Who works the most hours?", "Cy"),
    ("departments.json", "What is the total number of hours in Service?", "72"),
    ("departments.json", "Which department does Di work in?", "Service"),
    ("departments.json", "How many departments are there?", "2"),
]
ONE_ROW = [
    ("books.csv", "Does Fog Harbour have a rating above 4?", "Yes"),
    ("books.csv", "Does The Long Night have a rating above 4?", "No"),
    ("books.csv", "Is the rating of Salt above 4.5?", "Yes"),
    ("books.csv", "Is Salt's rating above 4.8?", "No"),
    ("books.csv", "Is Salt shorter than 100 pages?", "Yes"),
    ("books.csv", "Does Salt have more than 100 pages?", "No"),
    ("books.csv", "Is Fog Harbour a crime book?", "Yes"),
    ("books.csv", "Is Salt a novel?", "No"),
    ("books.csv", "Is Fog Harbour lent?", "Yes"),
    ("books.csv", "Is Salt lent out?", "No"),
    ("books.csv", "Was Salt published before 2019?", "Yes"),
    ("books.csv", "Was The Long Night published in 2020?", "No"),
    ("books.csv", "Does Salt cost less than 10 euros?", "Yes"),
    ("books.csv", "Is Salt by Pia Holm?", "Yes"),
    ("people.json", "Is Ada older than 30?", "Yes"),
    ("people.json", "Is Ben Moor older than 30?", "No"),
    ("people.json", "Does Ada Berg live in Oslo?", "Yes"),
    ("people.json", "Is Ben Holt from Oslo?", "No"),
    ("people.json", "Does Ada Berg earn more than 4000?", "Yes"),
    ("people.json", "Was Ada Berg born before 1985?", "No"),
    ("children.csv", "Is Ida in the Bees?", "Yes"),
    ("children.csv", "Is Jon taller than 120 cm?", "No"),
    ("club.json", "Is Ed Frost older than 50?", "Yes"),
    ("club.json", "Is Ada Lind in the Blue team?", "No"),
]
TWO_ROWS = [
    ("books.csv", "Does Salt cost more than Fog Harbour?", "No"),
    ("books.csv", "Is Salt cheaper than Fog Harbour?", "Yes"),
    ("books.csv", "Does Fog Harbour have more pages than The Long Night?", "No"),
    ("books.csv", "Does Salt have a higher rating than Fog Harbour?", "Yes"),
    ("books.csv", "Was Salt published earlier than Fog Harbour?", "Yes"),
    ("books.csv", "Was Fog Harbour published after Salt?", "Yes"),
    ("books.csv", "Which is cheaper, Salt or Green Valley?", "Salt"),
    ("books.csv", "Which book has more pages, Salt or Fog Harbour?", "Fog Harbour"),
    ("books.csv", "Which book was published first, Salt or Fog Harbour?", "Salt"),
    ("people.json", "Who is older, Ada Berg or Ben Moor?", "Ada Berg"),
    ("people.json", "Who is younger: Ben Moor or Ben Holt?", "Ben Moor"),
    ("people.json", "Who earns more, Ada Berg or Ben Moor?", "Ada Berg"),
    ("people.json", "Is Ada Berg's salary higher than Ben Moor's?", "Yes"),
    ("children.csv", "Is Ida older than Jon?", "No"),
    ("children.csv", "Who is older, Ida or Jon?", "Jon"),
    ("club.json", "Is Di Vale older than Cy Moor?", "Yes"),
]
GIVEN_UP = [
    ("books.csv", "Does Green Valley have a rating above 4?"),
    ("books.csv", "Which has the higher rating, Salt or Green Valley?"),
    ("books.csv", "Is Fog Harbour good?"),
    ("books.csv", "Is Fog Harbour a bestseller?"),
    ("books.csv", "Is Moby Dick longer than 100 pages?"),
    ("books.csv", "Is Moby Dick cheaper than Salt?"),
    ("books.csv", "Is Salt not lent?"),
    ("books.csv", "Is Ines Vale older than 30?"),
    ("books.csv", "Is Fog Harbour better than Salt?"),
    ("books.csv", "Is the crime book longer than 200 pages?"),
    ("books.csv", "Is Salt about the sea?"),
    ("books.csv", "Was Salt lent to Ines Vale?"),
    ("books.csv", "Was Salt written before 2019?"),
    ("books.csv", "Is Salt for Pia Holm?"),
    ("books.csv", "Has Salt been read?"),
    ("people.json", "Did Ada Berg earn more than 4000 in 2023?"),
    ("people.json", "Does Ada Berg earn more than 50000 a year?"),
    ("people.json", "Who was older in 2010, Ada Berg or Ben Moor?"),
    ("people.json", "Is Ben older than 30?"),
    ("people.json", "Is Voss older than 30?"),
    ("people.json", "Who is older, Ada Berg or Cleo Dahl?"),
    ("people.json", "Is Ada Berg older than Cleo Dahl?"),
    ("people.json", "Does Ada Berg like Oslo?"),
    ("people.json", "Did Ada Berg visit Oslo?"),
    ("people.json", "Is Ada Berg married?"),
    ("people.json", "Who is taller, Ada Berg or Ben Moor?"),
    ("people.json", "Is the oldest person from Voss?"),
    ("people.json", "Is Ada Berg younger than 40 and from Bergen?"),
    ("children.csv", "Is Kai taller than Ida?"),
    ("children.csv", "Is Kai taller than 110 cm?"),
    ("club.json", "Is Ole Berg older than Mia Strand?"),
    ("club.json", "How many girls are in the Red team?"),
    ("club.json", "Who is the best member?"),
    ("club.json", "Which members are in all teams?"),
    ("club.json", "How many members are in more than one team?"),
    ("club.json", "How many members does the Green team have?"),
    ("departments.json", "How many hours does Flo work?"),
]


@cache
def folder() -> Path:
    made = Path(mkdtemp())
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


@cache
def answered(name: str, question: str) -> str | None:
    return answered_in(folder(), question, seen(name, folder()))


@pytest.mark.parametrize(("name", "question", "right"), [*IN_GROUPS, *ONE_ROW, *TWO_ROWS])
def test_one_row_or_two_are_told_by_their_names(name: str, question: str, right: str) -> None:
    assert answered(name, question) == right


@pytest.mark.parametrize(("name", "question"), GIVEN_UP)
def test_what_a_row_leaves_open_gets_no_yes_and_no_no(name: str, question: str) -> None:
    assert answered(name, question) is None


def test_groups_whose_numbers_repeat_for_each_member_are_not_added_up_for_them(tmp_path: Path) -> None:
    shelves = [
        {"name": "A", "width": 80, "parts": [{"item": "nut", "stock": 4}, {"item": "bolt", "stock": 9}]},
        {"name": "B", "width": 60, "parts": [{"item": "pin", "stock": 1}]},
    ]
    (tmp_path / "parts.json").write_text(json.dumps({"shelves": shelves}))
    file = seen("parts.json", tmp_path)
    assert answered_in(tmp_path, "What is the total width of the shelves?", file) == "140"
    assert answered_in(tmp_path, "What is the total stock of the parts on shelf A?", file) == "13"
