"""Questions about lists below headings, boxes, and single lines of a text: right answers, and an honest no."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from .test_own_files import seen
from .test_queries import answered_in

FILES: Mapping[str, str] = {
    "helpers.txt": """Helpers at the lake day

Boat hire
- Ruta
- Emil

Grill
- Emil
- Sana
- Otis
- Wim

First aid
- Ruta
- Emil (from noon)
""",
    "shifts.txt": "Shifts in July\n\nGate: Ines, Paulo, Ruben\nBar: Ines, Ruben\nCloakroom: Paulo, Ines, Marta, Gil\n",
    "camp.txt": """Camp - what to take

KITCHEN
[x] pot
[ ] lid
[x] spoons (6)
[ ] gas bottle

SLEEPING
[x] tent
[ ] warm blanket
""",
    "stalls.txt": """Friday stalls

Greens
- chard 3
- peas 2 kg
- netting 10 m

Bakery
- rolls 24
- rye loaf 1
""",
    "moving.md": """# Moving

## Old flat

- [x] Cancel the power
- [ ] Paint the hall
- [ ] Return the keys

## New flat

- [x] Book the van
- [ ] Read the meters

## Later

1. Party
2. Curtains
""",
    "course.md": """# Course

## Week plan

### Monday

- drawing
- clay

### Tuesday

- print

## Fees

- full: 80
- half: 40
""",
    "poem.txt": "Small rain: it came at night\n\nSnow fell on the empty road\nthe End of all\n",
}
RIGHT = [
    ("helpers.txt", "Which job in helpers.txt has the most people?", "Grill"),
    ("helpers.txt", "Which heading has the fewest names under it?", "Boat hire, First aid"),
    ("helpers.txt", "Which section of helpers.txt lists the most items?", "Grill"),
    ("helpers.txt", "Under which heading are the most people listed?", "Grill"),
    ("helpers.txt", "How many different people are named in helpers.txt?", "5"),
    ("helpers.txt", "How many distinct names are listed in total in helpers.txt?", "5"),
    ("helpers.txt", "Who is down for three jobs in helpers.txt?", "Emil"),
    ("helpers.txt", "Who is signed up for more than one job?", "Ruta, Emil"),
    ("helpers.txt", "Who is down for the most jobs in helpers.txt?", "Emil"),
    ("helpers.txt", "How many people are down for exactly two jobs?", "1"),
    ("helpers.txt", "Which person has the most jobs in helpers.txt?", "Emil"),
    ("helpers.txt", "Which jobs is Ruta down for?", "Boat hire, First aid"),
    ("helpers.txt", "How many jobs does Emil have in helpers.txt?", "3"),
    ("helpers.txt", "Who is down for the grill?", "Emil, Sana, Otis, Wim"),
    ("helpers.txt", "How many people are down for the grill in helpers.txt?", "4"),
    ("helpers.txt", "Is Sana helping with the boat hire, going by helpers.txt? Answer yes or no.", "No"),
    ("helpers.txt", "Is Ruta signed up for first aid? Yes or no.", "Yes"),
    ("shifts.txt", "Which shift in shifts.txt has the most people?", "Cloakroom"),
    ("shifts.txt", "How many different people are listed in shifts.txt?", "5"),
    ("shifts.txt", "Which shifts is Paulo down for?", "Gate, Cloakroom"),
    ("shifts.txt", "Who is down for the bar?", "Ines, Ruben"),
    ("shifts.txt", "Is Gil on duty at the gate?", "No"),
    ("camp.txt", "Which section of camp.txt has the most items?", "KITCHEN"),
    ("camp.txt", "How many things in camp.txt are not ticked yet (the ones with an empty box)?", "3"),
    ("camp.txt", "How many items (the ones with an empty box) are in camp.txt?", "3"),
    ("camp.txt", "What is still missing under KITCHEN in camp.txt, i.e. not ticked with an x?", "lid, gas bottle"),
    ("camp.txt", "Which things are not packed yet?", "lid, gas bottle, warm blanket"),
    ("camp.txt", "How many items are already packed in camp.txt?", "3"),
    ("camp.txt", "How many items are listed under sleeping?", "2"),
    ("camp.txt", "Did I already pack the tent? See camp.txt, an x means packed. Answer yes or no.", "Yes"),
    ("camp.txt", "Is the gas bottle packed yet?", "No"),
    ("camp.txt", "Which section has the most open items?", "KITCHEN"),
    ("stalls.txt", 'How many items (lines starting with "- ") are on the list in stalls.txt?', "5"),
    ("stalls.txt", "Which shop heading in stalls.txt has the most items under it?", "Greens"),
    ("stalls.txt", "How many rolls do I need to buy, says stalls.txt?", "24"),
    ("stalls.txt", "Is netting on the list in stalls.txt?", "Yes"),
    ("stalls.txt", "Did I put peas on stalls.txt? Yes or no.", "Yes"),
    ("stalls.txt", "What is the second item under Bakery?", "rye loaf 1"),
    ("moving.md", "Which section of moving.md has the most tasks, ticked or not?", "Old flat"),
    ("moving.md", "Which section has the most open tasks?", "Old flat"),
    ("moving.md", "Which section has the fewest items?", "New flat, Later"),
    ("moving.md", "How many headings are in moving.md, counting all levels?", "4"),
    ("moving.md", "In moving.md, how many level-two headings (lines starting with ##) are there?", "3"),
    ("moving.md", "How many headings of any level does moving.md have?", "4"),
    ("moving.md", "List the open tasks under Old flat in moving.md, in the order they stand there.",
     "Paint the hall, Return the keys"),
    ("moving.md", "Has the van been booked?", "Yes"),
    ("moving.md", "Have we already painted the hall? It is in moving.md.", "No"),
    ("moving.md", "What is item 2 on the numbered list in moving.md?", "Curtains"),
    ("moving.md", "How many items are on the numbered list?", "2"),
    ("course.md", "Which day of the week plan in course.md has the most bullet points?", "Monday"),
    ("course.md", "How many bullet points (lines starting with a dash) does course.md have?", "5"),
    ("course.md", "How many bullet points stand under Monday in course.md?", "2"),
    ("poem.txt", "How many words are in the first line of poem.txt?", "6"),
    ("poem.txt", "How many words does the last line of poem.txt have?", "4"),
    ("poem.txt", "How many words does the first line have after the colon?", "4"),
    ("poem.txt", 'How many words are there in the line of poem.txt that begins with "Snow fell"?', "6"),
    ("poem.txt", "How many lines in poem.txt are not empty?", "3"),
    ("poem.txt", "How many lines of poem.txt start with the letter s?", "2"),
    ("poem.txt", 'How often does the whole word "the" appear in poem.txt, upper or lower case?', "2"),
]  # fmt: skip
GIVEN_UP = [
    ("helpers.txt", "How many people are in helpers.txt?"),  # some stand in several lists
    ("helpers.txt", "How many names are listed in helpers.txt?"),
    ("helpers.txt", "Who is down for the tombola?"),
    ("helpers.txt", "Which jobs is Berta down for?"),
    ("helpers.txt", "Is Berta helping with the grill?"),
    ("helpers.txt", "Who is down for the grill and first aid?"),
    ("helpers.txt", "Who is not down for the grill?"),
    ("helpers.txt", "Who is down for all jobs in helpers.txt?"),
    ("helpers.txt", "Which helper has the most people?"),
    ("helpers.txt", "Which job has the most hours?"),
    ("shifts.txt", "Who is down for the longest shift?"),
    ("camp.txt", "Is the stove packed?"),
    ("camp.txt", "How many spoons and pots are packed?"),
    ("stalls.txt", "How many peas do I need to buy?"),  # their weight is said
    ("stalls.txt", "How many loaves of bread do I need to buy?"),
    ("stalls.txt", "Which section has the most words?"),
    ("moving.md", "Which room has the most furniture?"),
    ("moving.md", "Has the piano been sold?"),
    ("course.md", "Which section has the most bullet points?"),  # of two levels
    ("poem.txt", "How many words does the second line have?"),  # it is empty
    ("poem.txt", "How many words are in the first verse?"),
    ("poem.txt", "How many lines start with a capital letter?"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rosters")
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize(("name", "question", "right"), RIGHT)
def test_a_question_about_lists_gets_its_right_answer(folder: Path, name: str, question: str, right: str) -> None:
    assert answered_in(folder, question, seen(name, folder)) == right


@pytest.mark.parametrize(("name", "question"), GIVEN_UP)
def test_what_lists_leave_open_gets_no_answer(folder: Path, name: str, question: str) -> None:
    assert answered_in(folder, question, seen(name, folder)) is None
