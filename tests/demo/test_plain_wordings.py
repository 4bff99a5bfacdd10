"""Plain questions in words that are not the table's: what is not quite said is given up, not guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from habilis.demo.form import peel

from .test_own_files import seen
from .test_queries import answered_in

FOLDER = Path(__file__).parent / "strangers_nine_files"


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("How many Photography jobs are there in invoices.csv?", "4"),
        ("How many Photography refunds are there in invoices.csv?", None),
        ("I need the two biggest invoices by amount from invoices.csv - just the numbers, largest first.",
         "2024-008, 2024-004"),
        ("Counting only unpaid invoices in invoices.csv, how many are there?", "5"),
        ("How many of the paid invoices in invoices.csv came in after their due date?", "3"),
        ("How much money is still outstanding in invoices.csv, adding up those that haven't been paid?", "4070.5"),
        ("How much money is still outstanding in invoices.csv?", None),
        ("How many pieces of TB-118 are on hand in stockroom.csv?", "22"),
        ("How many units do we hold from Kilnhouse in stockroom.csv?", "102"),
        ("What is the unit cost of the Dinner plate in stockroom.csv? Give it as it stands in the file.", "6.75"),
        ("Whose payment is the largest in workshop_guests.csv?", "Wanda Szulc"),
        ("How many guests arrive on Saturday in workshop_guests.csv?", "10"),
        ("Which city turns up most often in workshop_guests.csv?", "Ghent"),
        ("What meal did Greta Olsen choose in workshop_guests.csv?", "vegetarian"),
        ("What meal did Greta Olsen not choose in workshop_guests.csv?", None),
        ("How many training days (working days) were there in leave_requests.csv?", "12"),
        ("How often did I stop at Shelby Fuels, per fuel_log.csv?", "6"),
        ("What have I spent on fuel altogether in fuel_log.csv? Two decimals.", "796.96"),
        ("Sum of litres during March 2025 in fuel_log.csv (two decimals; the dates are day/month/year).", "152.15"),
        ("Who has the highest fee paid in workshop_guests.csv? Write the name as it is in the file.", "Wanda Szulc"),
        ("What is the unit cost of the Dinner plate (see stockroom.csv)?", "6.75"),
        ("How many vacation requests (approved = yes) are there in leave_requests.csv?", "9"),
        ("How many vacation requests (not approved) are there in leave_requests.csv?", "4"),
        ("How many vacation requests (approved or not) are there in leave_requests.csv?", None),
        ("How many vacation requests (sick) are there in leave_requests.csv?", None),
    ],
)  # fmt: skip
def test_words_that_are_not_those_of_the_table(question: str, right: str | None) -> None:
    name = next(word.strip(",?.()") for word in question.split() if ".csv" in word)
    assert answered_in(FOLDER, question, seen(name, FOLDER)) == right


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("What do all the subscriptions in subscriptions.json cost us per month together?", "167.92"),
        ("Which subscription in subscriptions.json has been running the longest?", "Flixora"),
        ("How many of the services listed in subscriptions.json renew automatically?", "7"),
        ("By how much is Flixora dearer per month than Tunebarn in subscriptions.json? Two decimals.", "2.50"),
        ("How much more expensive than Tunebarn is Nothing in subscriptions.json?", None),
        ("How many subscriptions in subscriptions.json started per year?",
         "2019: 1, 2020: 2, 2021: 2, 2022: 2, 2023: 2, 2024: 3"),
    ],
)  # fmt: skip
def test_what_is_paid_each_month_and_since_when(question: str, right: str | None) -> None:
    assert answered_in(FOLDER, question, seen("subscriptions.json", FOLDER)) == right


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("How many times did the accounts job finish with status ok in backup.log?", "3"),
        ("What is the total size_mb of the photos job in backup.log?", "4814"),
        ("What is the largest number of files of the mail job in backup.log?", "205"),
        ("Which job failed most often in backup.log?", "mail"),
        ("How many entries of the mail job have the status failed in backup.log?", "3"),
        ("What is the average duration_s of the mail job in backup.log? One decimal.", "33.2"),
        ("How many ERROR lines are there in backup.log?", "5"),
        ("What is the total size_mb of the music job in backup.log?", None),
    ],
)
def test_what_the_messages_of_a_log_name_are_columns(question: str, right: str | None) -> None:
    assert answered_in(FOLDER, question, seen("backup.log", FOLDER)) == right


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ("contract,started,city\nA,2020-01-01,Oslo\nB,2021-01-01,Bern\n", "A"),
        ("contract,started,ended\nA,2020-01-01,2020-02-01\nB,2021-01-01,2024-01-01\n", None),
        ("contract,started,minutes\nA,2020-01-01,5\nB,2021-01-01,90\n", "B"),
    ],
    ids=["since when", "until when too", "for how long"],
)
def test_the_longest_is_the_earliest_only_where_nothing_says_how_long(
    tmp_path: Path, rows: str, right: str | None
) -> None:
    (tmp_path / "contracts.csv").write_text(rows, encoding="utf-8")
    asked = "Which contract in contracts.csv has run the longest?"
    assert answered_in(tmp_path, asked, seen("contracts.csv", tmp_path)) == right


@pytest.mark.parametrize("question", ["What is the average of (2; 4; 9)?", "What is the sum of (3; two decimals)?"])
def test_values_in_brackets_are_no_remarks(question: str) -> None:
    assert "(" in peel(question)[0]


INVOICES = "no,client,due,amount,paid\nR1,Ada,2024-01-05,10,yes\nR2,Ada,2024-02-05,20,no\nR3,Bo,2024-03-05,40,yes\n"
FEES = "member,date,monthly_fee\nAda,2024-01-05,10\nAda,2024-02-05,20\nBo,2024-02-07,40\n"
LOG = "2024-11-01 02:00:04 INFO user=ada user=bo size=3\n2024-11-02 02:00:04 INFO user=cy size=4\n"


@pytest.mark.parametrize(
    ("name", "text", "question", "right"),
    [
        ("invoices.csv", INVOICES, "How much is outstanding in invoices.csv, adding up the invoices of Ada?", None),
        (
            "invoices.csv",
            INVOICES,
            "How much is outstanding in invoices.csv, adding up the unpaid invoices of Ada?",
            "20",
        ),
        ("fees.csv", FEES, "How much did Ada pay per month in fees.csv?", None),
        ("jobs.log", LOG, "What is the total size of user bo in jobs.log?", None),
    ],
    ids=["paid ones too", "unpaid ones", "month by month", "named twice in one line"],
)
def test_what_may_be_something_else_is_given_up(
    tmp_path: Path, name: str, text: str, question: str, right: str | None
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert answered_in(tmp_path, question, seen(name, tmp_path)) == right


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("How many instruments in instruments.json are insured?", "9"),
        ("What is the mean price of the Yamaha instruments in instruments.json?", "424.4"),
        ("When did we buy the cello C2? See instruments.json.", "2021-03-18"),
        ("How many violins were lent in instruments.json?", None),  # loans have no types
        ("How many instruments were returned in instruments.json?", None),
        ("When was Mango born, according to pet_book.json?", "2021-10-30"),
        ("How many visits in pet_book.json were for a booster?", "5"),
        ("How much have we spent on Biscuit in pet_book.json?", "504.65"),
        ("How many pets weigh more than 10 kg in pet_book.json?", None),  # visits do
        ("Which pet was the most expensive in pet_book.json?", None),
        ("Which is the youngest pet in pet_book.json?", "Olive"),
        ("Who has the most badges in swim_club.csv?", "Gwen Parry"),
        ("Who coaches Ben Torres in swim_club.csv?", "Phil"),
        ("Which swimmers in swim_club.csv have not paid their fee?",
         "Chloe Adams, Finn Murphy, Keira Doyle, Noah Evans, Sophie Lane"),
        ("What is the average 50m free time of the Dolphins in swim_club.csv?", "46.6"),
        ("When did Isla Brown join the club? You'll find it in swim_club.csv.", "2021-09-13"),
        ("What did the parts cost in total for all e-bike jobs in repairs.csv?", "702"),
        ("Who has the most hours in repairs.csv?", None),  # the customer or the mechanic
    ],
)  # fmt: skip
def test_lists_of_different_things_and_rosters(question: str, right: str | None) -> None:
    folder = FOLDER.with_name("strangers_eleven_files")
    name = next(word.strip(",?.") for word in question.split() if word.strip(",?.").endswith((".csv", ".json")))
    assert answered_in(folder, question, seen(name, folder)) == right


def test_lists_of_the_same_things_are_one_table(tmp_path: Path) -> None:
    rows = {"2023": [{"item": "oak", "price": 3}], "2024": [{"item": "elm", "price": 5}, {"item": "ash", "price": 9}]}
    (tmp_path / "wood.json").write_text(json.dumps(rows))
    assert answered_in(tmp_path, "What is the total price in wood.json?", seen("wood.json", tmp_path)) == "17"
