"""Ticks, counts of what a row holds several of, sexes as letters, a statement before the question that comes back to
it. What a user would lose: rows counted for what they hold, half a condition, an answer about the wrong end."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType

import pytest

from habilis.demo.families.queries import _Query

from .test_own_files import seen
from .test_queries import answered_in

FILES = {
    "crates_packed.csv": """Crate,Going to,What for,Kg,Heavy,Opened
1,attic,lamps,14.5,✓,✓
2,cellar,tools,21,,✓
3,cellar,paint,,✓,
4,attic,cushions,6,,
""",
    "crossed.csv": """Lot,Hammer,Low Est,Sold On,Paid
A1,$525.00,$400.00,04/13/2024,x
A2,$65.00,$80.00,04/13/2024,
A3,,$90.00,,
A4,$1,310.00,$900.00,04/14/2024,x
""".replace("$1,310.00", '"$1,310.00"'),
    "beetle trap.csv": """Night,Species,Count,Site
2024-05-11,Stag,3,Oak
2024-05-11,Rose,5,Oak
2024-06-02,Stag,1,Pond
2024-06-20,Stag,2,Pond
""",
    "fox admissions.csv": """Name,Came in,Sex,Weight (g),Fee
Ash,2024-03-01,F,5100,12
Bryn,2024-03-09,M,6200,
Cole,2024-04-02,F,4300,30
Dot,2024-04-20,M,,18
""",
    "kiln_firings.csv": """Firing #,Date,Type,Top temp,Hours,kWh
1,2024-01-06,bisque,998,9.5,41
2,2024-01-09,glaze,1222,8,56
3,2024-02-14,bisque,1000,9.1,40
4,2024-02-20,raku,990,2,9
""",
    "dogs_fed.csv": """Dog,Owner,Food (kg)
Rex,Ann,12
Bo,Jim,9
Fay,Kim,15
""",
}
ASKED = {
    # ticks, and what is not ticked
    "How many crates are heavy in crates_packed.csv?": "2",
    "How many crates have we not opened yet in crates_packed.csv?": "2",
    "Which heavy crates are not opened in crates_packed.csv?": "3",
    "What percentage of the crates are opened in crates_packed.csv?": "50",
    "Which lots are not paid in crossed.csv?": "A2, A3",
    # a row holds several, and one row is one
    "How many beetles did I catch in total on the night of 11 May in beetle trap.csv?": "8",
    "How many different beetle species are there in beetle trap.csv?": "2",
    # sexes as letters
    "How many of my foxes are female in fox admissions.csv?": "2",
    "What is the average weight of the females in fox admissions.csv?": "4700",
    # a statement, and a question that comes back to it
    "A couple of foxes have no fee entered. What names are they in fox admissions.csv?": "Bryn",
    "One of the foxes has no weight entered. Which name is it in fox admissions.csv?": "Dot",
    "One of the firings has no hours. Which date was it in kiln_firings.csv?": None,
    # from the first to the last
    "How many days after my first Stag record was my last one in beetle trap.csv?": "40",
    "How many days after the first bisque firing was the last one in kiln_firings.csv?": "39",
    # columns by what they measure, and prices by their column
    "What is the total weight in kg of the crates going to the attic in crates_packed.csv?": "20.5",
    "Average length of a bisque firing in hours in kiln_firings.csv": "9.3",
    "How many kWh per hour did firing 2 use in kiln_firings.csv?": "7",
    "What's the grand total of the hammer prices in crossed.csv?": "1900",
    "Which lots didn't sell in crossed.csv?": "A3",
    "Which dog is the heaviest in dogs_fed.csv?": None,
    "What is the average weight of the dogs in dogs_fed.csv?": None,
    # conditions on one and also another, between two days of a month, of some a share
    "How many firings took more than 8.5 hours and also at least 41 kWh in kiln_firings.csv?": "1",
    "How many kWh did I use between the 1st and the 10th of January, both included, in kiln_firings.csv?": "97",
    "Of the firings in January, what percentage were glaze in kiln_firings.csv?": "50",
    "Which type goes out the most in kiln_firings.csv?": "bisque",
    "How much higher is the fee of Cole than of Ash in fox admissions.csv?": "18",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("plainly")
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize("question", ASKED)
def test_what_is_plainly_said_is_read(question: str, folder: Path) -> None:
    name = next(name for name in FILES if name in question)
    assert answered_in(folder, question, seen(name, folder)) == ASKED[question]


def test_no_rule_of_a_reader_hides_anothers() -> None:
    """A reader is made of many classes: a rule of the same name would take the place of another one, unseen."""
    owners: dict[str, FunctionType] = {}
    for one in _Query.__mro__:
        for name, rule in vars(one).items():
            if isinstance(rule, FunctionType):
                first = owners.setdefault(name, rule)
                assert first is rule or name in first.__code__.co_names or name == "__init__", f"{name} of {one}"
