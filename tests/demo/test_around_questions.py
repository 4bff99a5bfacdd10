"""Sentences around a question, rows called by other nouns than the file's, files named in words: each is understood
where it can only mean one thing, and otherwise nothing is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.demo.called import spelled_out, with_file_named
from habilis.demo.framing import framed
from habilis.questions.prompts import SeenFile

from .test_own_files import seen
from .test_queries import answered_in

FILES = {
    "canoe_trips.csv": """Date,Skipper,River,Km,Paddlers,Water (°C),Fee,Fee paid,Rated
2024-04-06,Ines,Lahn,18,6,9.5,12,yes,4
2024-04-20,Omar,Lahn,24,4,11,12,no,
2024-05-11,Ines,Ruhr,15,8,14,15,yes,5
2024-06-01,Lotte,Ruhr,15,5,17.5,15,no,3
2024-06-15,Ines,Main,31,7,19,20,yes,5
""",
    "loft_viewings.csv": """Address,Area,Rent,Seen on,Pets ok,Agent
"Loft 2, 5 Elm Row",East,900,2024-03-02,Y,Hart
8 Birch Lane,West,740,2024-03-05,N,Hart
"Loft 1, 9 Oak Way",East,1010,2024-03-09,Y,Munro
4 Ash Court,North,830,2024-03-12,Y,Hart
""",
    "harbour_choir.csv": """Name,Voice,Age,Height (cm),Joined,Rehearsals attended,Can read music
Ada Poe,alto,41,170,2015-09-01,20,yes
Ben Roy,bass,29,182,2019-01-15,11,no
Cleo Sun,alto,35,165,2021-03-10,16,yes
Dev Lal,tenor,52,176,2012-05-05,8,yes
""",
    "tart_orders.csv": """Order,Customer,Customer type,Tart,Size,Price,Delivery
101,Kit,private,lemon,large,30,yes
102,Moe,shop,carrot,small,16,no
103,Kit,private,carrot,large,28,yes
104,Kit,private,lemon,small,18,no
105,Zoe,shop,lemon,large,31,yes
""",
}
ASKED = {
    # what is said around a question
    "How many trips went down the Lahn? My log is canoe_trips.csv.": "2",
    "How many kilometres did Ines do in total? Please look in canoe_trips.csv.": "64",
    "What is the average water content in canoe_trips.csv?": "14.2",
    "What's the average fee in canoe_trips.csv? Two decimals will do.": "14.80",
    "Which trips are not paid in canoe_trips.csv? I only care about May.": None,
    "canoe_trips.csv: what was the longest trip in km? One decimal is plenty, thanks.": "31.0",
    "How many lofts are in the East? I want to ring the owners. It's all in loft_viewings.csv.": "2",
    "How many lofts are there? I want to leave out the East. It's all in loft_viewings.csv.": None,
    # rows by other nouns
    "Which loft in loft_viewings.csv has the lowest rent?": "8 Birch Lane",
    "Which area has the most lofts in loft_viewings.csv?": "East",
    "How many altos do we have in harbour_choir.csv?": "2",
    "How many children are there in harbour_choir.csv?": None,
    "How many singers joined before 2016 in harbour_choir.csv?": "2",
    "How many cats are there in loft_viewings.csv?": None,
    # words that a column says again, or beside it
    "On average, how many rehearsals did the altos attend in harbour_choir.csv?": "18",
    "What's the difference in age between the oldest and the youngest singer in harbour_choir.csv?": "23",
    "What's the difference in age between the tallest and the shortest singer in harbour_choir.csv?": None,
    "Which voice group has the highest average age in harbour_choir.csv?": "tenor",
    "Which customer type has the most orders in tart_orders.csv?": "private",
    "Which customer group has the most orders in tart_orders.csv?": None,
    "How many lemon tarts were ordered in tart_orders.csv?": "3",
    "What is the average price of a large tart in tart_orders.csv? To two decimals, please.": "29.67",
    "Who is our most frequent customer in tart_orders.csv?": "Kit",
    "How many orders are marked yes for delivery in tart_orders.csv?": "3",
    "What is the total value of all orders in tart_orders.csv?": "123",
    "How many trips have I not rated in canoe_trips.csv?": "1",
    "How much in fees is still outstanding in canoe_trips.csv?": "27",
    # two kinds of rows
    "Did Ines cover more km in total than Omar in canoe_trips.csv?": "Yes",
    "Was the total rent in the West higher than in the East in loft_viewings.csv?": "No",
    "Is the average age of the altos higher than that of the basses in harbour_choir.csv?": "Yes",
    "Were there more orders from Moe than from Kit in tart_orders.csv?": "No",
    "Were there more orders from Kit than from anyone else in tart_orders.csv?": None,
    "Did Ines paddle more than Omar in canoe_trips.csv?": None,
    # files named in words
    "How many trips did Ines lead? See the canoe trips list.": "3",
    "In my loft viewings spreadsheet, what is the highest rent?": "1010",
    "whats the highest rent in the loft_viewings file, pls": "1010",
}
"""None: it may mean two things, or what it means is not there."""


@pytest.mark.parametrize(("question", "right"), ASKED.items())
def test_what_stands_around_a_question_is_understood(tmp_path: Path, question: str, right: str | None) -> None:
    stems = {name: name.removesuffix(".csv") for name in FILES}
    said = question.replace(" ", "_")
    name = next(name for name, stem in stems.items() if stem in said)
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    assert answered_in(tmp_path, question, seen(name, tmp_path)) == right


@pytest.mark.parametrize(
    "question",
    [
        "How many of the loft viewings were in May?",
        "Which of the loft viewings who came twice?",
        "How many loft viewings are there in old.csv?",
        "How many viewings are in the list?",
    ],
)
def test_words_that_mean_rows_are_no_file(question: str) -> None:
    assert with_file_named(question, [SeenFile("loft_viewings.csv", "Address,Area\n1 Elm,East")]) == question


@pytest.mark.parametrize(
    "question",
    [
        "How many are late? Only count those from May. They are in x.csv.",
        "How many are late? The red ones are in x.csv.",
        "How many? x.csv has two kinds of late.",
        "How many are there? Round up. x.csv",
    ],
)
def test_a_sentence_that_narrows_stays(question: str) -> None:
    file = SeenFile("x.csv", "name,late,kind\nada,yes,red")
    kept = framed(question, [file])
    for sentence in ("Only count those from May", "red", "two kinds of late", "Round up"):
        assert (sentence in question) == (sentence in kept)


@pytest.mark.parametrize("question", ["What is the most common word in the data", "How many guests said thank you?"])
def test_the_end_of_a_question_is_no_thanks(question: str) -> None:
    assert spelled_out(question) == question
    assert spelled_out(f"{question.rstrip('?')}, thanks!") == question.rstrip("?")


def test_what_is_quoted_is_not_spelled_otherwise() -> None:
    assert spelled_out('whats "im" in x.im, pls') == 'what\'s "im" in x.im, please'
