"""JSON documents of any usual shape: tables inside, lists in cells, single values; many wordings, and honest no."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from habilis.contract.json_outline import outline
from habilis.demo.families.json_tables import tables_of
from habilis.questions.prompts import SeenFile

from .conftest import EXAMPLES, Player
from .test_own_files import seen
from .test_queries import answered_in

FILES = Path(__file__).parent / "json_files"

AMONG_OTHER_KEYS = [
    ("choir.json", "How many singers are there?", "5"),
    ("choir.json", "Which singers have not paid?", "Ben Coster, Eva Frost"),
    ("choir.json", "Who has not paid yet?", "Ben Coster, Eva Frost"),
    ("choir.json", "How many singers sing bass?", "2"),
    ("choir.json", "What is the average age of the singers?", "39.4"),
    ("choir.json", "Who is the oldest singer?", "Ben Coster"),
    ("choir.json", "How old is Cleo Dahl?", "28"),
    ("choir.json", "Which singer joined first?", "Ben Coster"),
    ("choir.json", "How many singers joined after 2016?", "3"),
    ("choir.json", "What is the average age per voice?", "alto: 28, bass: 48, soprano: 36.5"),
    ("choir.json", "How many concerts are there?", "3"),
    ("choir.json", "Which concert sold the most tickets?", "Summer Night"),
    ("choir.json", "Where is Summer Night?", "Harbour"),
    ("choir.json", "When is the Advent Carols concert?", "2024-12-08"),
    ("choir.json", "What is the price of the Harbour concert?", "15"),
    ("choir.json", "What is the total number of tickets of the concerts?", "425"),
    ("choir.json", "Who was elected in 2021?", "Milan Horak"),
    ("choir.json", "What is the difference between the highest and the lowest singer age?", "23"),
    ("choir.json", "What is Ruth Alder's email?", "ruth@bay.example"),
    ("fete.json", "What is the total cost of the paid expenses?", "1285.75"),
    ("fete.json", "Which expenses are not paid?", "Band, Prizes"),
    ("fete.json", "Which supplier has the highest total cost?", "Canvas Co"),
    ("grades.json", "What is the average maths grade?", "2.333333"),
    ("grades.json", "Who has the lowest grade in art?", "Cleo"),
    ("opening_hours.json", "When do you close on Friday?", "15:30"),
    ("opening_hours.json", "Which day has the latest closing time?", "Thursday"),
    ("opening_hours.json", "On which days does it open at 9:00?", "Monday, Tuesday, Thursday, Friday"),
    ("stocks.json", "How many screws are there?", "850"),
    ("bridges.json", "How many bridges are there?", "4"),
    ("bridges.json", "Which bridge is the longest?", "New Crossing"),
    ("bridges.json", "When was the Iron Bridge built?", "1891"),
    ("bridges.json", "How many lanes does New Crossing have?", "4"),
    ("bridges.json", "Which bridges have a toll?", "Iron Bridge, New Crossing"),
    ("bridges.json", "What is the average length per river?", "Arn: 199, Tove: 101"),
    ("bridges.json", "List the bridges from shortest to longest.",
     "Abbey Bridge, Willow Bridge, Iron Bridge, New Crossing"),
]  # fmt: skip
LISTS_IN_CELLS = [
    ("bridges.json", "Which bridge has the most repairs?", "Willow Bridge"),
    ("bridges.json", "How many repairs did Iron Bridge have?", "2"),
    ("bridges.json", "Which bridge has no repairs?", "New Crossing"),
    ("bridges.json", "How many bridges have more than one repair?", "2"),
    ("bridges.json", "Which bridge has exactly one repair?", "Abbey Bridge"),
    ("bridges.json", "What repairs did Willow Bridge have?", "1972 deck, 1999 railing, 2011 lights"),
    ("hikes.json", "Which hike has the fewest stops?", "Forest Path"),
    ("hikes.json", "How many different stops are there?", "8"),
    ("hikes.json", "How many stops does Ridge Loop have?", "3"),
    ("hikes.json", "Which hikes include Hut?", "Ridge Loop, Gorge Trail"),
    ("hikes.json", "How many hikes go to the Hut?", "2"),
    ("hikes.json", "List the stops of Gorge Trail.", "Mill, Falls, Hut, Cave"),
    ("hikes.json", "What is the average number of stops?", "2.5"),
    ("hikes.json", "How many hikes have at least two stops?", "3"),
    ("hikes.json", "How many different stops do the easy hikes have?", "3"),
    ("hikes.json", "Which easy hike has the most stops?", "Lake Walk"),
    ("hikes.json", "Which stop is in the most hikes?", "Hut, Lake"),
    ("hikes.json", "Which hikes include both Hut and Lake?", "Ridge Loop"),
    ("hikes.json", "How many hikes include Hut or Lake?", "3"),
    ("hikes.json", "Which hikes do not include Hut?", "Lake Walk, Forest Path"),
    ("hikes.json", "Which stops are included in Lake Walk?", "Pier, Lake"),
]
NUMBERS_IN_CELLS = [
    ("pupils.json", "What is Ann's average mark?", "2"),
    ("pupils.json", "What is the highest mark of Bo?", "4"),
    ("pupils.json", "What is the total of all marks?", "29"),
    ("pupils.json", "How many marks does Cy have?", "4"),
    ("pupils.json", "What is the average number of marks?", "3"),
    ("pupils.json", "Who has the highest average mark?", "Cy"),
]
OBJECTS_OF_LISTS = [
    ("homework.json", "Which day has the most homework?", "Wednesday"),
    ("homework.json", "Which day has the fewest items?", "Tuesday"),
    ("homework.json", "On which days is there violin practice?", "Tuesday, Wednesday, Friday"),
    ("homework.json", "On which days do I have to do the maths sheet?", "Monday, Wednesday, Thursday"),
    ("homework.json", "On which weekday is there a spelling list?", "Wednesday"),
    ("homework.json", "What homework is there on Thursday?", "maths sheet, book report"),
    ("homework.json", "List the homework of Wednesday.", "spelling list, maths sheet, violin practice, draw a map"),
    ("homework.json", "How many things do I have to do on Friday?", "2"),
    ("homework.json", "How many different items are there?", "7"),
    ("homework.json", "On how many days is there a maths sheet?", "3"),
    ("homework.json", "Which days have more than two items?", "Wednesday"),
    ("homework.json", "How many days are there?", "5"),
    ("homework.json", "How many items are there over the whole week, counting repeats?", "11"),
    ("homework.json", "Which items are there on more than two days?", "maths sheet, violin practice"),
    ("homework.json", "Which day has the longest list?", "Wednesday"),
    ("playlists.json", "Which song is in more than one playlist?", "Thunder"),
    ("playlists.json", "In how many playlists is Thunder?", "2"),
    ("playlists.json", "Which songs are in the Party playlist?", "Dance, Thunder, Glow, Hey"),
    ("garden.json", "Which bed has the most plants?", "south bed"),
    ("garden.json", "How many plants are in the north bed?", "3"),
    ("garden.json", "How many different plants are there?", "7"),
    ("teams.json", "Which team has the most members?", "Hares"),
    ("teams.json", "How many players are in Owls?", "2"),
    ("teams.json", "How many players are there in total?", "11"),
    ("teams.json", "Which team is Gus in?", "Hares"),
    ("teams.json", "List the members of Hares.", "Finn, Gus, Hanna, Ida"),
    ("teams.json", "Which teams have two members?", "Owls, Newts"),
    ("teams.json", "What is the average number of members per team?", "2.75"),
]
NUMBERS_AND_LISTS = [
    ("temperatures.json", "What is the average temperature?", "16.785714"),
    ("temperatures.json", "What is the median?", "17"),
    ("temperatures.json", "What is the sum of all numbers?", "117.5"),
    ("temperatures.json", "How many temperatures are over 18?", "2"),
    ("temperatures.json", "What is the third value?", "21.5"),
    ("temperatures.json", "What is the last temperature?", "18"),
    ("temperatures.json", "What is the range of the temperatures?", "9.5"),
    ("groceries.json", "How many groceries are there?", "5"),
    ("groceries.json", "What is the third item?", "tomatoes"),
    ("groceries.json", "What is the last item on the list?", "tea"),
    ("steps.json", "Which day had the most steps?", "Thursday"),
    ("steps.json", "How many steps did I take on Tuesday?", "8120"),
    ("steps.json", "How many steps were there in total?", "36635"),
    ("steps.json", "What is the average number of steps per day?", "7327"),
    ("steps.json", "On how many days did I take more than 7000 steps?", "3"),
    ("steps.json", "How many more steps did I take on Thursday than on Monday?", "3475"),
    ("populations.json", "What is the population of Brekke?", "15800"),
    ("populations.json", "Which town has the highest population?", "Brekke"),
    ("populations.json", "What is the total population?", "22240"),
    ("fruits.json", "How many plums do we have?", "12"),
    ("fruits.json", "How many more plums than figs are there?", "10"),
]
SINGLE_VALUES = [
    ("choir.json", "Who is the president?", "Ruth Alder"),
    ("choir.json", "What is the email address of the president?", "ruth@bay.example"),
    ("choir.json", "When do rehearsals finish?", "20:15"),
    ("choir.json", "At what time does the rehearsal start?", "18:30"),
    ("choir.json", "Where is the rehearsal?", "Old Chapel"),
    ("choir.json", "On which weekday is the rehearsal?", "Tuesday"),
    ("choir.json", "How much is the reduced fee?", "24"),
    ("choir.json", "How much does a guest pay?", "6"),
    ("choir.json", "Which fee is the highest?", "full"),
    ("choir.json", "In which year was the choir founded?", "2004"),
    ("choir.json", "What is the name of the choir?", "North Bay Singers"),
    ("choir.json", "What is the difference between the full fee and the reduced fee?", "24.5"),
    ("choir.json", "How much more expensive is the full fee than the guest fee?", "42.5"),
    ("choir.json", "How much less is the reduced fee than the full fee?", "24.5"),
    ("grades.json", "What is the difference between Anna's and Ben's maths grade?", "0.3"),
    ("settings.json", "Which theme does the app use?", "dark"),
    ("settings.json", "What is the font size?", "14"),
    ("settings.json", "In which folder is the backup?", "/srv/backup"),
    ("wedding.json", "Who is the bride?", "Ella Marsh"),
    ("wedding.json", "What time is the ceremony?", "14:00"),
    ("wedding.json", "When is dinner?", "19:00"),
    ("wedding.json", "How much does the catering cost?", "3800.5"),
    ("wedding.json", "Which cost is the highest?", "venue"),
    ("wedding.json", "How many songs are on the playlist?", "3"),
    ("wedding.json", "What is the budget minus the deposit paid?", "9000"),
    ("wedding.json", "What is the difference between the budget and the deposit paid?", "9000"),
    ("wedding.json", "How much of the budget is left after all costs?", "2149.5"),
    ("fete.json", "Who organises the fete?", "Nora Quill"),
    ("fete.json", "When is the fete?", "2024-06-15"),
    ("fete.json", "What is the venue called?", "Mill Meadow"),
    ("fete.json", "What is the contact phone number?", "555-0170"),
    ("fete.json", "How much of the budget is left after all expenses?", "594.25"),
    ("fete.json", "How much of the budget is left after subtracting the cost of all expenses?", "594.25"),
    ("fete.json", "What is left of the budget after the total cost of the expenses?", "594.25"),
    ("fete.json", "By how much does the budget exceed the total cost?", "594.25"),
    ("fete.json", "How much of the budget is left after the paid expenses?", "1314.25"),
    ("fete.json", "What percentage of the budget do the expenses add up to?", "77.144231"),
]
GIVEN_UP = [
    ("choir.json", "When does it end?"),
    ("choir.json", "What is the price?"),
    ("choir.json", "What is the fee?"),
    ("choir.json", "What is the name?"),
    ("choir.json", "Who is the treasurer?"),
    ("choir.json", "Since when is Ruth Alder president?"),
    ("choir.json", "What is the president's phone number?"),
    ("choir.json", "How much do children pay?"),
    ("choir.json", "When does the rehearsal break start?"),
    ("choir.json", "When does the concert start?"),
    ("choir.json", "What was the total revenue of the concerts?"),
    ("choir.json", "How many are there?"),
    ("choir.json", "What is the highest?"),
    ("wedding.json", "What is the time?"),
    ("wedding.json", "When is the reception?"),
    ("wedding.json", "What is the budget per guest?"),
    ("wedding.json", "Who are the couple?"),
    ("fete.json", "Where does Nora live?"),
    ("fete.json", "What is the phone number of the venue?"),
    ("fete.json", "How much of the budget is left?"),
    ("bridges.json", "Who built the Iron Bridge?"),
    ("bridges.json", "Which is the biggest bridge?"),
    ("grades.json", "Who has the best grade in art?"),
    ("opening_hours.json", "When is it open on Monday?"),
    ("opening_hours.json", "On which days is it open after 18:00?"),
    ("playlists.json", "Which playlist is the longest?"),
    ("playlists.json", "How many songs are there in total?"),
    ("settings.json", "What is the port of the database?"),
    ("pupils.json", "Who has the highest mark?"),
    ("pupils.json", "Which pupil has more than 2 marks?"),
    ("homework.json", "On which day do I play football?"),
    ("homework.json", "How many items are there in total?"),
    ("homework.json", "How many items are there?"),
    ("garden.json", "How many plants are there?"),
    ("teams.json", "How many girls are in Foxes?"),
    ("teams.json", "How many goals did the Foxes score?"),
    ("hikes.json", "How many stops are there in total?"),
    ("hikes.json", "What is the biggest hike?"),
    ("temperatures.json", "What was the temperature on Monday?"),
    ("temperatures.json", "What is the tenth value?"),
    ("groceries.json", "How many drinks are there?"),
    ("steps.json", "How many km did I walk on Monday?"),
    ("populations.json", "How many people live in Carrow?"),
    ("populations.json", "How many towns are there?"),
    ("fruits.json", "How many fruits are there?"),
    ("fruits.json", "How many plums do we use?"),
    ("fruits.json", "Which fruit is there most of?"),
    ("grades.json", "How many grades are there?"),
    ("populations.json", "How many populations are there?"),
]


@cache
def answered(name: str, question: str) -> str | None:
    return answered_in(FILES, question, seen(name, FILES))


@pytest.mark.parametrize(
    ("name", "question", "right"),
    [*AMONG_OTHER_KEYS, *LISTS_IN_CELLS, *NUMBERS_IN_CELLS, *OBJECTS_OF_LISTS, *NUMBERS_AND_LISTS, *SINGLE_VALUES],
)
def test_a_document_is_read_whatever_its_shape(name: str, question: str, right: str) -> None:
    assert answered(name, question) == right


@pytest.mark.parametrize(("name", "question"), GIVEN_UP)
def test_what_a_document_leaves_open_gets_no_answer(name: str, question: str) -> None:
    assert answered(name, question) is None


def test_the_task_is_played_with_one_tool_for_the_table_that_is_named(player: Player) -> None:
    (player.folder / "choir.json").write_bytes((FILES / "choir.json").read_bytes())
    played = player.play("How many singers have paid in choir.json?", ["choir.json"])
    assert (played.final, len(played.tools)) == ("3", 1)


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("total stock for rope in inventory.json", "140"),
        ("total stock for products with price over 5 in inventory.json", "125"),
        ("Which product in inventory.json has the most tags?", "rope, buoy"),
        ("What is the city of the warehouse in inventory.json?", "Ostwick"),
    ],
)
def test_the_example_of_a_document_with_two_tables_is_read(question: str, right: str) -> None:
    assert answered_in(EXAMPLES, question, seen("inventory.json", EXAMPLES)) == right


def test_a_value_for_a_year_is_not_added_to_the_next_year(tmp_path: Path) -> None:
    (tmp_path / "firm.json").write_text('{"firm": "Bolt", "targets": {"2023": 120000, "2024": 135000}}')
    file = seen("firm.json", tmp_path)
    asked = {"sum of": None, "difference between": "15000"}
    for measure, right in asked.items():
        assert answered_in(tmp_path, f"What is the {measure} the targets for 2023 and 2024?", file) == right
    assert answered_in(tmp_path, "What is the target for 2024?", file) == "135000"


def test_a_name_is_meant_by_all_its_words(tmp_path: Path) -> None:
    rows = {"Iron Bridge": {"length": 100}, "New Crossing": {"length": 300}, "Old Ford": {"length": 20}}
    (tmp_path / "river.json").write_text(json.dumps(rows))
    file = seen("river.json", tmp_path)
    assert answered_in(tmp_path, "What is the length of the bridge?", file) is None
    assert answered_in(tmp_path, "What is the length of the Iron Bridge?", file) == "100"


def test_how_many_of_a_product_there_are_is_not_taken_for_its_name(tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text("name,stock,price\nrope,140,3.2\nanchor,8,89\nbuoy,35,24.5\n")
    file = seen("products.csv", tmp_path)
    assert answered_in(tmp_path, "Which product has the highest price?", file) == "anchor"


_PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=80)
_KEYS = st.text(min_size=1, max_size=8).filter(lambda key: key != "…")
_DOCUMENTS = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=9) | st.dictionaries(_KEYS, inner, max_size=25), max_leaves=40
)


@given(_DOCUMENTS)
@settings(max_examples=150, deadline=None)
def test_an_outline_is_short_and_can_be_read_back_as_the_beginning_of_its_document(document: Any) -> None:
    text = outline(document, 400)
    assert text is None or len(text) <= 400
    assert text is None or _begins(json.loads(text), document)
    tables_of(SeenFile("x.json", text or ""))  # reads any outline, or none


def _begins(shown: Any, whole: Any) -> bool:
    if isinstance(shown, dict) and isinstance(whole, dict):
        return all(key == "…" or _begins(one, whole[key]) for key, one in shown.items())
    if isinstance(shown, list) and isinstance(whole, list):
        cut = len(shown) < len(whole) or shown != whole[: len(shown)]
        kept = shown[:-1] if cut and str(shown[-1:]).find(" in all") > 0 else shown
        return all(_begins(one, other) for one, other in zip(kept, whole, strict=False))
    if isinstance(shown, str) and isinstance(whole, str) and shown.endswith("…"):
        return whole.startswith(shown[:-1])
    return bool(shown == whole)
