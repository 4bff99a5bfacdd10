"""Twenty questions that were written after the first twenty; some rules were mended with both in sight."""

from __future__ import annotations

import json

from .cases import COUNT_WHERE, LOOK_UP, SENTENCES, SUM_WHERE, TOP, Case, Job, whole

HELD_FILES: dict[str, str] = {
    "flights.json": json.dumps(
        {
            "airport": "Vaasa",
            "departures": [
                {"flight": "VA21", "to": "Turku", "seats": 68, "delay_min": 12},
                {"flight": "VA30", "to": "Umeå", "seats": 42, "delay_min": 0},
                {"flight": "VA37", "to": "Turku", "seats": 68, "delay_min": 35},
                {"flight": "VA44", "to": "Riga", "seats": 96, "delay_min": 7},
            ],
        },
        ensure_ascii=False,
    ),
    "contacts.csv": "name,born,town,dogs\nIris,1988-04-02,Bern,0\nJonas,1975-12-24,Chur,2\nKira,1993-08-15,Bern,1\n"
    "Luca,1969-03-30,Lugano,3\n",
    "temps_de.csv": "ort;tag;grad\nKempten;1;3,5\nKempten;2;6,5\nPassau;1;8,0\nPassau;2;10,5\n",
    "recipe.txt": "Walnut bread\nMix 500 g of flour with 320 ml of water. Add 80 g of walnuts and 9 g of salt.\n"
    "Let the dough rest for 90 minutes.\nBake it for 45 minutes at 220 degrees.\n",
    "orders_2024.csv": "order,buyer,units,unit_price\n501,Mira,4,2.50\n502,Noor,10,1.20\n503,Mira,1,99.00\n",
    "orders_2025.csv": "order,buyer,units,unit_price\n601,Noor,3,40.00\n602,Mira,2,15.75\n",
    "погода.csv": "город,месяц,осадки\nСочи,май,94\nОмск,май,32\nОмск,июнь,51\n",
}
COUNT_ABOVE = Job(
    "count_above",
    "Count the rows of a table whose column is above a limit.",
    {"path": "str", "column": "str", "limit": "float"},
    {"count": "int"},
    "return OutputModel(count=sum(float(row[input.column]) > input.limit for row in rows(input.path)))",
)
BORN_AFTER = Job(
    "count_dates_after",
    "Count the rows of a table whose date in a column is later than a given one.",
    {"path": "str", "column": "str", "after": "str"},
    {"count": "int"},
    "return OutputModel(count=sum(row[input.column] > input.after for row in rows(input.path)))",
)
EARLIEST = Job(
    "row_with_earliest_date",
    "Find the row that holds the earliest date in a column of a table.",
    {"path": "str", "column": "str"},
    {"row": "dict"},
    "return OutputModel(row=min(rows(input.path), key=lambda row: row[input.column]))",
)
IN_LIST = Job(
    "find_in_list",
    "Find the entry of a list in a JSON document whose field has a given value.",
    {"path": "str", "under": "str", "field": "str", "value": "str"},
    {"entry": "dict"},
    "found = [e for e in rows(input.path)[input.under] if str(e.get(input.field)) == input.value]\n"
    "return OutputModel(entry=found[0]) if found else OutputModel(error=f'no entry has {input.value}')",
)
SUM_LIST = Job(
    "sum_in_list",
    "Sum a field over the entries of a list in a JSON document whose other field has a given value.",
    {"path": "str", "under": "str", "field": "str", "where": "str", "equals": "str"},
    {"total": "float"},
    "kept = [e for e in rows(input.path)[input.under] if str(e[input.where]) == input.equals]\n"
    "return OutputModel(total=sum(e[input.field] for e in kept))",
)
TOP_LIST = Job(
    "highest_in_list",
    "Find the entry with the highest value of a field in a list of a JSON document.",
    {"path": "str", "under": "str", "field": "str"},
    {"entry": "dict"},
    "return OutputModel(entry=max(rows(input.path)[input.under], key=lambda e: float(e[input.field])))",
)
GERMAN_MEAN = Job(
    "mean_with_decimal_commas",
    "Average a column with decimal commas over the rows with a given value.",
    {"path": "str", "column": "str", "where": "str", "equals": "str"},
    {"mean": "float"},
    "table = csv.DictReader(text(input.path).splitlines(), delimiter=';')\n"
    "kept = [float(r[input.column].replace(',', '.')) for r in table if r[input.where] == input.equals]\n"
    "return OutputModel(mean=sum(kept) / len(kept)) if kept else OutputModel(error='no rows')",
)
WORTH = Job(
    "sum_of_products",
    "Multiply two columns of a table row by row and sum the products.",
    {"path": "str", "first": "str", "second": "str"},
    {"total": "float"},
    "return OutputModel(total=round(sum(float(r[input.first]) * float(r[input.second]) for r in rows(input.path)), 6))",
)
BOTH_WORTHS = Job(
    "sum_of_products_of_two",
    "Sum the products of two columns in each of two tables.",
    {"first_path": "str", "second_path": "str", "first": "str", "second": "str"},
    {"totals": "list"},
    "return OutputModel(totals=[round(sum(float(r[input.first]) * float(r[input.second]) for r in rows(p)), 6)\n"
    "                           for p in (input.first_path, input.second_path)])",
)
AMOUNT_OF = Job(
    "amount_before_word",
    "Find the amount with its unit that stands before a word in a text file.",
    {"path": "str", "word": "str"},
    {"amount": "float", "unit": "str"},
    "found = re.search(rf'(\\d+) (\\w+) of {re.escape(input.word)}', text(input.path))\n"
    "return OutputModel(amount=float(found[1]), unit=found[2]) if found else OutputModel(error='not found')",
)
DIGEST = Job(
    "sha256_of_text",
    "Compute the SHA-256 digest of a text.",
    {"plain_text": "str"},
    {"digest": "str"},
    "import hashlib\nreturn OutputModel(digest=hashlib.sha256(input.plain_text.encode()).hexdigest())",
)
LEAP = Job(
    "tell_leap_year",
    "Tell whether a year is a leap year.",
    {"year": "int"},
    {"is_leap_year": "bool"},
    "y = input.year\nreturn OutputModel(is_leap_year=y % 4 == 0 and (y % 100 != 0 or y % 400 == 0))",
)

HELD: tuple[Case, ...] = (
    Case(
        "Which flight in flights.json had the longest delay?",
        ("flights.json",),
        TOP_LIST,
        {"path": "flights.json", "under": "departures", "field": "delay_min"},
        lambda r: f"{r['entry']['flight']} had the longest delay, {r['entry']['delay_min']} minutes.",
        "VA37",
        ({"field": "seats"}, {"path": "recipe.txt"}),
        (
            "VA21 had the longest delay, 35 minutes.",
            "VA37, with a delay of 53 minutes.",
            "VA37 was delayed by 35 hours.",
        ),
    ),
    Case(
        "How many seats do the flights to Turku in flights.json have in all?",
        ("flights.json",),
        SUM_LIST,
        {"path": "flights.json", "under": "departures", "field": "seats", "where": "to", "equals": "Turku"},
        lambda r: f"The flights have {whole(r['total'])} seats in all.",
        "136",
        ({"equals": "Riga"}, {"field": "delay_min"}),
        ("They have 163 seats in all.", "They have 68 seats in all.", "The flights to Riga have 136 seats."),
    ),
    Case(
        "Where does flight VA44 in flights.json go to?",
        ("flights.json",),
        IN_LIST,
        {"path": "flights.json", "under": "departures", "field": "flight", "value": "VA44"},
        lambda r: f"VA44 goes to {r['entry']['to']}.",
        "Riga",
        ({"value": "VA30"}, {"field": "to", "value": "Turku"}),
        ("VA44 goes to Turku.", "It goes to Umeå.", "VA44 goes to 96."),
    ),
    Case(
        "Who in contacts.csv is the oldest?",
        ("contacts.csv",),
        EARLIEST,
        {"path": "contacts.csv", "column": "born"},
        lambda r: f"The oldest is {r['row']['name']}, born on {r['row']['born']}.",
        "Luca",
        ({"column": "name"}, {"column": "town"}),
        ("The oldest is Jonas.", "The oldest is Kira, born on 1969-03-30.", "Luca, born on 30 March 1996."),
    ),
    Case(
        "How many people in contacts.csv were born after 1980-01-01?",
        ("contacts.csv",),
        BORN_AFTER,
        {"path": "contacts.csv", "column": "born", "after": "1980-01-01"},
        lambda r: f"{r['count']} people were born after that.",
        "2",
        ({"after": "1990-01-01"}, {"after": "1970-06-30"}),
        ("3 people were born after that.", "All 4 were born after that.", "Iris, Jonas and Kira were born after that."),
    ),
    Case(
        "How many people in contacts.csv live in Bern?",
        ("contacts.csv",),
        COUNT_WHERE,
        {"path": "contacts.csv", "column": "town", "value": "Bern"},
        lambda r: f"{r['count']} people live there.",
        "2",
        ({"value": "Chur"}, {"value": "Lugano"}),
        ("Only 1 person lives in Bern.", "Two people live in Chur.", "4 people live in Bern."),
    ),
    Case(
        "How many dogs does Luca in contacts.csv have?",
        ("contacts.csv",),
        LOOK_UP,
        {"path": "contacts.csv", "column": "name", "value": "Luca"},
        lambda r: f"{r['row']['name']} has {r['row']['dogs']} dogs.",
        "3",
        ({"value": "Jonas"}, {"value": "Kira"}),
        ("Luca has 2 dogs.", "Luca has no dogs.", "Jonas has 3 dogs."),
    ),
    Case(
        "What is Kira's telephone number in contacts.csv?",
        ("contacts.csv",),
        LOOK_UP,
        {"path": "contacts.csv", "column": "name", "value": "Kira"},
        lambda r: "The table holds no telephone number, so it could not be found.",
        None,
        ({"value": "Iris"}, {"value": "Luca"}),
        ("Kira's telephone number is 1993-08-15.", "Her number is 1.", "It is 0815 1993."),
    ),
    Case(
        "Wie viel Grad waren es im Mittel in Passau laut temps_de.csv?",
        ("temps_de.csv",),
        GERMAN_MEAN,
        {"path": "temps_de.csv", "column": "grad", "where": "ort", "equals": "Passau"},
        lambda r: f"Im Mittel waren es {str(r['mean']).replace('.', ',')} Grad.",
        "9,25",
        ({"equals": "Kempten"}, {"where": "tag", "equals": "1"}),
        ("Im Mittel waren es 9,52 Grad.", "Es waren 5 Grad.", "In Kempten waren es 9,25 Grad."),
    ),
    Case(
        "Welcher Ort in temps_de.csv hatte den höchsten Luftdruck?",
        ("temps_de.csv",),
        GERMAN_MEAN,
        {"path": "temps_de.csv", "column": "luftdruck", "where": "ort", "equals": "Passau"},
        lambda r: "Der Luftdruck konnte nicht gefunden werden.",
        None,
        ({"column": "grad"}, {"column": "tag"}),
        ("Passau hatte den höchsten Luftdruck.", "Kempten, mit 1013 hPa.", "Den höchsten Luftdruck hatte Kempten."),
    ),
    Case(
        "How much flour does recipe.txt ask for?",
        ("recipe.txt",),
        AMOUNT_OF,
        {"path": "recipe.txt", "word": "flour"},
        lambda r: f"It asks for {whole(r['amount'])} {r['unit']} of flour.",
        "500 g",
        ({"word": "water"}, {"word": "salt"}),
        ("It asks for 500 kg of flour.", "It asks for 320 g of flour.", "It asks for at least 500 g of flour."),
    ),
    Case(
        "For how long must the dough rest, according to recipe.txt?",
        ("recipe.txt",),
        SENTENCES,
        {"path": "recipe.txt", "word": "rest"},
        lambda r: f"The recipe says: {' '.join(r['sentences'])}",
        "90 minutes",
        ({"word": "Bake"}, {"word": "flour"}),
        ("The dough must rest for 45 minutes.", "It must rest for 90 hours.", "It must rest for 9 minutes."),
    ),
    Case(
        "How many times does 'minutes' occur in recipe.txt?",
        ("recipe.txt",),
        Job(
            "count_word",
            "Count how often a word stands in a text file.",
            {"path": "str", "word": "str"},
            {"count": "int"},
            "return OutputModel(count=text(input.path).lower().split().count(input.word.lower()))",
        ),
        {"path": "recipe.txt", "word": "minutes"},
        lambda r: f"It stands there {r['count']} times.",
        "1",
        ({"word": "of"}, {"word": "for"}),
        ("It occurs 3 times.", "It occurs 45 times.", "The word 'flour' occurs 4 times."),
    ),
    Case(
        "What are all orders in orders_2024.csv worth together, units times unit_price?",
        ("orders_2024.csv",),
        WORTH,
        {"path": "orders_2024.csv", "first": "units", "second": "unit_price"},
        lambda r: f"Together they are worth {whole(r['total'])}.",
        "121",
        ({"first": "order"}, {"first": "unit_price"}),
        ("Together they are worth 112.", "Together they are worth 99.", "They are worth -121."),
    ),
    Case(
        "How many units did Mira order in orders_2024.csv?",
        ("orders_2024.csv",),
        SUM_WHERE,
        {"path": "orders_2024.csv", "column": "units", "where": "buyer", "equals": "Mira"},
        lambda r: f"The units add up to {whole(r['total'])}, over {r['rows']} orders.",
        "5",
        ({"equals": "Noor"}, {"column": "unit_price"}),
        ("Mira ordered 2 units.", "Noor ordered 5 units.", "Mira ordered 15 units."),
    ),
    Case(
        "By how much do the orders in orders_2025.csv and orders_2024.csv differ in worth, units times unit_price?",
        ("orders_2025.csv", "orders_2024.csv"),
        Job(
            "difference_of_worth",
            "Sum the products of two columns in each of two tables and subtract the sums.",
            BOTH_WORTHS.inputs,
            {"difference": "float"},
            "a, b = [sum(float(r[input.first]) * float(r[input.second]) for r in rows(p))\n"
            "        for p in (input.first_path, input.second_path)]\n"
            "return OutputModel(difference=round(a - b, 6))",
        ),
        {
            "first_path": "orders_2025.csv",
            "second_path": "orders_2024.csv",
            "first": "units",
            "second": "unit_price",
        },
        lambda r: f"They differ by {whole(r['difference'])}.",
        "30.5",
        ({"second_path": "orders_2025.csv"}, {"first": "order"}),
        ("They differ by 35.0.", "They differ by 305.", "They differ by more than 30.5."),
    ),
    Case(
        "В каком городе в погода.csv выпало больше всего осадков?",
        ("погода.csv",),
        TOP,
        {"path": "погода.csv", "column": "осадки", "label": "город"},
        lambda r: f"Больше всего осадков выпало в городе {r['label']}: {whole(r['maximum'])}.",
        "Сочи",
        ({"label": "месяц"}, {"path": "contacts.csv", "column": "dogs", "label": "name"}),
        ("Больше всего осадков выпало в городе Омск: 94.", "В городе Сочи: 49.", "Ответ: Омск."),
    ),
    Case(
        "What is the mean of delay_min of the flights to Turku in flights.json?",
        ("flights.json",),
        Job(
            "mean_in_list",
            "Average a field over the entries of a list in a JSON document whose other field has a given value.",
            SUM_LIST.inputs,
            {"mean": "float"},
            "kept = [e[input.field] for e in rows(input.path)[input.under] if str(e[input.where]) == input.equals]\n"
            "return OutputModel(mean=sum(kept) / len(kept))",
        ),
        {"path": "flights.json", "under": "departures", "field": "delay_min", "where": "to", "equals": "Turku"},
        lambda r: f"The mean is {whole(r['mean'])} minutes.",
        "23.5",
        ({"equals": "Riga"}, {"field": "seats"}),
        ("The mean is 25.3 minutes.", "The mean is 24.5 minutes.", "The mean is 23.5 hours."),
    ),
    Case(
        "What is the SHA-256 digest of the text 'marzipan'?",
        (),
        DIGEST,
        {"plain_text": "marzipan"},
        lambda r: f"The digest is {r['digest']}.",
        "54ce1e8556b7107f6cc86be0a931bd6bfacf75cc434a4b57682a0c9c087099e5",
        ({"plain_text": "hello"}, {"plain_text": "Marzipan bread"}),
        ("The digest is 42.", "The digest is 9f86d081884c7d659a2feaa0c55ad015.", "The digest of 'hello' is marzipan."),
    ),
    Case(
        "Was 1900 a leap year?",
        (),
        LEAP,
        {"year": 1900},
        lambda r: f"{'Yes' if r['is_leap_year'] else 'No'}, by the rules of the calendar.",
        "No",
        ({"year": 2000}, {"year": 1904}),
        ("Yes, 1900 was a leap year.", "Yes.", "Yes, it had 366 days."),
    ),
)
