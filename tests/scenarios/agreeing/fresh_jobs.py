"""Files and tools of the third set of questions."""

from __future__ import annotations

import json

from .cases import Job

FRESH_FILES: dict[str, str] = {
    "shipments.jsonl": "".join(
        json.dumps(dict(zip(("id", "origin", "to", "kg", "days", "status"), row, strict=True)), ensure_ascii=False)
        + "\n"
        for row in (
            ("S-1", "Gdynia", "Malmö", 310, 4, "delivered"),
            ("S-2", "Gdynia", "Aarhus", 95, 9, "delivered"),
            ("S-3", "Klaipėda", "Malmö", 540, 13, "late"),
            ("S-4", "Gdynia", "Kotka", 122, 6, "lost"),
            ("S-5", "Gdynia", "Visby", 187, 15, "late"),
        )
    ),
    "server.log": "2025-06-02 08:14:07 INFO started in 4 seconds\n2025-06-02 08:22:40 WARN disk is 81 % full\n"
    "2025-06-02 08:31:55 ERROR backup of 12 files failed\n2025-06-02 09:02:16 WARN 3 clients wait\n"
    "2025-06-02 09:47:03 ERROR no route to host 7\n",
    "bakery.ini": "[rye]\nprice = 4.80\ngrams = 750\nbaked = 120\n\n[wheat]\nprice = 3.95\ngrams = 1000\nbaked = 65\n\n"
    "[oat]\nprice = 5.25\ngrams = 500\nbaked = 40\n",
    "library.xml": "<library>\n"
    '  <book year="1911" pages="284"><title>The Salt Road</title><author>Lindqvist</author></book>\n'
    '  <book year="1887" pages="512"><title>A Winter in Tromsø</title><author>Moreau</author></book>\n'
    '  <book year="1934" pages="96"><title>Nine Bridges</title><author>Lindqvist</author></book>\n'
    '  <book year="1902" pages="343"><title>Harvest Songs</title><author>Okafor</author></book>\n'
    "</library>\n",
    "prices.csv": "product,unit,jan,feb,mar\nflour,kg,1.20,1.35,1.50\nsugar,kg,1.60,1.52,1.44\n"
    "eggs,dozen,3.10,3.90,2.95\nyeast,cube,0.25,0.25,0.30\n",
    "planets.json": json.dumps(
        {
            "Mars": {"kind": "rock", "mass": 0.64, "moons": 2, "rings": "no"},
            "Jupiter": {"kind": "gas", "mass": 1898, "moons": 95, "rings": "yes"},
            "Saturn": {"kind": "gas", "mass": 568, "moons": 146, "rings": "yes"},
            "Uranus": {"kind": "ice", "mass": 86.8, "moons": 28, "rings": "yes"},
            "Venus": {"kind": "rock", "mass": 4.87, "moons": 0, "rings": "no"},
        }
    ),
    "poem.txt": "Grey herons stand along the quiet shore\nand count the evening sails that pass them by.\n"
    "The lighthouse hums, its lantern turning slow;\nnobody answers when the seagulls cry.\n",
    "marathon.csv": "runner,club,half,finish\nAino,Kestrels,01:38:10,03:21:30\nPelle,Harriers,01:36:45,03:29:15\n"
    "Rosa,Kestrels,01:44:20,03:24:45\nTomek,Striders,01:52:05,03:58:00\n",
    "notes.csv": "nom;classe;note;absences\nÉlodie;A;15,5;2\nHugo;B;11,0;4\nInès;B;15,5;1\nMarc;A;9,5;6\n",
    "ventas.csv": "vendedor,unidades,precio\nLucía,14,20\nMateo,31,18\nLucía,9,25\nNoa,12,22\n",
}
_LINES = "found = [json.loads(line) for line in text(input.path).splitlines()]\n"
_BOOKS = "from xml.etree import ElementTree\nbooks = list(ElementTree.fromstring(text(input.path)))\n"
_SEMICOLONS = "table = list(csv.DictReader(text(input.path).splitlines(), delimiter=';'))\n"
MEDIAN = Job(
    "median_of_field",
    "Give the median of a field over the records of a JSON Lines file.",
    {"path": "str", "field": "str"},
    {"median": "float"},
    f"{_LINES}return OutputModel(median=statistics.median(float(e[input.field]) for e in found))",
)
DISTINCT = Job(
    "count_distinct_values",
    "Count the distinct values of a field over the records of a JSON Lines file.",
    {"path": "str", "field": "str"},
    {"distinct": "int"},
    f"{_LINES}return OutputModel(distinct=len({{e[input.field] for e in found}}))",
)
LIST_WHERE = Job(
    "list_where",
    "List one field of the records of a JSON Lines file whose other field has a given value.",
    {"path": "str", "give": "str", "field": "str", "equals": "str"},
    {"values": "list"},
    f"{_LINES}return OutputModel(values=[e[input.give] for e in found if e[input.field] == input.equals])",
)
FIRST_OF_LEVEL = Job(
    "first_entry_of_level",
    "Find the first entry of a log that has a given level.",
    {"path": "str", "level": "str"},
    {"date": "str", "time": "str", "message": "str"},
    "for line in text(input.path).splitlines():\n"
    "    day, hour, level, said = line.split(' ', 3)\n"
    "    if level == input.level:\n"
    "        return OutputModel(date=day, time=hour, message=said)\n"
    "return OutputModel(error=f'no entry of level {input.level}')",
)
LOWEST_SECTION = Job(
    "section_with_lowest",
    "Find the section of a configuration file in which a key has its lowest value.",
    {"path": "str", "key": "str"},
    {"section": "str", "value": "float"},
    "import configparser\nparser = configparser.ConfigParser()\nparser.read_string(text(input.path))\n"
    "least = min(parser.sections(), key=lambda s: parser[s].getfloat(input.key))\n"
    "return OutputModel(section=least, value=parser[least].getfloat(input.key))",
)
NTH_BOOK = Job(
    "nth_element_by_attribute",
    "Order the elements of an XML file by an attribute and give the title of the n-th.",
    {"path": "str", "attribute": "str", "place": "int"},
    {"title": "str", "value": "int"},
    f"{_BOOKS}one = sorted(books, key=lambda b: int(b.get(input.attribute)))[input.place - 1]\n"
    "return OutputModel(title=one.findtext('title'), value=int(one.get(input.attribute)))",
)
CHANGE = Job(
    "percent_change_in_row",
    "Compute by how many percent a row of a table changes from one column to another.",
    {"path": "str", "label": "str", "value": "str", "first": "str", "last": "str"},
    {"percent": "float"},
    "row = next(r for r in rows(input.path) if r[input.label] == input.value)\n"
    "before, after = float(row[input.first]), float(row[input.last])\n"
    "return OutputModel(percent=round((after / before - 1) * 100, 6))",
)
WIDEST = Job(
    "row_with_widest_range",
    "Find the row of a table whose lowest and highest value in some columns lie farthest apart.",
    {"path": "str", "label": "str", "columns": "str"},
    {"label": "str", "range": "float"},
    "def gap(row):\n"
    "    numbers = [float(row[c.strip()]) for c in input.columns.split(',')]\n"
    "    return round(max(numbers) - min(numbers), 6)\n"
    "widest = max(rows(input.path), key=gap)\n"
    "return OutputModel(label=widest[input.label], range=gap(widest))",
)
HIGHER = Job(
    "compare_two_entries",
    "Tell whether a field of one entry of a JSON object is higher than that of another entry.",
    {"path": "str", "first": "str", "second": "str", "field": "str"},
    {"first_is_higher": "bool", "first_value": "float", "second_value": "float"},
    "one, other = (rows(input.path)[name][input.field] for name in (input.first, input.second))\n"
    "return OutputModel(first_is_higher=one > other, first_value=one, second_value=other)",
)
SHARE = Job(
    "percent_of_entries_where",
    "Compute the percentage of the entries of a JSON object whose field has a given value.",
    {"path": "str", "field": "str", "equals": "str"},
    {"percent": "float"},
    "entries = rows(input.path).values()\n"
    "kept = [e for e in entries if str(e[input.field]) == input.equals]\n"
    "return OutputModel(percent=round(100 * len(kept) / len(entries), 6))",
)
LONGEST_WORD = Job(
    "longest_word_in_line",
    "Find the longest word in one line of a text file; lines count from 1.",
    {"path": "str", "line": "int"},
    {"word": "str", "letters": "int"},
    "words = re.findall(r'[^\\W\\d]+', text(input.path).splitlines()[input.line - 1])\n"
    "longest = max(words, key=len)\n"
    "return OutputModel(word=longest, letters=len(longest))",
)
MINUTES = Job(
    "duration_in_minutes",
    "Give a duration that stands in a row of a table as minutes.",
    {"path": "str", "label": "str", "value": "str", "column": "str"},
    {"minutes": "float"},
    "row = next(r for r in rows(input.path) if r[input.label] == input.value)\n"
    "hours, minutes, seconds = (int(part) for part in row[input.column].split(':'))\n"
    "return OutputModel(minutes=hours * 60 + minutes + seconds / 60)",
)
NTH_LOWEST = Job(
    "nth_lowest_row",
    "Order the rows of a table by a column and give the n-th, lowest first.",
    {"path": "str", "column": "str", "place": "int"},
    {"row": "dict"},
    "return OutputModel(row=sorted(rows(input.path), key=lambda r: r[input.column])[input.place - 1])",
)
FRENCH_MEAN = Job(
    "moyenne_par_groupe",
    "Average a column with decimal commas over the rows with a given value.",
    {"path": "str", "column": "str", "where": "str", "equals": "str"},
    {"mean": "float"},
    f"{_SEMICOLONS}kept = [float(r[input.column].replace(',', '.')) for r in table if r[input.where] == input.equals]\n"
    "return OutputModel(mean=sum(kept) / len(kept)) if kept else OutputModel(error='no rows')",
)
SPANISH_SUM = Job(
    "sumar_por_valor",
    "Sum a column over the rows of a table whose other column has a given value.",
    {"path": "str", "column": "str", "where": "str", "equals": "str"},
    {"total": "float"},
    "kept = [r for r in rows(input.path) if r[input.where] == input.equals]\n"
    "return OutputModel(total=sum(float(r[input.column]) for r in kept))",
)
FAHRENHEIT = Job(
    "celsius_to_fahrenheit",
    "Convert a temperature from degrees Celsius to degrees Fahrenheit.",
    {"celsius": "float"},
    {"fahrenheit": "float"},
    "return OutputModel(fahrenheit=round(input.celsius * 9 / 5 + 32, 6))",
)
DIVISOR = Job(
    "greatest_common_divisor",
    "Compute the greatest common divisor of two whole numbers.",
    {"first": "int", "second": "int"},
    {"divisor": "int"},
    "return OutputModel(divisor=math.gcd(input.first, input.second))",
)
ROMAN = Job(
    "to_roman_numerals",
    "Write a whole number in Roman numerals.",
    {"number": "int"},
    {"roman": "str"},
    "left, out = input.number, ''\n"
    "signs = 'M CM D CD C XC L XL X IX V IV I'.split()\n"
    "for sign, worth in zip(signs, (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)):\n"
    "    out, left = out + sign * (left // worth), left % worth\n"
    "return OutputModel(roman=out)",
)
