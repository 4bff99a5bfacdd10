"""Which questions go the short way: one job, plainly told. Whatever may be more goes the long way."""

from __future__ import annotations

from typing import Any

import pytest

from habilis.synthesis.one_job import LONGEST, why_several

SALES = [{"named": "sales.csv", "path": "/home/u/sales.csv", "is_dir": False, "begins": "    region,price"}]
ABSOLUTE = [{**SALES[0], "named": "/data/old, new/sales.csv"}]
TWO = [*SALES, {"named": "b.json", "path": "/home/u/b.json", "is_dir": False, "begins": "    {"}]

ONE_JOB_OVER_FILES = [
    "What is the average price in sales.csv?",
    "Which region has the highest price in sales.csv?",
    "How many rows of sales.csv have a price above 20?",
    "Count the rows of sales.csv.",
    "What is the median of the prices between 10 and 30 in sales.csv?",
    "Sum the prices of 'north and south' in sales.csv, to two decimals.",
    "Wie hoch ist der Durchschnitt der Preise in sales.csv?",
    "Welche Region hat den höchsten Preis in sales.csv?",
    "Quelle est la moyenne des prix dans sales.csv ?",
    "¿Cuál es el precio máximo de sales.csv?",
    "Qual è la media dei prezzi in sales.csv?",
    "Qual é o preço mínimo em sales.csv?",
    "Hoeveel rijen heeft sales.csv?",
    "Ile wierszy ma sales.csv?",
    "Сколько строк в sales.csv?",
    "Какова средняя цена в sales.csv?",
    "sales.csv 的平均价格是多少？",
    "sales.csvの価格の平均はいくつですか？",
    "sales.csv의 평균 가격은?",
    "ما متوسط السعر في sales.csv؟",
    "sales.csv में कितनी पंक्तियाँ हैं?",
]
ONE_JOB_ALONE = [
    "What is 2+3*4?",
    "What is the gcd of 12 and 18?",
    "What is the least common multiple of 4, 6 and 10?",
    "How many days are between 2024-01-01 and 2024-03-01?",
    'Reverse the text "and then?".',
    "How many vowels are in 'Hello. And then?'",
    "Convert 10 km to miles.",
    "Was ist 17 mal 4?",
    "Combien font 12 fois 9 ?",
    "12和18的最大公约数是多少？",
    "3 と 5 の積は？",
]
SEVERAL = [
    "What is the average price in sales.csv and what is the highest?",
    "What is the average price in sales.csv? What is the highest?",
    "Sort sales.csv by price and then give the first region.",
    "First sort sales.csv by price, then give the first region.",
    "What are the mean and the median of price in sales.csv?",
    "Compute the mean, median, maximum of price in sales.csv.",
    "Give the mean price in sales.csv; give the count.",
    "What is the average price and the number of regions in sales.csv?",
    "How many regions are there, and which is the dearest, in sales.csv?",
    "Find the highest price in sales.csv & its region.",
    "Read sales.csv.\nGive the mean.",
    "Give the mean price of sales.csv. Also count its rows.",
    "Wie hoch ist der Durchschnitt und wie viele Zeilen hat sales.csv?",
    "Sortiere sales.csv nach Preis, danach nimm die erste Region.",
    "Trie sales.csv puis donne la première région.",
    "Quelle est la moyenne et quel est le maximum dans sales.csv ?",
    "Ordena sales.csv por precio y luego da la primera región.",
    "¿Cuál es la media y cuántas filas tiene sales.csv?",
    "Ordina sales.csv, poi dai la prima regione.",
    "Отсортируй sales.csv, затем назови первый регион.",
    "Сколько строк в sales.csv и какая средняя цена?",
    "先给 sales.csv 排序，然后给出第一个地区。",
    "sales.csv的平均价格和最高价格是多少？",
    "sales.csvを並べ替えて、それから最初の地域を教えて。",
    "sales.csv의 평균을 구하고 그리고 행 수를 세라.",
    "رتب sales.csv ثم أعط المنطقة الأولى.",
    "sales.csv को क्रम में लगाओ, फिर पहला क्षेत्र दो.",
    "What is the average? " + "Note that prices are in euro. " * 3,
    "What is the average price in sales.csv" + " very" * LONGEST + "?",
]
LEANING = [
    "And the maximum in sales.csv?",
    "What about the median in sales.csv?",
    "How about sales.csv?",
    "The same for sales.csv?",
    "Now the mean of sales.csv.",
    "Und das Maximum in sales.csv?",
    "Et le maximum dans sales.csv ?",
    "那 sales.csv 的最大值呢？",
]
ELSEWHERE = [
    "What is the title of https://example.org/1?",
    "Search the web for the price of 3 apples.",
    "Download the prices of 2024.",
    "How many people are in the picture of 2024?",
]
NO_WORK_FOR_A_TOOL = [
    "Who wrote Hamlet?",
    "Who was king in 1600?",
    "When was the battle of 1815?",
    "Why is the sky blue?",
    "Hello!",
    "Thanks",
    "",
    "   ",
    "What is the capital of France?",
    "Write a poem about spring.",
    "What is the sum of column 2 of the file?",
    "谁是1600年的国王？",
]


@pytest.mark.parametrize("question", ONE_JOB_OVER_FILES)
def test_a_plain_question_about_a_file_is_one_job(question: str) -> None:
    assert why_several(question, SALES) == ""


@pytest.mark.parametrize("question", ONE_JOB_ALONE)
def test_a_plain_question_about_its_own_values_is_one_job(question: str) -> None:
    assert why_several(question, []) == ""


@pytest.mark.parametrize("question", [*SEVERAL, *LEANING])
def test_what_may_be_several_jobs_or_leans_on_others_is_not(question: str) -> None:
    assert why_several(question, SALES)


@pytest.mark.parametrize("question", [*ELSEWHERE, *NO_WORK_FOR_A_TOOL])
def test_what_leads_elsewhere_or_gives_a_tool_nothing_to_do_is_not(question: str) -> None:
    assert why_several(question, [])


def test_the_name_of_a_file_joins_nothing() -> None:
    assert why_several("What is the average price in /data/old, new/sales.csv?", ABSOLUTE) == ""
    named = [{**SALES[0], "named": "a and then b; c.csv"}]
    assert why_several("What is the average price in a and then b; c.csv?", named) == ""


@pytest.mark.parametrize("file", [{"is_dir": True, "begins": "    a.csv"}, {"is_dir": False, "begins": ""}])
def test_folders_and_files_that_are_no_text_take_a_plan(file: dict[str, Any]) -> None:
    assert why_several("How many rows are there?", [*SALES, {"named": "x", "path": "/x", **file}])


def test_one_job_may_read_two_files() -> None:
    assert why_several("How many regions of sales.csv are missing in b.json?", TWO) == ""
