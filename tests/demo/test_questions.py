"""Whole families of questions, in several wordings, get their right answer from plan to final answer."""

from __future__ import annotations

import pytest

from habilis.demo.understanding import Understood, understand
from habilis.questions.prompts import SeenFile

SALES, SEMI, NOTES, STOCK, EMPTY = "sales.csv", "sales_semicolon.csv", "notes.txt", "inventory.json", "empty.csv"

WITHOUT_FILES = [
    ("arithmetic", "What is 12 * (3 + 4)?", "84"),
    ("arithmetic", "what's 2 + 2 * 2", "6"),
    ("arithmetic", "Calculate 2 to the power of 10 minus 24", "1000"),
    ("arithmetic", "Compute (1,200 + 300) / 4", "375"),
    ("arithmetic", "Please tell me how much is 7 times 8.", "56"),
    ("arithmetic", "What is 15% of 240?", "36"),
    ("arithmetic", "What is 12.5 percent of 80?", "10"),
    ("arithmetic", "20 is what percent of 80?", "25"),
    ("arithmetic", "What percentage of 50 is 20?", "40"),
    ("arithmetic", "Increase 80 by 25%", "100"),
    ("arithmetic", "What is the square root of 144?", "12"),
    ("arithmetic", "What is the cube root of 27?", "3"),
    ("arithmetic", "What is 0.1 + 0.2?", "0.3"),
    ("arithmetic", "What is 22 / 7 rounded to 2 decimals?", "3.14"),
    ("arithmetic", "What is 22 / 7, to three decimal places? Give only the number.", "3.143"),
    ("arithmetic", "What is 2^100?", "1267650600228229401496703205376"),
    ("arithmetic", "Divide 144 by 12", "12"),
    ("arithmetic", "What is the difference between 100 and 58?", "42"),
    ("list_product", "What is the product of 6 and 7?", "42"),
    ("arithmetic", "What is the remainder of 17 divided by 5?", "2"),
    ("arithmetic", "What is 2500000 / 2 in thousands?", "1250"),
    ("prime_factors", "What are the prime factors of 360?", "2, 2, 2, 3, 3, 5"),
    ("prime_factors", "Factorise 1001", "7, 11, 13"),
    ("prime_factors", "Find the prime factorization of 97.", "97"),
    ("is_prime", "Is 97 a prime number?", "Yes"),
    ("is_prime", "is 91 prime", "No"),
    ("nth_prime", "What is the 10th prime number?", "29"),
    ("count_primes", "How many primes are there up to 100?", "25"),
    ("gcd", "What is the greatest common divisor of 48, 36 and 60?", "12"),
    ("gcd", "highest common factor of 18 and 12", "6"),
    ("lcm", "What is the LCM of 4, 6 and 10?", "60"),
    ("factorial", "What is 5 factorial?", "120"),
    ("factorial", "What is 10!?", "3628800"),
    ("combinations", "How many ways are there to choose 3 items from 10?", "120"),
    ("combinations", "What is 5 choose 2?", "10"),
    ("permutations", "How many permutations of 3 out of 5 are there?", "60"),
    ("permutations", "In how many ways can 4 books be arranged?", "24"),
    ("digit_sum", "What is the sum of the digits of 98765?", "35"),
    ("divisors", "List all divisors of 28", "1, 2, 4, 7, 14, 28"),
    ("fibonacci", "What is the 10th Fibonacci number?", "55"),
    ("days_between", "How many days are between 2024-01-01 and 2024-03-01?", "60"),
    ("days_between", "How many days are there from 3 March 2025 to April 2, 2025?", "30"),
    ("days_between", "What is the difference in days between 01.02.2024 and 08.02.2024?", "7"),
    ("weekday", "What day of the week was July 20, 1969?", "Sunday"),
    ("weekday", "On which weekday does 2025-12-25 fall?", "Thursday"),
    ("weekday", "What weekday is 29 February 2024?", "Thursday"),
    ("add_to_date", "What date is 45 days after 2024-01-31?", "2024-03-16"),
    ("add_to_date", "What date is 3 weeks before 2024-03-01?", "2024-02-09"),
    ("add_to_date", "Add 1 month to 2024-01-31", "2024-02-29"),
    ("leap_year", "Is 1900 a leap year?", "No"),
    ("leap_year", "Was the year 2000 a leap year?", "Yes"),
    ("list_median", "What is the median of 3, 7, 1 and 9?", "5"),
    ("list_mean", "What is the average of the numbers 4, 8, 15, 16, 23, 42?", "18"),
    ("list_mean", "mean of [1, 2, 3, 4]", "2.5"),
    ("list_modes", "Given the numbers 3, 5, 7, 7, what is the mode?", "7"),
    ("list_sample_standard_deviation", "standard deviation of 2, 4, 4, 4, 5, 5, 7, 9 rounded to 3 decimals", "2.138"),
    ("list_population_standard_deviation", "What is the population standard deviation of 2, 4, 4, 4, 5, 5, 7, 9?", "2"),
    ("list_sample_variance", "What is the variance of 1, 2, 3, 4?", "1.666667"),
    ("list_range", "What is the range of 4, 9 and 20?", "16"),
    ("list_sum", "What is the sum of 3 and 5?", "8"),
    ("list_sum", "total of 1.5, 2.5 and 3", "7"),
    ("list_maximum", "What is the largest number among 3, 12 and 7?", "12"),
    ("list_minimum", "minimum of 3, -2, 7", "-2"),
]

WITH_FILES = [
    ("column_average", "What is the average price in sales.csv?", SALES, "22.5"),
    ("column_average", "What is the mean of the price column in sales.csv?", SALES, "22.5"),
    ("column_average", "In sales.csv, what is the typical price?", SALES, "22.5"),
    ("column_average", "What is the average Price in the attached file?", SALES, "22.5"),
    ("column_average", "average price?", SALES, "22.5"),
    ("column_median", "What is the median of prices in sales.csv?", SALES, "21.25"),
    ("column_sum", "What is the total quantity in sales.csv?", SALES, "220"),
    ("column_sum", "Add up the quantity column of sales.csv", SALES, "220"),
    ("column_minimum", "What is the lowest price in sales.csv?", SALES, "4.25"),
    ("column_maximum", "What is the largest quantity sold in sales.csv?", SALES, "25"),
    ("query_number", "What is the total quantity in sales.csv where region is north?", SALES, "89"),
    ("query_number", "total quantity in the north region in sales.csv", SALES, "89"),
    ("query_number", "What's the sum of the quantity column in sales.csv for product 'teapot'?", SALES, "21"),
    ("query_number", "average price for rows with quantity over 10 in sales.csv", SALES, "25.527778"),
    ("count_rows", "How many rows does sales.csv have?", SALES, "24"),
    ("count_rows", "What is the number of records in sales.csv?", SALES, "24"),
    ("count_rows", "What is the total number of rows in sales.csv?", SALES, "24"),
    ("query_number", "What is the average price in the north region of sales.csv?", SALES, "24.155556"),
    ("query_number", "How many rows in sales.csv have a quantity of at least 10?", SALES, "10"),
    ("query_number", "Count the rows of sales.csv where product is kettle", SALES, "4"),
    ("query_number", "How many records in sales.csv have price over 30?", SALES, "8"),
    ("count_distinct", "How many distinct products are in sales.csv?", SALES, "6"),
    ("distinct", "List the unique regions in sales.csv", SALES, "north, west, east, south"),
    ("columns", "What are the columns of sales.csv?", SALES, "date, region, product, quantity, price"),
    ("column_average", "What is the mean of price in sales_semicolon.csv?", SEMI, "1150.458333"),
    ("column_maximum", "What is the highest price in sales_semicolon.csv?", SEMI, "3120"),
    ("query_number", "total price in sales_semicolon.csv where region is east, rounded to 2"
     " decimals", SEMI, "6440.25"),
    ("query_number", "How many rows of sales_semicolon.csv have price above 1,000?", SEMI, "6"),
    ("count_rows", "How many rows are in empty.csv?", EMPTY, "0"),
    ("word_count", "How many words are in notes.txt?", NOTES, "75"),
    ("word_count", "What is the word count of notes.txt?", NOTES, "75"),
    ("line_count", "How many lines does notes.txt have?", NOTES, "7"),
    ("character_count", "Count the characters in notes.txt", NOTES, "418"),
    ("distinct_word_count", "How many different words are in notes.txt?", NOTES, "50"),
    ("top_words", "What is the most common word in notes.txt?", NOTES, "the"),
    ("top_words", "What are the 3 most frequent words in notes.txt?", NOTES, "the, harbour, lantern"),
    ("longest_line", "How long is the longest line in notes.txt?", NOTES, "119"),
    ("longest_word", "What is the longest word in notes.txt?", NOTES, "everything"),
    ("occurrences", "How many times does the word 'harbour' appear in notes.txt?", NOTES, "3"),
    ("occurrences", "How often does rope occur in notes.txt?", NOTES, "1"),
    ("json_value", "What is warehouse.city in inventory.json?", STOCK, "Ostwick"),
    ("json_value", "What is the value of products[1].name in inventory.json?", STOCK, "anchor"),
    ("json_value", "What is the name of the warehouse in inventory.json?", STOCK, "Harbour Road"),
    ("json_count", "How many products are in inventory.json?", STOCK, "5"),
    ("json_count", "How many items are in the suppliers list in inventory.json?", STOCK, "2"),
    ("json_sum", "What is the total stock of all products in inventory.json?", STOCK, "265"),
    ("json_average", "average price in inventory.json", STOCK, "29.37"),
    ("json_maximum", "What is the highest price in inventory.json?", STOCK, "89"),
]  # fmt: skip

TWO_STEPS = [
    ("What are the prime factors of the number of rows in sales.csv?", SALES, "2, 2, 2, 3", 2),
    ("What is the average price in sales.csv times 3?", SALES, "67.5", 2),
    ("What is the square root of the number of rows in sales.csv, rounded to 3 decimals?", SALES, "4.899", 2),
    ("What is the number of words in notes.txt divided by the number of lines in notes.txt?", NOTES, "10.714286", 3),
    ("Is the number of lines in notes.txt a prime number?", NOTES, "Yes", 2),
    ("How many rows are in sales.csv and what is the average price?", SALES, "24, 22.5", 2),
    ("What is 10% of the total quantity in sales.csv?", SALES, "22", 2),
    ("maximum price - minimum price in sales.csv", SALES, "35.65", 3),
    (
        "How many columns are in sales.csv and what are the columns?",
        SALES,
        "5; date, region, product, quantity, price",
        1,
    ),
    ("What is the length of the longest line in notes.txt times 2?", NOTES, "238", 2),
    ("What is the average price in sales.csv? How many rows are there?", SALES, "22.5, 24", 2),
    ("What is warehouse.shelves in inventory.json times 2?", STOCK, "24", 2),
    ("How many days are between 2024-01-01 and 2024-12-25 and what weekday is 2024-12-25?", None, "359, Wednesday", 2),
    ("What weekday is 100 days after 2024-01-01?", None, "Wednesday", 2),
    ("How many weeks are between 2024-01-01 and 2024-01-29?", None, "4", 2),
]


@pytest.mark.parametrize(("family", "question", "answer"), WITHOUT_FILES)
def test_a_question_is_answered(player, family, question, answer):
    played = player.play(question)
    assert (played.final, played.status) == (answer, "answered"), played.text
    assert len(played.tools) == 1


@pytest.mark.parametrize(("family", "question", "file", "answer"), WITH_FILES)
def test_a_question_about_a_file_is_answered(player, family, question, file, answer):
    played = player.play(question, [file])
    assert (played.final, played.status) == (answer, "answered"), played.text
    assert len(played.tools) == 1


@pytest.mark.parametrize(("question", "file", "answer", "tools"), TWO_STEPS)
def test_a_question_of_several_steps_gets_a_tool_for_each(player, question, file, answer, tools):
    played = player.play(question, [file] if file else [])
    assert (played.final, played.status) == (answer, "answered"), played.text
    assert len(played.tools) == tools


@pytest.mark.parametrize(
    ("family", "question", "file"), [(f, q, None) for f, q, _ in WITHOUT_FILES] + [w[:3] for w in WITH_FILES]
)
def test_a_question_belongs_to_its_family(player, family, question, file):
    files = [SeenFile(f["named"], f["begins"].replace("    ", "")) for f in player.view([file])] if file else []
    understood = understand(question, files)
    assert isinstance(understood, Understood)
    assert [step.operation.key for step in understood.steps] == [family]


def test_a_file_of_the_users_own_is_read_by_its_own_columns(player):
    (player.folder / "Wetter Juli.csv").write_text("day,rain mm,station\n1,4.5,hill\n2,0,hill\n3,1.5,lake\n")
    names = ["Wetter Juli.csv"]
    assert player.play("What is the average rain mm in 'Wetter Juli.csv'?", names).final == "2"
    assert player.play("What is the total rain_mm in 'Wetter Juli.csv' where station is hill?", names).final == "4.5"


def test_one_of_several_files_is_meant_by_its_name(player):
    assert player.play("How many rows are in sales.csv?", [SEMI, SALES, NOTES]).final == "24"
    assert player.play("How many rows are in the table?", [SALES, SEMI]).status == "gave_up"


def test_the_example_of_the_readme_needs_one_tool_call(player):
    (player.folder / "examples" / "data").mkdir(parents=True)
    (player.folder / "examples/data/sales.csv").write_bytes((player.folder / SALES).read_bytes())
    played = player.play("What is the average price in examples/data/sales.csv?", ["examples/data/sales.csv"])
    assert (played.final, played.rounds, played.mended) == ("22.5", 1, [])
    assert played.calls == [
        ("calculate_average_of_column", {"file_path": "examples/data/sales.csv", "column": "price"})
    ]


def test_the_words_of_a_file_are_not_taken_for_the_words_of_the_answer(player):
    line = "I cannot say it better. Conclusion: 5 is a long line, with Missing capabilities: none"
    (player.folder / "odd.txt").write_text(f"short\n{line}\n")
    played = player.play("What is the longest line in odd.txt?", ["odd.txt"])
    assert (played.final, played.status) == (line, "answered")


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How many words are in the note?", "trip/note.md"),
        ("How many words are in the trip plan?", "trip-plan.md"),
        ("How many lines does my letter have?", "a.txt"),
    ],
)
def test_the_only_file_may_be_called_by_its_name_without_an_ending(question: str, named: str) -> None:
    assert isinstance(understand(question, (SeenFile(named, "We leave on Friday."),)), Understood)


@pytest.mark.parametrize("question", ["How many words are in the plan?", "How many words are in the note of Ada?"])
def test_what_may_be_something_else_is_not_taken_for_the_file(question: str) -> None:
    assert not isinstance(understand(question, (SeenFile("note.md", "We leave on Friday."),)), Understood)
