"""A right result that is told wrongly, or a result of a call with other arguments than were asked for, is no answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from habilis.core.types import CallOutcome, Invocation, TaskFile
from habilis.rules.evidence import Evidence
from habilis.rules.refusing import mistelling, refusal

TABLE = "station,country,height_m,wind,rain\nAlma,Peru,412,18.5,3.2\nBirk,Norway,1530,44.1,0\nDune,Peru,5,61.3,7.75\n"


def called(result: Any, *, opened: str = "", ordinal: int = 1, tool: str = "tool", **arguments: Any) -> Invocation:
    return Invocation(
        call_id=f"c{ordinal}",
        tool=tool,
        arguments=arguments,
        outcome=CallOutcome(output=result, opened=(opened,) if opened else ()),
        verdict="success",
        text=str(result).replace("'", '"'),
        attempt=1,
        ordinal=ordinal,
    )


@pytest.fixture
def stations(tmp_path: Path) -> TaskFile:
    path = tmp_path / "stations.csv"
    path.write_text(TABLE, encoding="utf-8")
    return TaskFile(named="stations.csv", path=str(path))


def rule_of(answer: str, question: str, *calls: Invocation, files: tuple[TaskFile, ...] = ()) -> str:
    opened = [
        call.model_copy(update={"outcome": call.outcome.model_copy(update={"opened": tuple(f.path for f in files)})})
        for call in calls
    ]
    begins = [Path(file.path).read_text(encoding="utf-8") for file in files]
    known = [file.named for file in files]
    found = refusal(Evidence(answer, question, opened, 1, files=files, begins=begins, known=known))
    return found.rule if found else ""


WINDS = [{"station": "Alma", "wind": 18.5}, {"station": "Birk", "wind": 44.1}, {"station": "Dune", "wind": 61.3}]


@pytest.mark.parametrize(
    ("result", "wrong", "right"),
    [
        ({"rows": WINDS}, "Birk has 61.3.", "Dune has 61.3."),
        ({"Alma": 18.5, "Birk": 44.1}, "Alma: 44.1, Birk: 18.5", "Alma: 18.5, Birk: 44.1"),
        ({"Alma": {"wind": 18.5}, "Birk": {"wind": 44.1}}, "Alma has 44.1.", "Alma has 18.5 and Birk 44.1."),
        ({"names": ["Alma", "Birk"], "winds": [18.5, 44.1]}, "Birk has 18.5.", "Birk has 44.1."),
    ],
)
def test_a_value_is_told_of_its_own_record(result: Any, wrong: str, right: str) -> None:
    assert rule_of(wrong, "Which station has which wind?", called(result)) == "another record"
    assert rule_of(right, "Which station has which wind?", called(result)) == ""


def test_calls_of_one_tool_are_records_and_a_chain_of_tools_is_none() -> None:
    one = called({"wind": 18.5}, tool="wind_of", station="Alma")
    two = called({"wind": 44.1}, tool="wind_of", station="Birk", ordinal=2)
    question = "Is the wind of Alma or that of Birk higher, and by how much?"
    assert rule_of("Alma has 44.1.", question, one, two) == "another record"
    gap = called({"difference": 25.6}, tool="subtract", a=44.1, b=18.5, ordinal=3)
    assert rule_of("Birk is 25.6 higher.", question, one, two, gap) == ""


@pytest.mark.parametrize(
    "answer", ["The strongest is Dune, with 61.3.", "Dune (61.3), 17.2 more than the next.", "Dune"]
)
def test_a_row_of_its_own_may_be_told_with_its_name(answer: str, stations: TaskFile) -> None:
    top = called({"label": "Dune", "maximum": 61.3, "ahead": 17.2}, path="stations.csv", column="wind", label="station")
    question = "Which station in stations.csv has the highest wind?"
    assert rule_of(answer, question, top, files=(stations,)) == ""
    assert rule_of("Birk, with 61.3.", question, top, files=(stations,)) == "values from nowhere"


def test_a_cell_that_no_call_gave_is_not_told(tmp_path: Path) -> None:
    path = tmp_path / "stock.csv"
    path.write_text("item,count\nhinge,75\nlatch,0\n", encoding="utf-8")
    stock = TaskFile(named="stock.csv", path=str(path))
    found = called({"item": "latch", "count": 0})
    question = "Which item in stock.csv has run out?"
    assert rule_of("the hinge", question, found, files=(stock,)) == "another row"
    assert rule_of("the latch", question, found, files=(stock,)) == ""


def test_of_what_a_question_offers_the_one_that_the_results_name_is_told() -> None:
    compared = called({"higher": "north.csv", "by": 105}, first="north.csv", second="south.csv")
    question = "Which of north.csv and south.csv has more rows?"
    assert rule_of("south.csv has more rows.", question, compared) == "another choice"
    assert rule_of("105", question, compared) == "another choice"
    assert rule_of("north.csv, by 105 rows.", question, compared) == ""


@pytest.mark.parametrize(
    ("question", "result", "answer", "rule"),
    [
        ("Is 2027 a prime number?", {"is_prime": True}, "No, it is not.", "turned round"),
        ("Is 2027 a prime number?", {"is_prime": True}, "Yes.", ""),
        ("Is 2027 not a prime number?", {"is_prime": True}, "No, it is one.", ""),
        ("Is 2027 prime?", {"composite": False}, "Yes.", ""),
        ("Is 2027 a prime number?", {"is_prime": True}, "The answer is 2027.", "nothing of the results"),
        ("Is 2027 a prime number?", {"is_prime": True}, "2027 is a prime number.", ""),
    ],
)
def test_yes_stays_yes(question: str, result: Any, answer: str, rule: str) -> None:
    assert rule_of(answer, question, called(result, number=2027)) == rule


def test_a_value_is_not_told_as_a_bound() -> None:
    cost = called({"cost": 480})
    assert rule_of("It cost less than 480.", "What did it cost?", cost) == "a bound for a value"
    assert rule_of("It cost 480.", "What did it cost?", cost) == ""
    assert rule_of("Yes, it cost more than 400.", "Did it cost more than 400?", cost) == ""
    two = called({"Oslo": 17.7, "Lima": 16.8})
    assert rule_of("Oslo has 17.7, more than 16.8 in Lima.", "Which is warmer, Oslo or Lima?", two) == ""


@pytest.mark.parametrize(
    ("answer", "rule"),
    [("1233 km", ""), ("1233", ""), ("1233 m", "values from nowhere"), ("about 1.2 thousand km", "")],
)
def test_a_number_keeps_the_unit_that_its_field_names(answer: str, rule: str) -> None:
    assert rule_of(answer, "How long is it?", called({"length_km": 1233})) == rule


def test_an_answer_states_something_that_a_call_gave() -> None:
    summed = called({"total": 926, "rows": 2}, tool="sum_where", equals="Spain")
    question = "What is the total discharge of the 5 rivers of Spain?"
    assert rule_of("It is 5.", question, summed) == "nothing of the results"
    assert rule_of("It is 2.", question, summed) == "another field"
    assert rule_of("It is 926, over 2 rows.", question, summed) == ""


def test_how_many_is_answered_by_a_number() -> None:
    row = called({"row": {"name": "Luca", "dogs": 3}}, value="Luca")
    assert rule_of("Luca has no dogs.", "How many dogs does Luca have?", row) == "nothing of the results"
    assert rule_of("Luca has three dogs.", "How many dogs does Luca have?", row) == ""
    assert rule_of("Luca has no dogs.", "How many dogs does Luca have?", called({"dogs": 0})) == ""
    assert rule_of("It occurs once.", "How often does it occur?", called({"count": 2})) == "nothing of the results"
    assert rule_of("It occurs twice.", "How often does it occur?", called({"count": 2})) == ""


def test_which_and_who_are_answered_by_a_name(stations: TaskFile) -> None:
    top = called({"label": "Dune", "maximum": 61.3}, path="stations.csv", column="wind", label="station")
    question = "Which station in stations.csv has the highest wind?"
    assert rule_of("The answer is 61.3.", question, top, files=(stations,)) == "a number for a name"
    town = called({"label": "Омск", "maximum": 94.0})
    assert rule_of("94", "В каком городе выпало больше всего?", town) == "a number for a name"
    numbered = called({"year": 1998, "rain": 81.5})
    assert rule_of("1998", "Which year had the most rain?", numbered) == ""


def test_a_field_of_a_row_that_nobody_asked_for_is_no_answer(stations: TaskFile) -> None:
    row = called({"row": {"station": "Birk", "height_m": 1530, "wind": 44.1}}, path="stations.csv", name="Birk")
    asked = "What is the rent of the station Birk in stations.csv?"
    assert rule_of("It is 44.1.", asked, row, files=(stations,)) == "another field"
    assert rule_of("The wind there is 44.1.", asked, row, files=(stations,)) == ""  # says itself what it is
    assert rule_of("1530", "How high is Birk in stations.csv?", row, files=(stations,)) == ""


def test_a_field_that_bears_the_name_of_a_column_need_not_be_one_of_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "stock.csv"
    path.write_text("item,count\nbolt,1200\nnut,800\nhinge,75\n", encoding="utf-8")
    stock, asked = TaskFile(named="stock.csv", path=str(path)), "How many rows does stock.csv have?"
    assert rule_of("It has 3 rows.", asked, called({"count": 3}), files=(stock,)) == ""
    assert rule_of("It has 75 rows.", asked, called({"count": 75}), files=(stock,)) == "another field"


def test_a_name_of_the_question_is_given_to_a_call_or_comes_of_one(stations: TaskFile) -> None:
    question = "How strong is the wind at Alma in stations.csv?"
    counted = called({"result": 3}, path="stations.csv", column="wind")
    assert rule_of("It is 3.", question, counted, files=(stations,)) == "another target"
    listing = called({"rows": WINDS}, path="stations.csv")
    assert rule_of("It is 18.5.", question, listing, files=(stations,)) == ""


def test_a_name_may_be_given_to_a_call_without_its_article(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("pub,kegs\nThe Anchor,4\nThe Swan,9\nOld Oak,2\n", encoding="utf-8")
    sales = TaskFile(named="sales.csv", path=str(tmp_path / "sales.csv"))
    question = "How many kegs did The Anchor take in sales.csv?"
    right = called({"total": 4}, path="sales.csv", column="kegs", where="Anchor")
    assert rule_of("It took 4.", question, right, files=(sales,)) == ""
    wrong = called({"total": 9}, path="sales.csv", column="kegs", where="Swan")
    assert rule_of("It took 9.", question, wrong, files=(sales,)) == "another target"


def test_a_column_is_not_worked_on_twice_in_place_of_another(tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("buyer,units,unit_price\nMira,4,2.5\nNoor,1,99\n", encoding="utf-8")
    orders = TaskFile(named="o.csv", path=str(tmp_path / "o.csv"))
    question = "What are all rows of o.csv worth, units times unit_price?"
    right = called({"total": 109}, path="o.csv", first="units", second="unit_price")
    wrong = called({"total": 9807.25}, path="o.csv", first="unit_price", second="unit_price")
    assert rule_of("It is 109.", question, right, files=(orders,)) == ""
    assert rule_of("It is 9807.25.", question, wrong, files=(orders,)) == "another target"
    counted = called({"total": 4, "rows": 1}, path="o.csv", column="units", where="buyer", equals="Mira")
    asked = "How many units did Mira order in o.csv?"
    assert rule_of("Mira ordered 1.", asked, counted, files=(orders,)) == "another field"
    assert rule_of("Mira ordered 4.", asked, counted, files=(orders,)) == ""


def test_the_most_of_a_column_is_found_in_that_column(stations: TaskFile) -> None:
    row = {"row": {"station": "Birk", "height_m": 1530, "wind": 44.1}}
    question = "Which station in stations.csv has the highest wind?"
    by_height = called(row, path="stations.csv", column="height_m")
    assert rule_of("Birk, with 44.1.", question, by_height, files=(stations,)) == "another target"
    top = {"row": {"station": "Dune", "height_m": 350, "wind": 61.3}}
    by_wind = called(top, path="stations.csv", column="wind")
    assert rule_of("Dune, with 61.3.", question, by_wind, files=(stations,)) == ""


def test_what_is_quoted_is_handed_on_as_it_is() -> None:
    question = "What is the SHA-256 digest of the text 'marzipan'?"
    digest = {"digest": "5c5dd4a0b1"}
    assert rule_of("5c5dd4a0b1", question, called(digest, text="marzipan")) == ""
    assert rule_of("5c5dd4a0b1", question, called(digest, text="marzipan bread")) == "another target"
    assert rule_of("It is marzipan.", question, called(digest, text="marzipan")) == "nothing of the results"
    assert rule_of("5c5dd4a0b1", question, called(digest, text="lost_marzipan")) == "another target"
    assert rule_of("5c5dd4a0b1", question, called(digest, text="marzipan-bread")) == "another target"
    labelled = called(digest, text="marzipan", title="digest_of_marzipan")
    assert rule_of("5c5dd4a0b1", question, labelled) == "", "one argument is what was quoted"


SUM = "What is the total rain of the stations of Peru in stations.csv?"


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"column": "rain", "where": "country", "equals": "Peru"}, ""),
        ({"column": "rain", "where": "country", "equals": "Norway"}, "another target"),
        ({"column": "wind", "where": "country", "equals": "Peru"}, "another target"),
        ({"column": "height_m", "where": "country", "equals": "Peru"}, "another target"),
    ],
)
def test_a_call_is_made_with_the_column_and_the_cell_that_the_question_names(
    arguments: dict[str, Any], rule: str, stations: TaskFile
) -> None:
    summed = called({"total": 10.95}, path="stations.csv", **arguments)
    assert rule_of("It is 10.95.", SUM, summed, files=(stations,)) == rule


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("How many stations in stations.csv are higher than 1000 m?", {"column": "height_m", "above": 1000}),
        ("Which station in stations.csv is the wettest?", {"column": "rain", "label": "station"}),
        ("In which country of stations.csv is the windiest station?", {"column": "wind", "label": "country"}),
        ("How strong is the wind at Alma in stations.csv?", {"column": "wind", "where": "station", "equals": "Alma"}),
        ("What is the mean of rain in stations.csv?", {"column": "rain", "digits": 6, "order": "descending"}),
    ],
)
def test_a_column_that_the_question_means_without_its_name_may_be_worked_on(
    question: str, arguments: dict[str, Any], stations: TaskFile
) -> None:
    found = called({"result": "Birk Norway 1"}, path="stations.csv", **arguments)
    assert rule_of("Birk", question, found, files=(stations,)) == ""


@pytest.mark.parametrize(
    ("question", "arguments", "rule"),
    [
        ("What is 17.5 percent of 2,360?", {"percent": 17.5, "number": 2360}, ""),
        ("What is 17.5 percent of 2,360?", {"percent": 15, "number": 2360}, "another target"),
        ("How many were born after 1990-01-01?", {"after": "1990-01-01"}, ""),
        ("How many were born after 1990-01-01?", {"since": "1990-01-02"}, ""),
        ("How many were born after 1990-01-01?", {"after": "2000-01-01", "column": "born"}, "another target"),
        ("How many were born after 1990?", {"since": 1991}, ""),
    ],
)
def test_a_call_is_made_with_the_numbers_of_the_question(question: str, arguments: dict[str, Any], rule: str) -> None:
    assert rule_of("It is 413.", question, called({"result": 413}, **arguments)) == rule


def test_each_file_that_the_question_names_is_opened(tmp_path: Path) -> None:
    files = []
    for name in ("north.csv", "south.csv"):
        (tmp_path / name).write_text("shop,sales\nElm,310\n", encoding="utf-8")
        files.append(TaskFile(named=name, path=str(tmp_path / name)))
    one = called({"total": 310}, opened=files[0].path)
    question = "What is the total of sales in north.csv and south.csv?"
    asked = Evidence("310", question, [one], 1, files=files)
    found = refusal(asked)
    assert found is not None
    assert found.rule == "no file opened"
    assert "south.csv" in found.reason
    both = called({"total": 310}, opened=files[1].path, ordinal=2)
    assert refusal(Evidence("310", question, [one, both], 1, files=files)) is None


@pytest.mark.parametrize(
    ("answer", "question", "output", "rule"),
    [
        ("It is 413 euros.", "What is 17.5 percent of 2,360?", {"result": 413}, "a unit from nowhere"),
        ("It is $413.", "What does it cost in dollars?", {"result": 413}, ""),
        ("It is 413 €.", "What is the total?", {"total_eur": 413, "currency": "EUR"}, ""),
        ("It is 20.1 °F.", "What is the average temp_c in Lima?", {"mean": 20.1}, "a unit from nowhere"),
        ("It is 20.1 °C.", "What is the average temp_c in Lima?", {"mean": 20.1}, ""),
        ("It is 68 °F.", "Convert 20 C to F.", {"result": 68}, ""),
        ("It is 68 °C.", "What is the mean of temp_f?", {"mean": 68}, "a unit from nowhere"),
    ],
)
def test_a_currency_or_a_degree_is_one_that_something_names(
    answer: str, question: str, output: dict[str, Any], rule: str
) -> None:
    assert rule_of(answer, question, called(output)) == rule


FEVER = "How many degrees Fahrenheit are 36.6 degrees Celsius?"


@pytest.mark.parametrize(
    ("answer", "question", "rule"),
    [
        ("That is 97.88 degrees Celsius.", FEVER, "the unit that was given"),
        ("97.88 °Celsius", FEVER, "the unit that was given"),
        ("36.6 degrees Celsius are 97.88 degrees Fahrenheit.", FEVER, ""),
        ("36.6 degrees Celsius are 97.88.", FEVER, ""),
        ("97.88", FEVER, ""),
        ("It is 97.88 ounces.", "How many grams are in 36.6 ounces?", "the unit that was given"),
        ("It is 97.88 ounces.", "What are 36.6 ounces in grams?", "the unit that was given"),
        ("Das sind 97,88 Unzen.", "Wie viele Gramm sind 36.6 Unzen?", "the unit that was given"),
        ("97.88 parcels", "How many parcels are in 36.6 parcels?", ""),
        ("97.88 days", "How many trips in trips.csv took 36.6 days?", ""),
    ],
)
def test_an_amount_is_given_in_the_unit_that_was_asked_for(answer: str, question: str, rule: str) -> None:
    assert rule_of(answer, question, called({"result": 97.88, "other": 97.88}, amount=36.6)) == rule


def test_the_word_that_the_question_quotes_is_the_one_that_is_told_of() -> None:
    counted = called({"count": 2}, word="piano")
    question = "How often does the word 'piano' occur in letter.txt?"
    assert rule_of("The word 'florins' occurs 2 times.", question, counted) == "another word"
    assert rule_of("The word 'piano' occurs 2 times.", question, counted) == ""
    turned = called({"text": "onaip"}, text="piano")
    assert rule_of("It is 'onaip'.", "What is 'piano' written backwards?", turned) == ""
    assert rule_of("It is a 'light' table.", "Which table is it?", called({"name": "table"})) == ""


def test_a_name_of_another_row_is_known_in_each_of_its_forms(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(
        "имя,город\nАнна,Казань\nГлеб,Пермь\nМарина,Казань\nМария,Тверь\n", encoding="utf-8"
    )
    table = TaskFile(named="m.csv", path=str(tmp_path / "m.csv"))
    counted = called({"count": 2}, path="m.csv", column="город", value="Казань")
    question = "Сколько человек в m.csv живёт в городе Казань?"
    given = Evidence("В Перми живёт 2 человека.", question, [counted], 1, files=(table,))
    assert (found := mistelling(given)) is not None
    assert found.rule == "another row"
    assert rule_of("В Казани живёт 2 человека.", question, counted, files=(table,)) == ""
    row = called({"row": {"имя": "Марина", "город": "Казань"}}, path="m.csv", column="имя", value="Марина")
    assert rule_of("Город Марины - Казань.", "Где в m.csv живёт Марина?", row, files=(table,)) == ""


def test_a_date_is_no_number_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("name,born,dogs\nKira,1993-08-15,1\nLuca,1969-03-30,3\n", encoding="utf-8")
    contacts = TaskFile(named="c.csv", path=str(tmp_path / "c.csv"))
    row = called({"row": {"name": "Kira", "born": "1993-08-15", "dogs": "1"}}, path="c.csv", value="Kira")

    def rule(answer: str, question: str) -> str:
        return rule_of(answer, question, row, files=(contacts,))

    assert rule("It is 1993-08-15.", "What is Kira's telephone number in c.csv?") == "a date for a number"
    assert rule("1993-08-15", "When was Kira born, by c.csv?") == ""
    assert rule("1993-08-15", "What is the date of birth of Kira, number 1 of c.csv?") == ""
    assert rule("1, as of 1993-08-15", "What is the number of dogs of Kira in c.csv?") == ""


def test_a_time_of_the_question_may_be_given_in_one_unit() -> None:
    question = "A clock at UTC+9:30 shows 22:15. What does one at UTC-3 show?"
    for offset in (9.5, 570):
        assert rule_of("It shows 09:45.", question, called({"time": "09:45"}, time="22:15", offset=offset, to=-3)) == ""
    other = called({"time": "10:45"}, time="22:15", offset=10.5, to=-3)
    assert rule_of("It shows 10:45.", question, other) == "another target"


def test_a_plural_of_three_letters_is_the_same_word(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("| Path | km | Dogs |\n|---|---|---|\n| Mill | 31.5 | yes |\n", encoding="utf-8")
    file = TaskFile(named="x.md", path=str(tmp_path / "x.md"))
    question = "How many kilometres may I walk with my dog?"
    call = called({"total": 31.5}, column="km", where="Dogs", equals="yes", path="x.md")
    assert rule_of("31.5 km", question, call, files=(file,)) == ""


def test_a_short_column_is_named_in_another_case(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("экспонат\tматериал\tзал\nШлем\tбронза\tАнтичный\n", encoding="utf-8")
    file = TaskFile(named="x.tsv", path=str(tmp_path / "x.tsv"))
    call = called(
        {"values": ["Античный"]}, opened=file.path, where="материал", equals="бронза", give="зал", path="x.tsv"
    )
    assert rule_of("Античный", "В каких залах x.tsv стоят экспонаты из бронзы?", call, files=(file,)) == ""
