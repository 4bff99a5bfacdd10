"""Questions for a whole column, in the order of its rows or in one that is named: the right cells, or none at all."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from habilis.contract.taskfiles import gather, view
from habilis.demo.following import understood
from habilis.demo.understanding import Understood
from habilis.questions.operations import result_of
from habilis.questions.prompts import Seen, SeenFile

from .test_queries import answered_in, tool

PEOPLE = """name,age,city,joined
Ana,31,Oslo,2020-03-01
Bo,9,Bergen,2019-05-02
Cy,100,Oslo,2021-01-15
Di,45,Bergen,2018-11-30
"""
BOOKS = """title,author,year,price,pages
Zeta,Kay,1999,9.50,120
alpha,Lee,2011,12.00,90
Miro,Kay,1985,7.25,300
"""
GOODS = """product,month,price,rank,score,size,due,paid
lamp,January,10,2,70,S,2024-03-01,yes
chair,April,20,1,90,L,2024-01-05,no
desk,March,15,3,80,M,2024-02-01,yes
"""
SPENT = """date,item,cost,total
05.01.2024,pen,2.50,10
01.12.2023,ink,1.50,30
02.02.2024,cup,12.00,12
"""
DOUBTFUL = """name,age,born,email,start,place,code
Ana,31,03/04/1990,a@x.org,2024-01-02,Åmot,10
Bo,31,05/06/1991,b@x.org,2024-01-03 08:00,Oslo,9
Ana,28,07/08/1992,,2024-01-01,Bergen,A7
"""
CASES = "name,city\nAna,Oslo\nBo,Bergen\nCy,oslo\n"
FILMS = json.dumps([{"title": "Aa", "tags": ["x", "y"], "year": 2001}, {"title": "Bb", "tags": ["y"], "year": 1999}])
TABLES = {
    "people.csv": PEOPLE,
    "books.csv": BOOKS,
    "goods.csv": GOODS,
    "spent.csv": SPENT,
    "doubtful.csv": DOUBTFUL,
    "cases.csv": CASES,
    "films.json": FILMS,
    "bare.csv": "17,2024-01-01\n18,2024-01-02\n19,2024-01-03\n",
}


def asked(question: str, name: str, folder: Path) -> str | None:
    """The answer about one of `TABLES`, as a prompt shows it."""
    (folder / name).write_text(TABLES[name], encoding="utf-8")
    shown = view(gather("", [folder / name], folder)[0])[0]
    begins = "\n".join(line[4:] for line in str(shown["begins"]).splitlines())
    return answered_in(folder, question, SeenFile(name, begins, bool(shown.get("nameless"))))


@pytest.mark.parametrize(
    ("question", "name", "right"),
    [
        ("List all names", "people.csv", "Ana, Bo, Cy, Di"),
        ("What are the names?", "people.csv", "Ana, Bo, Cy, Di"),
        ("Please list all the names.", "people.csv", "Ana, Bo, Cy, Di"),
        ("Show me every city", "people.csv", "Oslo, Bergen"),
        ("Which cities are there?", "people.csv", "Oslo, Bergen"),
        ("List the ages", "people.csv", "31, 9, 100, 45"),
        ("List the authors", "books.csv", "Kay, Lee"),
        ("What are the titles of all books?", "books.csv", "Zeta, alpha, Miro"),
        ("List all prices", "goods.csv", "10, 20, 15"),
        ("List the due dates", "goods.csv", "2024-03-01, 2024-01-05, 2024-02-01"),
        ("List all names in people.csv", "people.csv", "Ana, Bo, Cy, Di"),
        ("In people.csv: list all names", "people.csv", "Ana, Bo, Cy, Di"),
        ("Who lives in Oslo? List the names.", "people.csv", "Ana, Cy"),
    ],
)
def test_a_whole_column_is_listed_as_it_stands(question: str, name: str, right: str, tmp_path: Path) -> None:
    assert asked(question, name, tmp_path) == right


@pytest.mark.parametrize(
    ("question", "name", "right"),
    [
        ("The titles from oldest to newest", "books.csv", "Miro, Zeta, alpha"),
        ("List the books, newest first", "books.csv", "alpha, Zeta, Miro"),
        ("List all names from oldest to youngest", "people.csv", "Cy, Di, Ana, Bo"),
        ("List the people from youngest to oldest", "people.csv", "Bo, Ana, Di, Cy"),
        ("Sort by age and list the names", "people.csv", "Bo, Ana, Di, Cy"),
        ("Sort the people by age, then list the names", "people.csv", "Bo, Ana, Di, Cy"),
        ("List the names sorted by age, descending", "people.csv", "Cy, Di, Ana, Bo"),
        ("List the names in descending order of age", "people.csv", "Cy, Di, Ana, Bo"),
        ("List all ages in ascending order", "people.csv", "9, 31, 45, 100"),
        ("List the ages from highest to lowest", "people.csv", "100, 45, 31, 9"),
        ("List the names in order of when they joined", "people.csv", None),
        ("Order the books by price, cheapest first", "books.csv", "Miro, Zeta, alpha"),
        ("List the books from the cheapest to the most expensive", "books.csv", "Miro, Zeta, alpha"),
        ("List titles by pages", "books.csv", "alpha, Zeta, Miro"),
        ("List the titles by number of pages, most first", "books.csv", "Miro, Zeta, alpha"),
        ("List the books with the longest first", "books.csv", "Miro, Zeta, alpha"),
        ("List the titles alphabetically", "books.csv", "alpha, Miro, Zeta"),
        ("List the titles from Z to A", "books.csv", "Zeta, Miro, alpha"),
        ("List the authors in reverse alphabetical order", "books.csv", "Lee, Kay"),
        ("List the products in chronological order", "goods.csv", "chair, desk, lamp"),
        ("List the products by due date, most recent first", "goods.csv", "lamp, desk, chair"),
        ("List the due dates from earliest to latest", "goods.csv", "2024-01-05, 2024-02-01, 2024-03-01"),
        ("List the months alphabetically", "goods.csv", "April, January, March"),
        ("Sort the products by score", "goods.csv", "lamp, desk, chair"),
        ("List the items from oldest to newest", "spent.csv", "ink, pen, cup"),
        ("Sort spent.csv by cost and list the items", "spent.csv", "ink, pen, cup"),
        ("List the titles from newest to oldest", "films.json", "Aa, Bb"),
    ],
)
def test_rows_come_in_the_order_that_is_named(question: str, name: str, right: str | None, tmp_path: Path) -> None:
    assert asked(question, name, tmp_path) == right


@pytest.mark.parametrize(
    ("question", "name"),
    [
        # a condition, another column or a number of rows that would be passed over
        ("List the names of people in Oslo from oldest to youngest", "people.csv"),
        ("List the names of people over 30 by age", "people.csv"),
        ("List the products that are paid by price", "goods.csv"),
        ("List the products cheaper than 18, cheapest first", "goods.csv"),
        ("List the products with their prices, cheapest first", "goods.csv"),
        ("List the names and ages", "people.csv"),
        ("List the first three names in alphabetical order", "people.csv"),
        ("Sort by price and list the first two products", "goods.csv"),
        ("Sort by price and show the most expensive product", "goods.csv"),
        ("Names ordered by age then city", "people.csv"),
        ("List the products by price and by score", "goods.csv"),
        ("List the cities and count them", "people.csv"),
        ("How many people live in Oslo and what are the names?", "people.csv"),
        # nobody knows by what, or which way
        ("List the names in order", "people.csv"),
        ("List the books in reverse order", "books.csv"),
        ("Rank the books by price", "books.csv"),
        ("List the products by score", "goods.csv"),
        ("List the products, highest rank first", "goods.csv"),
        ("List the products sorted by score, best first", "goods.csv"),
        ("List the products from cheapest to longest", "goods.csv"),
        ("List the items from cheapest to most expensive", "spent.csv"),
        ("List the products sorted by price alphabetically", "goods.csv"),
        # texts that have an order besides that of letters, and groups
        ("Sort the products by month and list the products", "goods.csv"),
        ("List the months in ascending order", "goods.csv"),
        ("List the sizes from smallest to largest", "goods.csv"),
        ("List the names by city", "people.csv"),
        ("List the products by size", "goods.csv"),
        # one cell, or a sum
        ("What is the price?", "goods.csv"),
        ("What are the prices?", "goods.csv"),
        ("What are the costs?", "spent.csv"),
        # cells that repeat, are blank, or have no order among them
        ("List all names", "doubtful.csv"),
        ("List all ages", "doubtful.csv"),
        ("List the names by age", "doubtful.csv"),
        ("List the ages from lowest to highest", "doubtful.csv"),
        ("List the authors from oldest to newest", "books.csv"),
        ("List the places sorted by born", "doubtful.csv"),
        ("List the places by email", "doubtful.csv"),
        ("List the places by start", "doubtful.csv"),
        ("List the places by code", "doubtful.csv"),
        ("List the places alphabetically", "doubtful.csv"),
        ("List all cities", "cases.csv"),
        ("List all tags", "films.json"),
        ("List all names sorted by age", "bare.csv"),
    ],
)
def test_what_leaves_the_order_or_the_rows_open_gets_no_answer(question: str, name: str, tmp_path: Path) -> None:
    assert asked(question, name, tmp_path) is None


@pytest.mark.parametrize(
    ("question", "before", "is_known"),
    [
        ("List the names", (), True),
        ("List the names", (("How many people live in Oslo?", "2"),), False),
        ("And the names?", (("How many people live in Oslo?", "2"),), False),
        ("Sort by age and list the names", (("Who lives in Oslo?", "Ana, Cy"),), False),
        ("List all names", (("How many people live in Oslo?", "2"),), True),
    ],
)
def test_behind_another_question_the_names_may_be_those_of_its_rows(
    question: str, before: tuple[tuple[str, str], ...], is_known: bool
) -> None:
    shown = "".join(f"    {line}\n" for line in PEOPLE.splitlines())
    files = f"- people.csv (/home/ada/people.csv), begins:\n{shown}"
    found = understood(Seen("execute", parts={"question": question, "files": files}, earlier=before))
    assert isinstance(found, Understood) is is_known


def test_names_are_those_of_the_columns_only_where_no_column_has_names(tmp_path: Path) -> None:
    assert asked("What are the column names?", "people.csv", tmp_path) == "name, age, city, joined"
    assert asked("List the names", "spent.csv", tmp_path) == "date, item, cost, total"
    assert asked("List the names", "people.csv", tmp_path) == "Ana, Bo, Cy, Di"


def test_a_group_is_still_counted_where_names_are_not_listed(tmp_path: Path) -> None:
    assert asked("Members per city?", "people.csv", tmp_path) == "Bergen: 2, Oslo: 2"
    assert asked("List the number of people by city", "people.csv", tmp_path) == "Bergen: 2, Oslo: 2"
    assert asked("Name the author with the most books", "books.csv", tmp_path) == "Kay"


QUIET = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
DAYS = st.dates(date(1990, 1, 1), date(2030, 12, 31))
NUMBERS = st.integers(-(10**6), 10**6)
TEXTS = st.text("abcXYZ", min_size=1, max_size=6).map("Q".__add__)


def written_in(folder: Path, cells: list[str], order: str) -> dict[str, Any]:
    """What the tool makes of a table with these cells, each row named by its place."""
    rows = "".join(f'"row {"x" * place}","{cell}"\n' for place, cell in enumerate(cells, 1))
    (folder / "t.csv").write_text(f"name,value\n{rows}", encoding="utf-8")
    loaded, operation, fields = tool("query_cells")
    said = {"path": "t.csv", "column": "name", "conditions": [], "order": order}
    output = loaded.call({fields.inputs[role]: value for role, value in said.items()}, folder)
    found = result_of(operation, output)
    return {"error": output["error"], "places": None if output["error"] else [name.count("x") - 1 for name in found]}


def in_order(values: list[Any], way: str) -> list[int]:
    return sorted(range(len(values)), key=values.__getitem__, reverse=way == "descending")


@QUIET
@given(st.lists(NUMBERS, min_size=2, max_size=9, unique=True), st.sampled_from(["ascending", "descending"]))
def test_numbers_are_put_in_order_by_value(tmp_path: Path, cents: list[int], way: str) -> None:
    cells = [f"{value / 100:,.2f}" for value in cents]
    assert written_in(tmp_path, cells, f"all {way} by value")["places"] == in_order(cents, way)


@QUIET
@given(
    st.lists(DAYS, min_size=2, max_size=9, unique=True),
    st.sampled_from(["ascending", "descending"]),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d %B %Y"]),
)
def test_dates_are_put_in_order_of_time(tmp_path: Path, days: list[date], way: str, form: str) -> None:
    cells = [day.strftime(form) for day in days]
    assert written_in(tmp_path, cells, f"all {way} by value")["places"] == in_order(days, way)


@QUIET
@given(
    st.lists(TEXTS, min_size=2, max_size=9, unique_by=str.casefold),
    st.sampled_from(["ascending", "descending"]),
)
def test_texts_are_put_in_order_of_letters_whatever_their_case(tmp_path: Path, texts: list[str], way: str) -> None:
    values = [text.casefold() for text in texts]
    assert written_in(tmp_path, texts, f"all {way} by value")["places"] == in_order(values, way)


@QUIET
@given(st.lists(NUMBERS.map(str) | DAYS.map(str) | TEXTS, min_size=2, max_size=6, unique_by=str.casefold))
def test_cells_of_several_kinds_have_no_order(tmp_path: Path, cells: list[str]) -> None:
    kinds = {"text" if cell[0] == "Q" else "date" if cell.count("-") == 2 else "number" for cell in cells}
    found = written_in(tmp_path, cells, "all ascending by value")
    assert bool(found["error"]) is (len(kinds) > 1)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["3", "1", "3"], "repeats"),
        (["3", "", "1"], "blank"),
        (["Qa", "n/a", "Qb"], ""),
        (["2024-01-02", "2024-01-01 08:00"], "lack a date or a time"),
        (["08:00", "2024-01-01 08:00"], "lack a date or a time"),
        (["03/04/2024", "05/06/2024"], "told apart"),
        (["Åse", "Ole"], "depends on the language"),
        (["Room 9", "Room 10"], ""),
    ],
)
def test_the_tool_says_why_an_order_is_open(cells: list[str], said: str, tmp_path: Path) -> None:
    found = written_in(tmp_path, cells, "all ascending by value")
    assert found["error"]
    assert said in found["error"]


def test_times_of_one_day_are_put_in_order(tmp_path: Path) -> None:
    start = datetime(2024, 1, 1, 22, 30)
    cells = [str(start + timedelta(minutes=passed)) for passed in (95, 0, 7)]
    assert written_in(tmp_path, cells, "all ascending by value")["places"] == [1, 2, 0]
