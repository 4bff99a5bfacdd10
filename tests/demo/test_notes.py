"""Questions about one's own notes, lists, settings, lines of numbers and logs: right answers, and an honest no."""

from __future__ import annotations

import string
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.demo.toolbox import source_for
from habilis.demo.understanding import all_operations
from habilis.questions.operations import fields_of, request_for

from .conftest import Loaded
from .test_own_files import seen
from .test_queries import answered_in

FILES: Mapping[str, str] = {
    "garden.md": """# Garden year

Some words, and a plan: not more.

## Spring

1. Dig the beds
2. Sow peas
3. Plant potatoes

## Summer

- [x] Water daily (Ann)
- [ ] Weed the paths (Ben)
- [ ] Pick berries (Ann)

### Tools

* hoe
* rake
* watering can

## Contacts

- Nursery: 555-0177
- Neighbour: Olga Brandt

## Open day

- Date: 2024-09-14
- Place: Mill Lane

```
# no heading
- no item
```
""",
    "shopping_list.txt": "olive oil\nbananas\nbrown rice\neggs\nbaking powder\n"
    "spaghetti\nblack tea\napples\nsoap\nbutter\n",
    "todo.txt": "For May\n\n[x] mow lawn\n[ ] fix tap\n[ ] call Ed\n",
    "minutes.md": "# Board\n\n- [ ] Ann: order printer\n- [x] Bo: call painter\n- [ ] Ann: book hall\n",
    "guests.txt": "Anna\nBoris\nClara\nDavid\nEmma\n",
    "walks.txt": "4.2\n7.5\n3.1\n11.0\n6.4\n7.5\n9.8\n",
    "steps.txt": "8421\n10233\n6754\n12010\n",
    "hours.txt": "Ada: 12\nBen: 9.5\nCleo: 14\nDov: 7\n",
    "car.txt": """Car: Lada Niva
Plate = KR 44 ZL
Mileage: 84,210 km
Last oil change: 2024-03-02
Next oil change: 2024-09-02
Insurance ends: 2024-12-31
Tyre pressure front: 2.1 bar
Tyre pressure rear: 2.3 bar
Parking spot: 17
Garage: Hofmann
Garage phone: 555-0144
Tank size: 42 l
Bought: 2019-06-15
Rent old: 80
Rent new: 95
Spare key: drawer
""",
    "tool.ini": """; of the tool
[general]
language = de
debug = false

[mail]
enabled = true
port = 587
daily_limit = 400

[backup]
enabled = false
time = 02:30
port = 22
""",
    "ship.yaml": """name: Otter
crew: 7
engine:
  power: 120
  fuel: diesel
  last_check: 2024-02-10
radio:
  channel: 16
  enabled: true
""",
    "sheet.txt": """Sheet of week 19
Please hand in corrections.

name: Ada, team: Sales, hours: 41, overtime: 1
name: Tom, team: Sales, hours: 38, overtime: 0
name: Lena, team: Stock, hours: 22.5, overtime: 2.5
name: Olek, team: Stock, hours: 46, overtime: 6
""",
    "move.txt": """Office move

move date: 2024-09-14
keys handed over: 2024-09-02
chairs: 31
quote City Van: 2790
quote Heavy Lift: 3125
quote Two Trucks: 2615

Still to buy
item: coat rack, quantity: 4, price: 35.00
item: kettle, quantity: 2, price: 29.50
""",
    "coast.md": """# Coast

We leave on a Saturday.

## Budget

| Item | Planned | Paid |
|---|---|---|
| Train | 148.00 | 148.00 |
| Cottage | 620.00 | 200.00 |
| Food | 280.00 | 0.00 |

## Packing

- hats
- cards
""",
    "door.log": """2024-05-06 07:42:10 INFO motion front
2024-05-06 08:15:33 INFO ring front
2024-05-07 09:31:40 ERROR camera timeout
2024-05-07 14:38:59 ERROR wifi lost
2024-05-07 14:52:30 INFO wifi restored
2024-05-08 19:17:21 WARN battery low
2024-05-08 20:00:00 INFO ring front
""",
    "parts.log": """2024-05-20 09:30:00 INFO backup Backup started
2024-05-20 09:34:18 ERROR backup Disk almost full
2024-05-20 10:05:09 INFO backup Backup finished
2024-05-20 10:23:40 ERROR db Connection lost
2024-05-20 10:26:30 INFO db Connection restored
2024-05-20 11:00:00 ERROR backup Disk full
2024-05-20 12:00:00 INFO db User ada logged out
""",
}
RIGHT = [
    ("garden.md", "What is the title of garden.md?", "Garden year"),
    ("garden.md", "How many level 2 headings does garden.md have?", "4"),
    ("garden.md", "How many h2 headings (the ones starting with ##, not ###) are in garden.md?", "4"),
    ("garden.md", "List the second-level headings of garden.md", "Spring, Summer, Contacts, Open day"),
    ("garden.md", "How many headings are there in garden.md?", "6"),
    ("garden.md", "What is the last level 2 heading in garden.md?", "Open day"),
    ("garden.md", "Which heading comes after Spring?", "Summer"),
    ("garden.md", "How many sub-headings does Summer have in garden.md?", "1"),
    ("garden.md", "How many steps are there under Spring?", "3"),
    ("garden.md", "What is the second step in Spring?", "Sow peas"),
    ("garden.md", "How many bullet points are in the Tools section?", "3"),
    ("garden.md", "garden.md: which items are listed under Tools?", "hoe, rake, watering can"),
    ("garden.md", "How many tasks are still open (unchecked) in garden.md?", "2"),
    ("garden.md", "How many of the tasks are ticked?", "1"),
    ("garden.md", "Which tasks are not done yet in garden.md?", "Weed the paths (Ben), Pick berries (Ann)"),
    ("garden.md", "How many open tasks does Ann have?", "1"),
    ("garden.md", "Who has the most tasks in garden.md?", "Ann"),
    ("garden.md", "Who has to weed the paths according to garden.md?", "Ben"),
    ("garden.md", "Is there a rake under Tools in garden.md?", "Yes"),
    ("garden.md", "What is the phone number of the nursery in garden.md?", "555-0177"),
    ("garden.md", "Who is the neighbour?", "Olga Brandt"),
    ("garden.md", "When is the open day?", "2024-09-14"),
    ("shopping_list.txt", "How many items are on the list?", "10"),
    ("shopping_list.txt", "What is the 4th item in shopping_list.txt?", "eggs"),
    ("shopping_list.txt", "What's the last item on my shopping list?", "butter"),
    ("shopping_list.txt", "What are the first three items?", "olive oil, bananas, brown rice"),
    ("shopping_list.txt", "Is there butter on the list? Just yes or no.", "Yes"),
    ("shopping_list.txt", "Is coffee on shopping_list.txt?", "No"),
    ("shopping_list.txt", "Does shopping_list.txt contain apples?", "Yes"),
    ("shopping_list.txt", "Which item is the longest, counting all characters with spaces?", "baking powder"),
    ("shopping_list.txt", "How many items start with the letter b?", "5"),
    ("shopping_list.txt", "Which items contain the letter z?", "none"),
    ("shopping_list.txt", "How many items consist of two words?", "4"),
    ("shopping_list.txt", "Which item comes first in alphabetical order?", "apples"),
    ("shopping_list.txt", "Which item comes right after eggs?", "baking powder"),
    ("shopping_list.txt", "Which item is on line 7 of shopping_list.txt?", "black tea"),
    ("shopping_list.txt", "How many lines contain the word tea?", "1"),
    ("shopping_list.txt", "How many words are in shopping_list.txt, if words are separated by spaces or line breaks?",
     "14"),
    ("todo.txt", "How many tasks are open in todo.txt?", "2"),
    ("minutes.md", "How many tasks does Ann have?", "2"),
    ("minutes.md", "Who has to call the painter?", "Bo"),
    ("guests.txt", "How many guests are on the list?", "5"),
    ("guests.txt", "Is Clara on the guest list?", "Yes"),
    ("guests.txt", "Who is the third guest?", "Clara"),
    ("walks.txt", "What is the sum of all numbers in walks.txt?", "49.5"),
    ("walks.txt", "How many kilometres did I walk in total? Each line is one walk in km.", "49.5"),
    ("walks.txt", "What is the mean of the values, to 2 decimals?", "7.07"),
    ("walks.txt", "What is the median of walks.txt?", "7.5"),
    ("walks.txt", "What was the longest walk in walks.txt?", "11"),
    ("walks.txt", "On which line is the lowest number in walks.txt?", "3"),
    ("walks.txt", "What is the biggest number and on which line is it? Answer as number, line.", "11, 4"),
    ("walks.txt", "How many of the numbers are greater than 7.5?", "2"),
    ("walks.txt", "How many walks were at least 7 km long?", "4"),
    ("walks.txt", "What is the difference between the highest and lowest number in walks.txt?", "7.9"),
    ("walks.txt", "What is the average of the last 3 numbers in walks.txt?", "7.9"),
    ("steps.txt", "How many days in steps.txt have at least 10000 steps? Each line is one day.", "2"),
    ("steps.txt", "What is the total number of steps in steps.txt?", "37418"),
    ("steps.txt", "What is the average number of steps per day?", "9354.5"),
    ("steps.txt", "What percentage of days had 10000 steps or more?", "50"),
    ("hours.txt", "Who worked the most hours?", "Cleo"),
    ("hours.txt", "How many hours does Ben have?", "9.5"),
    ("hours.txt", "What is the total of the hours in hours.txt?", "42.5"),
    ("car.txt", "What is the mileage in car.txt?", "84,210 km"),
    ("car.txt", "When does the insurance end?", "2024-12-31"),
    ("car.txt", "When is the next oil change due?", "2024-09-02"),
    ("car.txt", "Where is the spare key?", "drawer"),
    ("car.txt", "What is the phone number of the garage?", "555-0144"),
    ("car.txt", "Which parking spot do I have?", "17"),
    ("car.txt", "When was the car bought?", "2019-06-15"),
    ("car.txt", "How many days are there between the last and the next oil change?", "184"),
    ("car.txt", "How much higher is the rear tyre pressure than the front one?", "0.2"),
    ("car.txt", "By how much is the new rent higher than the old one in car.txt?", "15"),
    ("tool.ini", "What port is set in the mail section of tool.ini?", "587"),
    ("tool.ini", "What is the daily limit?", "400"),
    ("tool.ini", "Which sections in tool.ini have enabled = true? List them in the order of the file.", "mail"),
    ("tool.ini", "How many sections does tool.ini have?", "3"),
    ("tool.ini", "List the keys in the backup section.", "enabled, time, port"),
    ("tool.ini", "At what time does the backup run?", "02:30"),
    ("tool.ini", "Is the backup enabled in tool.ini?", "No"),
    ("tool.ini", "In which section is daily_limit defined?", "mail"),
    ("ship.yaml", "What fuel does the engine use?", "diesel"),
    ("ship.yaml", "What is engine.power?", "120"),
    ("ship.yaml", "When was the last check of the engine?", "2024-02-10"),
    ("sheet.txt", "How many hours did the Stock team work in total according to the file sheet.txt?", "68.5"),
    ("sheet.txt", "Who worked the most hours in sheet.txt?", "Olek"),
    ("sheet.txt", "Which team has the most overtime in total in sheet.txt?", "Stock"),
    ("sheet.txt", "How many people in sheet.txt had no overtime?", "1"),
    ("move.txt", "What is the price of the kettle?", "29.5"),
    ("move.txt", "What is the sum of all quantities in move.txt?", "6"),
    ("move.txt", "How many chairs are there?", "31"),
    ("move.txt", "Which quote is the cheapest?", "Two Trucks"),
    ("move.txt", "What is the difference between the most expensive and the cheapest quote in move.txt?", "510"),
    ("move.txt", "How many days are between the move date and the date the keys were handed over?", "12"),
    ("coast.md", "What is the total of the Planned column in coast.md?", "1048"),
    ("coast.md", "Which item has the highest planned cost in coast.md?", "Cottage"),
    ("coast.md", "How many bullet points are under Packing?", "2"),
    ("door.log", "door.log: on which date were there the most entries?", "2024-05-07"),
    ("door.log", "At what time was the last ERROR in door.log? Just the time, no date.", "14:38:59"),
    ("door.log", "How many different days are in door.log?", "3"),
    ("door.log", "On which day were there the most errors?", "2024-05-07"),
    ("door.log", "When was the camera timeout?", "2024-05-07 09:31:40"),
    ("door.log", "On which days was there an ERROR?", "2024-05-07"),
    ("door.log", "When was the last ring at the front?", "2024-05-08 20:00:00"),
    ("door.log", "How many seconds were there between wifi lost and wifi restored?", "811"),
    ("door.log", "How long was the wifi gone for, from wifi lost to wifi restored? Give it as minutes:seconds.",
     "13:31"),
    ("door.log", "How many lines mention wifi?", "2"),
    ("parts.log", "Which component (the word after the level) has the most ERROR lines in parts.log?", "backup"),
    ("parts.log", "How many ERROR lines are from the db component?", "1"),
    ("parts.log", "How many entries does each component have?", "backup: 4, db: 3"),
    ("parts.log", "parts.log says the db connection was lost and later restored. How many seconds were there between"
     " the two?", "170"),
    ("parts.log", "How many minutes passed between Backup started and Backup finished?", "35.15"),
]  # fmt: skip
GIVEN_UP = [
    ("garden.md", "How many items are in garden.md?"),  # with a box and without
    ("garden.md", "How many sections does garden.md have?"),  # of two levels
    ("garden.md", "What is the third bullet point under Autumn?"),
    ("garden.md", "How many open tasks does Zoe have?"),
    ("garden.md", "How many bullet points are under Summer and Spring?"),
    ("shopping_list.txt", "Is powder or soap on the list?"),
    ("shopping_list.txt", "Is there any fruit on the list?"),
    ("shopping_list.txt", "Are there duplicates in shopping_list.txt?"),
    ("shopping_list.txt", "Is baking soda on the list?"),  # an item has a word of it
    ("shopping_list.txt", "What is the shortest item on the list?"),  # there are two
    ("shopping_list.txt", "How many eggs are on the list?"),
    ("shopping_list.txt", "Which item is the most expensive?"),
    ("shopping_list.txt", "What is the total of the list?"),
    ("guests.txt", "Is Clara on the wedding list?"),
    ("walks.txt", "What is the sum of the squares of the numbers in walks.txt?"),
    ("walks.txt", "How many numbers are in walks.txt that are not above 7?"),
    ("walks.txt", "On which line is the number 7.5?"),  # on two
    ("steps.txt", "How many steps are in steps.txt?"),  # their sum, or the lines
    ("hours.txt", "How many hours did Eve work?"),
    ("car.txt", "What is the tyre pressure?"),
    ("car.txt", "What is the price of the car?"),
    ("car.txt", "Who is the parking spot?"),
    ("car.txt", "How many days are there between the purchase and the sale?"),
    ("car.txt", "By how much is the old rent higher than the new one?"),
    ("move.txt", "How many days are between the move date and the moving date?"),
    ("move.txt", "What is the total quantity of lamps in move.txt?"),
    ("coast.md", "How many items are in coast.md?"),  # of its list, or rows of its table
    ("coast.md", "How many items are in the Budget section?"),
    ("coast.md", "Is there a table in coast.md?"),
    ("coast.md", "How many nights do we stay in coast.md?"),
    ("tool.ini", "What is the port?"),
    ("tool.ini", "What is the port in the shop section of tool.ini?"),
    ("tool.ini", "Which sections are not enabled?"),
    ("ship.yaml", "What is the average power?"),
    ("door.log", "How long was the wifi lost?"),
    ("door.log", "How many seconds are there between wifi lost and battery replaced?"),
    ("parts.log", "When was the disk full?"),  # almost full, and full
    ("parts.log", "How many errors are from payroll?"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("notes")
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize(("name", "question", "right"), RIGHT)
def test_a_question_about_a_note_gets_its_right_answer(folder: Path, name: str, question: str, right: str) -> None:
    assert answered_in(folder, question, seen(name, folder)) == right


@pytest.mark.parametrize(("name", "question"), GIVEN_UP)
def test_what_a_note_leaves_open_gets_no_answer(folder: Path, name: str, question: str) -> None:
    assert answered_in(folder, question, seen(name, folder)) is None


def tool(key: str) -> dict[str, object]:
    """The names in the better version of a tool."""
    operation = next(one for one in all_operations() if one.key == key)
    request = request_for(operation, "")
    fields = fields_of(operation, [one["name"] for one in request["parameters"]], [request["returns"][0]["name"]])
    assert fields is not None
    return Loaded(source_for(operation, request["name"], request["description"], fields, robust=True)).space


WORDS = st.text(string.ascii_lowercase, min_size=1, max_size=9)
LINES = st.text(st.sampled_from("ab#*-[]x :=;|`~1.2\t\n"), max_size=60)
OUTLINE, ENTRIES = tool("outline_items"), tool("entry_value")


def parsed(space: dict[str, object], name: str, reading: str, text: str) -> object:
    """What a function of a tool makes of a text in a file; None where it refuses."""
    space["read_text"] = lambda path: text
    try:
        return space[reading](name)  # type: ignore[operator]
    except ValueError:
        return None


@given(st.lists(st.tuples(st.sampled_from("ox"), WORDS), min_size=1, max_size=6))
def test_each_item_with_a_box_is_found_with_its_state(boxes: list[tuple[str, str]]) -> None:
    text = "".join(f"- [{'x' if mark == 'x' else ' '}] {word}\n" for mark, word in boxes)
    found = parsed(OUTLINE, "a.md", "outline_of", f"# Plan\n\n{text}")
    wanted = [(("Plan",), "done" if mark == "x" else "open", word) for mark, word in boxes]
    assert isinstance(found, list)
    assert [one[:3] for one in found[1:]] == wanted


@given(st.dictionaries(WORDS, st.integers(0, 999), min_size=1, max_size=6), st.sampled_from([": ", " = ", "="]))
def test_each_entry_is_found_with_its_value(entries: dict[str, int], sign: str) -> None:
    text = "".join(f"{key}{sign}{value}\n" for key, value in entries.items())
    for name, start, section in (("a.txt", "", ()), ("a.ini", "[part]\n", ("part",))):
        found = parsed(ENTRIES, name, "entries_of", start + text)
        assert isinstance(found, list)
        assert [one for one in found if one[1]] == [(section, key, str(value)) for key, value in entries.items()]


@given(LINES, st.sampled_from(["a.md", "a.txt", "a.ini", "a.yaml"]))
def test_any_text_is_read_or_refused(text: str, name: str) -> None:
    """Nothing but a refusal may come out: anything else would end the task with a fault of the tool."""
    parsed(OUTLINE, name, "outline_of", text)
    parsed(ENTRIES, name, "entries_of", text)
