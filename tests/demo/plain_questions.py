# ruff: noqa: E501
"""Plain questions about small tables, each with its right answer worked out from the rows by itself.

`rows` are the rows as `csv.DictReader` gives them: every cell as it is written. An answer is a number, a text, a list or
an object of these; None where the question leaves open what is meant, so that nothing may be answered.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

TABLES = Path(__file__).parent / "tables"
Row = dict[str, str]
Asked = tuple[str, str, Callable[[list[Row]], Any]]


def rows_of(name: str) -> list[Row]:
    text = (TABLES / name).read_text(encoding="utf-8")
    divider = max(",;\t", key=text.partition("\n")[0].count)
    return list(csv.DictReader(text.splitlines(), delimiter=divider))


def num(row: Row, name: str) -> float:
    return float(row[name].replace("$", "").replace(",", "." if name in ("temp_c", "rain_mm") else ""))


def nums(rows: list[Row], name: str, where: Callable[[Row], bool] = lambda row: True) -> list[float]:
    return [num(row, name) for row in rows if row[name] and where(row)]


def by(rows: list[Row], group: Callable[[Row], str], of: Callable[[list[Row]], Any]) -> dict[str, Any]:
    keys = sorted({group(row) for row in rows})
    return {key: of([row for row in rows if group(row) == key]) for key in keys}


def count(rows: list[Row], where: Callable[[Row], bool]) -> int:
    return sum(map(where, rows))


def share(rows: list[Row], where: Callable[[Row], bool]) -> float:
    return 100 * count(rows, where) / len(rows)


def top(rows: list[Row], name: str, shown: str, n: int = 1, *, lowest: bool = False) -> list[str]:
    there = sorted((row for row in rows if row[name]), key=lambda row: num(row, name), reverse=not lowest)
    return [row[shown] for row in there[:n]]


ORDERS, E, T, W, B, X, S, C = (
    "orders.csv", "employees.csv", "bike_trips.csv", "weather.csv", "books.csv", "expenses.csv", "students.csv",
    "countries.tsv",
)  # fmt: skip

TUNED: tuple[Asked, ...] = (
    ("How many orders were shipped in orders.csv?", ORDERS, lambda r: count(r, lambda x: x["status"] == "shipped")),
    ("How many orders came from Oslo?", ORDERS, lambda r: count(r, lambda x: x["city"] == "Oslo")),
    ("How many orders in Oslo were not shipped?", ORDERS, lambda r: count(r, lambda x: x["city"] == "Oslo" and x["status"] != "shipped")),
    ("What is the total quantity of lamps in orders.csv?", ORDERS, lambda r: sum(nums(r, "quantity", lambda x: x["product"] == "lamp"))),
    ("What is the total quantity where product is lamp and city is Oslo?", ORDERS, lambda r: sum(nums(r, "quantity", lambda x: x["product"] == "lamp" and x["city"] == "Oslo"))),
    ("What is the average unit price in March?", ORDERS, lambda r: mean(nums(r, "unit_price", lambda x: x["date"][5:7] == "03"))),
    ("How many orders were placed per month?", ORDERS, lambda r: by(r, lambda x: x["date"][:7], len)),
    ("Which city has the highest average unit price?", ORDERS, lambda r: (lambda g: [max(g, key=g.get)])(by(r, lambda x: x["city"], lambda y: mean(nums(y, "unit_price"))))),
    ("What percentage of orders were returned?", ORDERS, lambda r: share(r, lambda x: x["status"] == "returned")),
    ("What is the sum of quantity times unit price?", ORDERS, lambda r: sum(num(x, "quantity") * num(x, "unit_price") for x in r)),
    ("What is the total revenue?", ORDERS, lambda r: None),
    ("Top 2 cities by total quantity", ORDERS, lambda r: (lambda g: sorted(g, key=g.get, reverse=True)[:2])(by(r, lambda x: x["city"], lambda y: sum(nums(y, "quantity"))))),
    ("How many orders have a unit price over 100 and a quantity of at least 2?", ORDERS, lambda r: count(r, lambda x: num(x, "unit_price") > 100 and num(x, "quantity") >= 2)),
    ("How many different customers ordered in Oslo?", ORDERS, lambda r: len({x["customer"] for x in r if x["city"] == "Oslo"})),
    ("How many orders were placed between 2024-02-01 and 2024-03-15?", ORDERS, lambda r: count(r, lambda x: "2024-02-01" <= x["date"] <= "2024-03-15")),
    ("How many employees work in Engineering?", E, lambda r: count(r, lambda x: x["department"] == "Engineering")),
    ("What is the average salary in the Sales department?", E, lambda r: mean(nums(r, "salary_eur", lambda x: x["department"] == "Sales"))),
    ("Who has the highest salary?", E, lambda r: top(r, "salary_eur", "name")),
    ("Who are the three oldest employees?", E, lambda r: top(r, "age", "name", 3)),
    ("What is the median salary by department?", E, lambda r: by(r, lambda x: x["department"], lambda y: median(nums(y, "salary_eur")))),
    ("How many people work remotely?", E, lambda r: count(r, lambda x: x["remote"] == "yes")),
    ("How many employees are remote?", E, lambda r: count(r, lambda x: x["remote"] == "yes")),
    ("What share of employees in Engineering is remote?", E, lambda r: share([x for x in r if x["department"] == "Engineering"], lambda x: x["remote"] == "yes")),
    ("How many employees were hired before 2020?", E, lambda r: count(r, lambda x: x["hired"][-4:] < "2020")),
    ("How many employees were hired after 1 June 2020?", E, lambda r: count(r, lambda x: (x["hired"][-4:], x["hired"][3:5], x["hired"][:2]) > ("2020", "06", "01"))),
    ("List the employees older than 40", E, lambda r: [x["name"] for x in r if num(x, "age") > 40]),
    ("What is the salary of Siri Moe?", E, lambda r: [4300]),
    ("How many trips started before 09:00?", T, lambda r: count(r, lambda x: x["started_at"][11:] < "09:00")),
    ("What is the average duration of trips by members?", T, lambda r: mean(nums(r, "minutes", lambda x: x["member"] == "true"))),
    ("What is the longest distance of a trip from Harbour?", T, lambda r: max(nums(r, "distance_km", lambda x: x["from_station"] == "Harbour"))),
    ("How many trips were longer than 20 minutes?", T, lambda r: count(r, lambda x: num(x, "minutes") > 20)),
    ("What is the average of minutes where from station is Harbour?", T, lambda r: mean(nums(r, "minutes", lambda x: x["from_station"] == "Harbour"))),
    ("How many trips are there for each from station?", T, lambda r: by(r, lambda x: x["from_station"], len)),
    ("What is the total distance per day?", T, lambda r: by(r, lambda x: x["started_at"][:10], lambda y: sum(nums(y, "distance_km")))),
    ("What percentage of trips in June were made by members?", T, lambda r: share([x for x in r if x["started_at"][5:7] == "06"], lambda x: x["member"] == "true")),
    ("What is the average temperature at Lake?", W, lambda r: mean(nums(r, "temp_c", lambda x: x["station"] == "Lake"))),
    ("What is the total rain in December 2023 at Hill?", W, lambda r: sum(nums(r, "rain_mm", lambda x: x["station"] == "Hill" and x["day"][:7] == "2023-12"))),
    ("What was the lowest temperature in November?", W, lambda r: min(nums(r, "temp_c", lambda x: x["day"][5:7] == "11"))),
    ("On which day was the wind highest?", W, lambda r: top(r, "wind_kmh", "day")),
    ("How many rows have no temperature?", W, lambda r: count(r, lambda x: not x["temp_c"])),
    ("What is the mean rain per station?", W, lambda r: by(r, lambda x: x["station"], lambda y: mean(nums(y, "rain_mm")))),
    ("How many novels are in books.csv?", B, lambda r: count(r, lambda x: x["genre"] == "novel")),
    ("What is the average price of books by M. Ferro?", B, lambda r: mean(nums(r, "price", lambda x: x["author"] == "M. Ferro"))),
    ("What are the three most expensive books?", B, lambda r: top(r, "price", "title", 3)),
    ("What is the second longest book by pages?", B, lambda r: ["Deep Water"]),
    ("Which book has the most pages?", B, lambda r: top(r, "pages", "title")),
    ("How many books published after 2010 cost less than 20?", B, lambda r: count(r, lambda x: num(x, "year") > 2010 and num(x, "price") < 20)),
    ("How many books are in stock?", B, lambda r: count(r, lambda x: x["in_stock"] == "yes")),
    ("How many books per genre?", B, lambda r: by(r, lambda x: x["genre"], len)),
    ("Which author wrote the most books?", B, lambda r: ["M. Ferro"]),
    ("What is the total amount spent on Travel?", X, lambda r: sum(nums(r, "Amount", lambda x: x["Category"] == "Travel"))),
    ("What is the total amount per month?", X, lambda r: by(r, lambda x: f"2024-{x['Date'][:2]}", lambda y: sum(nums(y, "Amount")))),
    ("How many expenses over $100 were not approved?", X, lambda r: count(r, lambda x: num(x, "Amount") > 100 and x["Approved"] == "No")),
    ("What is the total amount paid by Kim in January or February?", X, lambda r: sum(nums(r, "Amount", lambda x: x["PaidBy"] == "Kim" and x["Date"][:2] in ("01", "02")))),
    ("Which category has the largest total amount?", X, lambda r: ["Travel"]),
    ("What share of the total amount is Travel?", X, lambda r: 100 * sum(nums(r, "Amount", lambda x: x["Category"] == "Travel")) / sum(nums(r, "Amount"))),
    ("What is the average math score in class 7A?", S, lambda r: mean(nums(r, "mathScore", lambda x: x["className"] == "7A"))),
    ("How many students have a math score above 80 and no absences?", S, lambda r: count(r, lambda x: num(x, "mathScore") > 80 and x["absences"] == "0")),
    ("Which student has the lowest physics score?", S, lambda r: ["Hugo"]),
    ("What is the average of math score minus physics score?", S, lambda r: mean(num(x, "mathScore") - num(x, "physicsScore") for x in r if x["physicsScore"])),
    ("How many countries in Africa have a population over 40?", C, lambda r: count(r, lambda x: x["Continent"] == "Africa" and num(x, "Population (millions)") > 40)),
    ("List the countries in South America or Oceania", C, lambda r: [x["Country"] for x in r if x["Continent"] in ("South America", "Oceania")]),
    ("What is the capital of Peru?", C, lambda r: ["Lima"]),
    ("Which 3 countries have the smallest area?", C, lambda r: top(r, "Area km2", "Country", 3, lowest=True)),
    ("What is the total population of Asia?", C, lambda r: sum(nums(r, "Population (millions)", lambda x: x["Continent"] == "Asia"))),
    ("What is the average of the second column in readings.csv?", "readings.csv", lambda r: mean([21.5, 22.1, 20.9, 23.4])),
)  # fmt: skip
