"""Forty small questions with their files and right answers, and the libraries that they are asked with.

Written before any model had answered one. Every second question (`held`) is for judging alone: nothing is tuned on it.
The answers are computed here, by other code than any tool's.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path

TABLES: dict[str, str] = {
    "stations.csv": "station,height_m,wind,rain\nAlma,412,18.5,3.2\nBirk,1530,44.1,0\nCorvo,88,27.9,12.4\n"
    "Dune,5,61.3,7.75\nElm,960,9.6,21\n",
    "orders.csv": "order;customer;amount;date\n1001;Ines;129,90;2026-02-03\n1002;Tomas;15,00;2026-02-11\n"
    "1003;Ines;48,35;2026-03-01\n1004;Wei;310,00;2026-03-19\n1005;Tomas;99,99;2026-04-02\n",
    "stock.csv": "item,shelf,count,price\nbolt,A1,1200,0.05\nnut,A1,800,0.04\nhinge,B2,75,2.40\nlatch,B2,0,3.10\n"
    "plate,C1,33,11.25\nscrew,A2,4100,0.02\n",
    "marks.json": json.dumps(
        [
            {"name": "Aiko", "course": "physics", "mark": 81},
            {"name": "Bela", "course": "physics", "mark": 67},
            {"name": "Aiko", "course": "history", "mark": 93},
            {"name": "Dario", "course": "history", "mark": 58},
            {"name": "Bela", "course": "music", "mark": 77},
        ]
    ),
    "server.log": "2026-05-01T08:00:01 INFO start\n2026-05-01T08:00:09 ERROR disk full on /var\n"
    "2026-05-01T08:01:30 WARN slow query 2310 ms\n2026-05-01T08:02:00 INFO request 200\n"
    "2026-05-01T08:02:41 ERROR timeout after 30 s\n2026-05-01T08:05:12 INFO stop\n",
    "note.txt": "The lighthouse keeper counted seven gulls at dawn.\nBy noon there were only four.\n"
    "At dusk a storm came, and none were left.\n",
    "people.csv": "name,born,city\nOlga,1984-07-12,Riga\nPietro,1991-01-30,Turin\nQuang,1979-11-05,Hue\n"
    "Rosa,2002-02-28,Lima\n",
}


@dataclass(frozen=True)
class Question:
    """`answer`: the right one; None where the file does not hold it, so that only an honest 'no answer' is right."""

    text: str
    answer: str | None
    files: tuple[str, ...] = ()
    held: bool = False


def _rows(name: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(TABLES[name]), delimiter=delimiter))


def _text(number: float) -> str:
    return f"{round(number, 6):g}" if abs(number) < 1e5 else str(round(number))


def questions() -> list[Question]:
    """All forty, every second one held back."""
    stations, stock, people = _rows("stations.csv"), _rows("stock.csv"), _rows("people.csv")
    orders = [{**row, "amount": float(row["amount"].replace(",", "."))} for row in _rows("orders.csv", ";")]
    marks = json.loads(TABLES["marks.json"])
    wind = {row["station"]: float(row["wind"]) for row in stations}
    rain = [float(row["rain"]) for row in stations]
    worth = [int(row["count"]) * float(row["price"]) for row in stock]
    physics = [row["mark"] for row in marks if row["course"] == "physics"]
    letters = TABLES["note.txt"]
    asked: list[tuple[str, str | None, str]] = [
        ("What is the highest wind in stations.csv?", _text(max(wind.values())), "stations.csv"),
        ("What is 48317 times 9274?", str(48317 * 9274), ""),
        ("Which station in stations.csv has the lowest wind?", min(wind, key=lambda name: wind[name]), "stations.csv"),
        ("How many days are there from 2026-03-15 to 2026-11-02?", _days("2026-03-15", "2026-11-02"), ""),
        ("What is the average rain in stations.csv?", _text(sum(rain) / len(rain)), "stations.csv"),
        ("What is the SHA-256 digest of the text 'gullwing'?", hashlib.sha256(b"gullwing").hexdigest(), ""),
        ("How many rows does stock.csv have, without the header?", str(len(stock)), "stock.csv"),
        ("What is the total of count in stock.csv?", str(sum(int(row["count"]) for row in stock)), "stock.csv"),
        ("What is the total worth of the stock in stock.csv, count times price?", _text(sum(worth)), "stock.csv"),
        ("Which item in stock.csv has a count of 0?", "latch", "stock.csv"),
        ("How many ERROR lines are in server.log?", "2", "server.log"),
        ("At what time did the first ERROR happen in server.log?", "08:00:09", "server.log"),
        ("How many words does note.txt have?", str(len(letters.split())), "note.txt"),
        ("Reverse the text 'stonecutter'.", "stonecutter"[::-1], ""),
        ("What is the total amount of the orders of Ines in orders.csv?", _spent(orders, "Ines"), "orders.csv"),
        ("Which customer in orders.csv spent most in all?", "Wei", "orders.csv"),
        ("What is the average mark in physics in marks.json?", _text(sum(physics) / len(physics)), "marks.json"),
        ("Who has the highest mark in marks.json, and in which course?", "Aiko, history", "marks.json"),
        ("Who is the oldest person in people.csv?", min(people, key=lambda row: row["born"])["name"], "people.csv"),
        ("How many people in people.csv were born after 1990-01-01?", "2", "people.csv"),
        ("What is the sum of all whole numbers from 1 to 250?", str(sum(range(1, 251))), ""),
        ("What is the remainder of 987654 divided by 321?", str(987654 % 321), ""),
        ("Convert 72 degrees Fahrenheit to Celsius, to one decimal.", f"{(72 - 32) * 5 / 9:.1f}", ""),
        ("How many seconds are 3 hours, 25 minutes and 7 seconds?", str(3 * 3600 + 25 * 60 + 7), ""),
        ("What is the largest prime factor of 13195?", "29", ""),
        ("How many letters 'e' are in the text 'the severe breeze'?", str("the severe breeze".count("e")), ""),
        ("What weekday was 2024-02-29?", date(2024, 2, 29).strftime("%A"), ""),
        ("Write 2026 in Roman numerals.", "MMXXVI", ""),
        ("Sort these numbers in rising order: 44, -3, 17.5, 0, 9.", "-3, 0, 9, 17.5, 44", ""),
        ("What is the median of 12, 7, 3, 41, 19, 8?", "10", ""),
        ("What is the second highest height_m in stations.csv?", "960", "stations.csv"),
        (
            "What is the difference between the highest and the lowest wind in stations.csv?",
            _text(61.3 - 9.6),
            "stations.csv",
        ),
        ("What was the highest temperature in stations.csv?", None, "stations.csv"),
        ("What is the phone number of Rosa in people.csv?", None, "people.csv"),
        ("Which orders in orders.csv were paid by card?", None, "orders.csv"),
        ("What is the average mark in chemistry in marks.json?", None, "marks.json"),
        ("How many gulls were there at noon, according to note.txt?", "4", "note.txt"),
        ("What is 15 percent of 1,240?", "186", ""),
        ("How long was the slow query in server.log, in milliseconds?", "2310", "server.log"),
        ("How many orders in orders.csv were made in March 2026?", "2", "orders.csv"),
    ]
    return [
        Question(text, answer, (file,) if file else (), held=bool(number % 2))
        for number, (text, answer, file) in enumerate(asked)
    ]


def _days(first: str, last: str) -> str:
    return str((date.fromisoformat(last) - date.fromisoformat(first)).days)


def _spent(orders: list[dict[str, object]], customer: str) -> str:
    return _text(sum(float(str(row["amount"])) for row in orders if row["customer"] == customer))


def lay_out(folder: Path) -> None:
    """Write the files of the questions into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TABLES.items():
        (folder / name).write_text(text, encoding="utf-8")
