"""What the offline model does not understand it says, and no text of any kind makes it fail."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.demo import MODEL_NAME, reply
from habilis.demo.form import peel, written
from habilis.demo.understanding import understand

SALES = "sales.csv"
NOT_UNDERSTOOD = [
    "What is the capital of France?",
    "Write a poem about the sea.",
    "Who won the race?",
    "Summarise notes.txt",
    "Wie hoch ist der Durchschnittspreis in sales.csv?",
    "Quel est le prix moyen dans sales.csv ?",
    "¿Cuál es la suma de 3 y 5?",
    "sales.csv の平均価格は?",
    "What is today's date?",
    "How many days until Christmas?",
    "How many days are between 03/04/2025 and 05/06/2025?",
    "What is 5?",
    "What is x + 2?",
    "What is 200 + 10%?",
    "What is the average?",
    "What is the mean of apples and pears?",
    "Is the sky prime?",
    "What is the average price in sales.csv for products whose name starts with k?",
    "What is the average price in sales.csv per region and month?",
    "What is the average price in sales.csv for the last quarter?",
    "What is the weather in Ostwick?",
    "Delete sales.csv",
    "What is 6 divided by 2(1+2)?",
    "What is the largest prime factor of 360?",
    "What is the total cost of 3 apples?",
    "How many items are in sales.csv?",
    "What is the average of price and quantity in sales.csv?",
    "population standard deviation of price in sales.csv",
    "What is the lowest price in sales.csv and its product?",
    "What is the average non-zero price in sales.csv?",
    "What was the average price in sales.csv last year?",
    "Why is the average price in sales.csv 22.5?",
    "If the average price doubles, what is the average price in sales.csv?",
    "What is not the average price in sales.csv?",
    "Sum of the numbers from 1 to 100",
    "How many rows would sales.csv have if we removed the north region?",
    "What is 12 * (3 + 4",
    "",
    "?",
    "   ",
    "@F0",
    "What is the average price in sales.csv? Also bake a cake.",
]


@pytest.mark.parametrize("question", NOT_UNDERSTOOD)
def test_a_question_that_is_not_understood_gets_no_tool_and_a_plain_word(player, question):
    played = player.play(question, [SALES])
    assert played.plan == {"required_tool_names": [], "tool_usage_guidance": "", "tool_requests": []}
    assert played.status == "gave_up"
    assert played.calls == []
    assert MODEL_NAME in played.text
    if not any(said in played.text for said in ("has no column", "No file", 'does not understand "')):
        assert all(word in played.text for word in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"))


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("What is the stock of every second product in inventory.json?", "inventory.json"),
        ("total stock for products with a price over the average in inventory.json", "inventory.json"),
        ("What is the average word length in notes.txt?", "notes.txt"),
        ("How many words are in the first paragraph of notes.txt?", "notes.txt"),
        ("How many lines in notes.txt contain rope and oar?", "notes.txt"),
        ("What is the 3rd most common word in notes.txt?", "notes.txt"),
        ("What is the sum of all numbers in notes.txt?", "notes.txt"),
    ],
)
def test_a_part_of_a_question_that_is_not_understood_is_never_left_out(player, question, file):
    played = player.play(question, [file])
    assert (played.status, played.calls) == ("gave_up", [])


@pytest.mark.parametrize(
    ("question", "files", "missing", "said"),
    [
        ("What is the average cost in sales.csv?", [SALES], [], 'no column "cost"'),
        ("What is the average price in nowhere.csv?", [], ["nowhere.csv"], "nowhere.csv does not exist"),
        ("How many words are there?", [], [], "No file was given"),
        ("What is the average price?", ["sales.csv", "sales_semicolon.csv"], [], "name one"),
    ],
)
def test_what_is_understood_but_cannot_be_done_is_said_with_its_reason(player, question, files, missing, said):
    played = player.play(question, files, missing=missing)
    assert played.status == "gave_up"
    assert said in played.text
    assert played.plan["tool_requests"] == []


@pytest.mark.parametrize(
    "question",
    [
        "What is the average price in empty.csv?",
        "What is 5 / 0?",
        "What is the total price in sales.csv where region is moon?",
    ],
)
def test_a_question_without_an_answer_ends_without_one(player, question):
    played = player.play(question, [name for name in ("empty.csv", SALES) if name in question])
    assert played.status == "gave_up"
    assert played.rounds <= 3
    assert "The tool for this step failed" in played.text


TEXT = st.text(max_size=300)
JUMBLE = """what is the average mean sum of price in sales.csv where region over 10 times plus ( ) % 3 , and how many
rows words between 2024-01-01 a prime " ' @ {0} } { <question> </question> <candidates> - 1e999 999999999999 ^ sqrt
json path . ? convert 5 km to miles how far 'abc' base64 decode hex roman XLII binary in base 7 levenshtein distance and
if 1 EUR is $2 costs euros per each kg , matches of the regex `(a+)+` lines log ERROR entries by level busiest hour
requests status 404 slowest highest group for each has most links h2 headings cells table title /x/"""
PIECES = st.sampled_from(JUMBLE.split())
QUIET = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(TEXT)
def test_no_text_makes_understanding_fail(text):
    understand(text)


@QUIET
@given(st.lists(PIECES, max_size=25).map(" ".join))
def test_no_jumble_of_known_words_makes_understanding_fail(text):
    understand(text, missing=())


@QUIET
@given(st.lists(PIECES, max_size=20).map(" ".join), TEXT)
def test_no_message_makes_a_reply_fail(jumble, text):
    for body in (jumble, text, f"<question>\n{jumble}\n</question>\n<candidates>\n{text}\n</candidates>"):
        message = reply([SystemMessage(text), HumanMessage(body)])
        assert message.content or message.tool_calls
    for tag in ("tool_request", "calls", "invocations", "findings", "work"):
        assert reply([HumanMessage(f"<question>\n{jumble}\n</question>\n<{tag}>\n{text}\n</{tag}>")]).content
    for opening in ('tool_code name="x"', 'records tool="x"'):
        tag = opening.split()[0]
        assert reply([HumanMessage(f"<{opening}>\n{text}\n</{tag}>\n<failures>\n{jumble}\n</failures>")]).content


@QUIET
@given(TEXT, TEXT)
def test_no_tool_result_makes_the_executor_fail(result, name):
    question = "<question>\nWhat is 2 + 3?\n</question>"
    tool = {"type": "function", "function": {"name": name, "description": result, "parameters": {"type": "object"}}}
    asked = AIMessage("", tool_calls=[{"name": name, "args": {"expression": "2 + 3"}, "id": "a"}])
    said = reply([HumanMessage(question), asked, ToolMessage(result, tool_call_id="a")], [tool])
    assert said.content or said.tool_calls


@QUIET
@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_is_written_close_to_its_value_and_never_long(value):
    text = written(value)
    assert len(text) <= 330
    if value == value and abs(value) not in (float("inf"),):
        assert float(text) == pytest.approx(value, rel=1e-5, abs=1e-300)


@pytest.mark.parametrize(
    ("question", "rest", "decimals", "scale"),
    [
        ("What is 1 / 3 rounded to 2 decimals?", "What is 1 / 3", 2, 1),
        ("What is 1 / 3, to three decimal places?", "What is 1 / 3", 3, 1),
        ("What is 7 / 2 to the nearest integer?", "What is 7 / 2", 0, 1),
        ("What is 7 / 2? Give only the number.", "What is 7 / 2", None, 1),
        ("What is 5000 * 3 in thousands, rounded to 1 decimal?", "What is 5000 * 3", 1, 1000),
    ],
)
def test_the_form_of_the_answer_is_taken_from_the_question(question, rest, decimals, scale):
    text, form = peel(question)
    assert (text.rstrip("?"), form.decimals, form.scale) == (rest, decimals, scale)
