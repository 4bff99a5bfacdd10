"""Planted answers, right and wrong, for the review of an answer and for the judge of doubted values."""

from __future__ import annotations

from habilis.judging.trials import Case


def _answer(
    right: bool, question: str, answer: str, tool: str = "", does: str = "", call: str = "", gave: str = ""
) -> Case:
    """An answer to a question, and the one call that it rests on, where there was one."""
    shown = {
        "conversation": [],
        "question": question,
        "answer": answer,
        "tools": [{"name": tool, "description": does}] if tool else [],
        "invocations": [{"tool": tool, "arguments": call, "result": gave}] if tool else [],
    }
    return Case(right, shown)


ANSWERS = (
    _answer(  # another operation
        False,
        "What is the highest temperature in kiln.csv?",
        "The highest temperature in kiln.csv is 812.4.",
        "mean_of_readings",
        "Computes the mean of a column of readings.",
        '{"path": "kiln.csv", "column": "temperature"}',
        '{"result": 812.4, "error": null}',
    ),
    _answer(  # an invented number
        False,
        "How many days lie between 3 March 2031 and 19 April 2031?",
        "There are 61 days between the two dates.",
        "days_between",
        "Counts the days between two dates.",
        '{"first": "3 March 2031", "second": "19 April 2031"}',
        "Error: ValueError: time data '3 March 2031' does not match format '%Y-%m-%d'",
    ),
    _answer(
        True,
        "How many rows of orchard.csv have more than 20 trees?",
        "7 rows of orchard.csv have more than 20 trees.",
        "count_rows_above",
        "Counts the rows of a table whose value in a column is greater than a bound.",
        '{"path": "orchard.csv", "column": "trees", "bound": 20}',
        '{"result": 7, "error": null}',
    ),
    _answer(
        True,
        "Which ferry takes the most cars: Alma with 42, Birk with 57 or Cora with 39?",
        "Birk takes the most cars, 57.",
        "name_of_largest",
        "Finds the name with the largest number.",
        '{"amounts": {"Alma": 42, "Birk": 57, "Cora": 39}}',
        '{"result": "Birk", "error": null}',
    ),
    _answer(  # another operation, in another language
        False,
        "Quel est le poids total des colis dans colis.csv ?",
        "Le poids total des colis est de 12.",
        "count_lines_of_table",
        "Counts the rows of a table.",
        '{"path": "colis.csv"}',
        '{"result": 12, "error": null}',
    ),
    _answer(  # the text of an error
        False,
        "How many lines does harbour.txt have?",
        "The result is: IsADirectoryError: [Errno 21] Is a directory: 'harbour'.",
        "line_count",
        "Counts the lines of a text file.",
        '{"path": "harbour"}',
        "Error: IsADirectoryError: [Errno 21] Is a directory: 'harbour'",
    ),
    _answer(  # right, in another language
        True,
        "¿Cuántos minutos hay entre las 08:15 y las 09:40?",
        "Hay 85 minutos.",
        "minutes_between",
        "Counts the minutes between two times of a day.",
        '{"start": "08:15", "end": "09:40"}',
        '{"result": 85, "error": null}',
    ),
    _answer(  # the same operation on something else
        False,
        "What is the median rent in Lund, by rents.csv?",
        "The median rent in Lund is 8400.",
        "median_where",
        "Computes the median of a column over the rows where another column has a value.",
        '{"path": "rents.csv", "column": "rent", "where": "city", "equals": "Oslo"}',
        '{"result": 8400, "error": null}',
    ),
    _answer(True, "Which colour do you get when you mix blue and yellow paint?", "Green."),
    _answer(  # not answered
        False,
        "Who signed the last letter in letters.txt?",
        "The file letters.txt holds three letters, all of them about the sale of a boat.",
        "read_letters",
        "Reads the letters of a file.",
        '{"path": "letters.txt"}',
        '{"result": ["… Ilse Brandt", "… Emil Sander", "… Hanne Roth"], "error": null}',
    ),
)
"""In an order in which neither one word for all nor two by turns gets far, least of all a judge that always agrees."""


def _doubted(right: bool, question: str, findings: str, answer: str, value: str, kind: str = "name") -> Case:
    values = [{"text": value, "kind": kind}]
    return Case(right, {"question": question, "findings": findings, "answer": answer, "values": values})


DOUBTED = (
    _doubted(False, "Who leads the choir?", "The choir rehearses in the old mill.", "Tomas Lind", "Tomas Lind"),
    _doubted(
        True,
        "Who designed the lighthouse?",
        "Der Leuchtturm wurde von der Baumeisterin Hanne Roth entworfen.",
        "Hanne Roth, a master builder, designed it.",
        "a master builder",
        "words",
    ),
    _doubted(True, "Which station is it?", "Станция: Яровое", "The station is Yarovoye.", "Yarovoye"),
    _doubted(
        False,
        "Who runs the ferry?",
        "The ferry Alma sails to the northern island twice a day.",
        "The ferry is run by Nordlinie.",
        "Nordlinie",
    ),
    _doubted(
        True,
        "Who leads the choir?",
        "The choir is led by M. Okafor (first name: Miriam).",
        "Miriam Okafor leads it.",
        "Miriam Okafor",
    ),
    _doubted(
        False,
        "Wer hat den Garten angelegt?",
        "Der Garten wurde 1911 angelegt und 1950 vergrößert.",
        "Der Gärtner Emil Sander hat ihn angelegt.",
        "Emil Sander",
    ),
    _doubted(
        False,
        "What does the report say of the roof?",
        "The report calls the roof sound and the cellar damp.",
        'The report calls the roof "beyond repair".',
        "beyond repair",
        "quotation",
    ),
    _doubted(
        True,
        "When may lorries not cross the bridge?",
        "Lorries are kept off the bridge from dusk to dawn.",
        "They may not cross it at night.",
        "at night",
        "words",
    ),
)
