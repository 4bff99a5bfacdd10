"""Files and tools of the fourth set of questions."""

from __future__ import annotations

import json

from .cases import Job

_MAIL = (
    "From {sender}@example.org {day} {at} 2025\nFrom: {sender} <{sender}@example.org>\nTo: {to} <{to}@example.org>\n"
    "Date: {day} 2025 {at}:00 +0000\nSubject: {subject}\n\n{body}\n\n"
)
UNSEEN_FILES: dict[str, str] = {
    "garden.yaml": "# beds of the school garden\nbeds:\n"
    "  - name: north\n    crop: leek\n    sown: 2025-03-28\n    harvest: 2025-09-10\n"
    "  - name: pond\n    crop: kale\n    sown: 2025-04-17\n    harvest: 2025-10-05\n"
    "  - name: wall\n    crop: beans\n    sown: 2025-05-20\n    harvest: 2025-08-02\n",
    "trails.md": "# Trails around the lake\n\n| Trail | km | Climb m | Dogs | Mark |\n|---|---:|---:|:-:|---|\n"
    "| Heron loop | 8.4 | 120 | yes | red |\n| Old quarry | 12.9 | 410 | no | blue |\n"
    "| Ridge walk | 17.6 | 780 | yes | red |\n| Gorge | 9.9 | 265 | no | blue |\n"
    "| Mill path | 5.5 | 35 | yes | green |\n\nThe huts open in May.\n",
    "ferries.html": "<html><body><h1>Ferries</h1>\n<table>\n"
    + "".join(
        "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>\n"
        for tag, row in (
            ("th", ("Departs", "Vessel", "To", "Quay")),
            ("td", ("06:50", "Havørn", "Sandvik", "1")),
            ("td", ("09:20", "Lunde", "Brekka", "2")),
            ("td", ("13:05", "Terna", "Brekka", "2")),
            ("td", ("17:30", "Havørn", "Brekka", "3")),
            ("td", ("19:45", "Lunde", "Sandvik", "1")),
        )
    )
    + "</table></body></html>\n",
    "stations.txt": "station        alt_m   opened  mast_m\nSkarn Peak     2311    1931    6\n"
    "Low Ferry      14      1958    10\nMount Grey     1876    1904    8\nTarn House     438     1987    12\n",
    "orchestra.json": json.dumps(
        {
            "season": "2025/26",
            "sections": {
                "violins": {"chairs": 14, "lead": {"name": "Ilse", "since": 2014}, "rehearses": ["Mon", "Thu"]},
                "horns": {"chairs": 4, "lead": {"name": "Marek", "since": 2008}, "rehearses": ["Tue"]},
                "harp": {"chairs": 1, "lead": {"name": "Noor", "since": 2019}, "rehearses": ["Thu"]},
            },
        },
        indent=2,
    ),
    "inbox.mbox": "".join(
        _MAIL.format(sender=sender, to=to, day=day, at=at, subject=subject, body=body)
        for sender, to, day, at, subject, body in (
            ("greta", "oskar", "3 Mar", "09:12", "Paint for the hull", "Two tins of grey are left."),
            ("greta", "lena", "21 Mar", "18:40", "Keys for the boathouse", "They hang behind the door."),
            ("oskar", "greta", "25 Mar", "07:55", "Re: Paint for the hull", "I shall bring 3 brushes."),
            ("greta", "oskar", "14 Mar", "12:05", "Sails to be mended", "Number 17 has a tear of 40 cm."),
        )
    ),
    "club.ics": "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"
    + "".join(
        f"BEGIN:VEVENT\r\nSUMMARY:{summary}\r\nDTSTART:{start}\r\nDTEND:{end}\r\nEND:VEVENT\r\n"
        for summary, start, end in (
            ("Boat repair", "20250408T170000", "20250408T200000"),
            ("Spring regatta", "20250614T093000", "20250614T160000"),
            ("Annual meeting", "20250918T190000", "20250918T213000"),
        )
    )
    + "END:VCALENDAR\r\n",
    "tour.gpx": '<?xml version="1.0"?>\n<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1">\n'
    + "".join(
        f"<trk><name>{name}</name><trkseg>\n"
        + "".join(
            f'<trkpt lat="46.{510 + place}" lon="8.{120 + 3 * place}"><ele>{height}</ele></trkpt>\n'
            for place, height in enumerate(heights)
        )
        + "</trkseg></trk>\n"
        for name, heights in (("morning", (212, 268, 251, 404, 390, 466)), ("evening", (466, 430, 447, 300, 212)))
    )
    + "</gpx>\n",
    "printer.conf": "# settings of the printer in the workshop\nbed_max_c=110\nbed_mm=220x220\nnozzle_mm=0.4\n"
    "nozzle_material=brass\nfan_percent=85\nfan_count=2\nspeed_mm_s=60\n",
    "maze.py": 'WALL = "#"\n\n\ndef load(path):\n    with open(path) as file:\n'
    "        return [list(line.rstrip()) for line in file]\n\n\ndef flood(grid, row, col):\n"
    '    if grid[row][col] in (WALL, "~"):\n        return 0\n    grid[row][col] = "~"\n'
    "    near = ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1))\n"
    "    return 1 + sum(flood(grid, r, c) for r, c in near)\n\n\ndef draw(grid):\n    for line in grid:\n"
    '        print("".join(line))\n',
    "stromzaehler.csv": "raum;monat;alt_kwh;neu_kwh\nWerkstatt;Februar;3961,0;4120,5\nWerkstatt;März;4120,5;4308,0\n"
    "Büro;Februar;731,4;802,2\nBüro;März;802,2;868,0\n",
    "exhibits.tsv": "экспонат\tзал\tматериал\tвек\nШлем\tАнтичный\tбронза\t5\nЧаша\tСеверный\tсеребро\t11\n"
    "Колокол\tВосточный\tбронза\t14\nМонета\tАнтичный\tсеребро\t2\nФигура льва\tВосточный\tбронза\t9\n"
    "Гребень\tСеверный\tкость\t10\n",
    "curry.txt": "キーマカレー（4人分）\n\n玉ねぎ 300 g\nひき肉 450 g\nじゃがいも 340 g\nにんじん 180 g\n水 600 ml\n\n"
    "1. 玉ねぎを15分炒める。\n2. ひき肉と野菜を加える。\n3. 水を入れて25分煮る。\n",
    "conversa.txt": "[12/05 19:03] Nuno: Quem traz o vinho no sábado?\n[12/05 19:07] Tiago: Eu levo duas garrafas.\n"
    "[12/05 19:12] Rita: E o bolo, já está encomendado?\n[12/05 19:15] Nuno: O bolo fica comigo.\n"
    "[12/05 19:26] Tiago: Não esqueçam as velas!\n[12/05 19:31] Rita: As velas já estão cá em casa.\n",
}
_CELLS = "re.findall(r'<t[hd]>(.*?)</t[hd]>', line)"
LIST_ENTRY = Job(
    "find_list_entry",
    "Find the entry of a list in a YAML file whose key has a given value, and give another key of it.",
    {"path": "str", "key": "str", "equals": "str", "give": "str"},
    {"value": "str"},
    "entries = [{}]\n"
    "for line in text(input.path).splitlines():\n"
    "    if line.lstrip().startswith('- '):\n"
    "        entries.append({})\n"
    "    key, _, value = line.strip().removeprefix('- ').partition(': ')\n"
    "    entries[-1][key] = value\n"
    "found = [entry for entry in entries if entry.get(input.key) == input.equals]\n"
    "return OutputModel(value=found[0][input.give]) if found else OutputModel(error='no such entry')",
)
MARKDOWN_SUM = Job(
    "sum_markdown_column",
    "Sum a column of a Markdown table over the rows whose other column has a given value.",
    {"path": "str", "column": "str", "where": "str", "equals": "str"},
    {"total": "float"},
    "lines = [line.strip('| ') for line in text(input.path).splitlines() if line.startswith('|')]\n"
    "cells = [[cell.strip() for cell in line.split('|')] for line in lines]\n"
    "table = [dict(zip(cells[0], row)) for row in cells[2:]]\n"
    "kept = [float(row[input.column]) for row in table if row[input.where] == input.equals]\n"
    "return OutputModel(total=round(sum(kept), 6))",
)
LAST_DEPARTURE = Job(
    "last_row_of_timetable",
    "Of the rows of an HTML timetable with a given value, give one column of that which departs last.",
    {"path": "str", "where": "str", "equals": "str", "give": "str"},
    {"value": "str", "departs": "str"},
    f"cells = [{_CELLS} for line in text(input.path).splitlines() if line.startswith('<tr>')]\n"
    "table = [dict(zip(cells[0], row)) for row in cells[1:]]\n"
    "last = max((row for row in table if row[input.where] == input.equals), key=lambda row: row['Departs'])\n"
    "return OutputModel(value=last[input.give], departs=last['Departs'])",
)
COLUMN_RANGE = Job(
    "range_of_fixed_width_column",
    "Give the highest and the lowest number in a column of a text with columns of fixed width, and their difference.",
    {"path": "str", "column": "str"},
    {"highest": "float", "lowest": "float", "difference": "float"},
    "head, *lines = text(input.path).splitlines()\n"
    "places = {found[0].strip(): slice(*found.span()) for found in re.finditer(r'\\S+ *', head)}\n"
    "numbers = [float(line[places[input.column]]) for line in lines]\n"
    "low, high = min(numbers), max(numbers)\n"
    "return OutputModel(highest=high, lowest=low, difference=high - low)",
)
SECTION = Job(
    "section_of_orchestra",
    "Give what a JSON file says of one section of an orchestra.",
    {"path": "str", "section": "str"},
    {"entry": "dict"},
    "return OutputModel(entry=rows(input.path)['sections'][input.section])",
)
NEWEST_MAIL = Job(
    "header_of_newest_mail",
    "Give a header of the newest mail that a person sent, from an mbox file.",
    {"path": "str", "sender": "str", "header": "str"},
    {"value": "str"},
    "from datetime import datetime\n"
    "mails = []\n"
    "for mail in re.split(r'(?m)^From .*\\n', text(input.path))[1:]:\n"
    "    heads = dict(re.findall(r'(?m)^(\\w+): (.*)$', mail.partition('\\n\\n')[0]))\n"
    "    if heads['From'].lower().startswith(input.sender.lower()):\n"
    "        mails.append((datetime.strptime(heads['Date'], '%d %b %Y %H:%M:%S %z'), heads))\n"
    "if not mails:\n"
    "    return OutputModel(error=f'no mail from {input.sender}')\n"
    "return OutputModel(value=max(mails, key=lambda mail: mail[0])[1][input.header])",
)
WEEKDAY = Job(
    "weekday_of_event",
    "Tell on which day of the week an event of a calendar file begins.",
    {"path": "str", "summary": "str"},
    {"weekday": "str", "date": "str"},
    "for event in text(input.path).split('BEGIN:VEVENT')[1:]:\n"
    "    said = dict(line.split(':', 1) for line in event.split() if line.startswith('DT'))\n"
    "    if f'SUMMARY:{input.summary}' in event:\n"
    "        start = said['DTSTART']\n"
    "        day = date(int(start[:4]), int(start[4:6]), int(start[6:8]))\n"
    "        return OutputModel(weekday=day.strftime('%A'), date=day.isoformat())\n"
    "return OutputModel(error=f'no event {input.summary}')",
)
CLIMB = Job(
    "height_along_track",
    "Add up how many metres a track of a GPX file goes up, or down.",
    {"path": "str", "track": "str", "direction": "str"},
    {"metres": "float"},
    "from xml.etree import ElementTree\n"
    "tracks = ElementTree.fromstring(text(input.path)).findall('{*}trk')\n"
    "track = next(one for one in tracks if one.findtext('{*}name') == input.track)\n"
    "heights = [float(ele.text) for ele in track.iter('{http://www.topografix.com/GPX/1/1}ele')]\n"
    "sign = {'up': 1, 'down': -1}[input.direction]\n"
    "return OutputModel(metres=sum(max(0, sign * (b - a)) for a, b in zip(heights, heights[1:])))",
)
SETTINGS = Job(
    "settings_with_prefix",
    "Give the settings of a file of key=value lines whose key begins with a word.",
    {"path": "str", "prefix": "str"},
    {"settings": "dict"},
    "pairs = [line.split('=', 1) for line in text(input.path).splitlines() if '=' in line]\n"
    "return OutputModel(settings={key: value for key, value in pairs if key.startswith(input.prefix)})",
)
RECURSIVE = Job(
    "function_calls_itself",
    "Tell whether a function in a Python file calls itself.",
    {"path": "str", "function": "str"},
    {"calls_itself": "bool"},
    "import ast\n"
    "nodes = ast.walk(ast.parse(text(input.path)))\n"
    "one = next(n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == input.function)\n"
    "called = [n.func.id for n in ast.walk(one) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]\n"
    "return OutputModel(calls_itself=input.function in called)",
)
CONSUMPTION = Job(
    "stromverbrauch",
    "Compute what a room used in a month from the old and the new reading of its meter.",
    {"path": "str", "room": "str", "month": "str"},
    {"kwh": "float"},
    "for row in csv.DictReader(text(input.path).splitlines(), delimiter=';'):\n"
    "    if (row['raum'], row['monat']) == (input.room, input.month):\n"
    "        old, new = (float(row[key].replace(',', '.')) for key in ('alt_kwh', 'neu_kwh'))\n"
    "        return OutputModel(kwh=round(new - old, 6))\n"
    "return OutputModel(error='no such reading')",
)
DISTINCT_WHERE = Job(
    "distinct_where",
    "List the distinct values of a column over the rows of a table whose other column has a given value.",
    {"path": "str", "give": "str", "column": "str", "equals": "str"},
    {"values": "list"},
    "kept = [row[input.give] for row in rows(input.path) if row[input.column] == input.equals]\n"
    "return OutputModel(values=list(dict.fromkeys(kept)))",
)
SCALED = Job(
    "scale_ingredient",
    "Compute how much of an ingredient of a Japanese recipe a number of servings needs.",
    {"path": "str", "ingredient": "str", "servings": "int"},
    {"amount": "float", "unit": "str"},
    "recipe = text(input.path)\n"
    "serves = int(re.search(r'(\\d+)人分', recipe)[1])\n"
    "line = re.search(rf'(?m)^{re.escape(input.ingredient)} ([\\d.]+) (\\w+)$', recipe)\n"
    "return OutputModel(amount=float(line[1]) * input.servings / serves, unit=line[2])",
)
FIRST_TO_SAY = Job(
    "first_to_write_word",
    "Find the first message of a chat log that holds a word: who wrote it, and when.",
    {"path": "str", "word": "str"},
    {"sender": "str", "time": "str"},
    "for line in text(input.path).splitlines():\n"
    "    said = re.match(r'\\[\\S+ (\\S+)\\] (\\w+): (.*)', line)\n"
    "    if said and input.word.lower() in said[3].lower():\n"
    "        return OutputModel(sender=said[2], time=said[1])\n"
    "return OutputModel(error=f'nobody wrote {input.word}')",
)
BASE = Job(
    "convert_base",
    "Write a whole number that is given in one base in another base, up to base 16.",
    {"digits": "str", "base": "int", "to": "int"},
    {"digits": "str"},
    "left, out = int(input.digits, input.base), ''\n"
    "while left:\n"
    "    left, digit = divmod(left, input.to)\n"
    "    out = '0123456789ABCDEF'[digit] + out\n"
    "return OutputModel(digits=out or '0')",
)
COMPOUND = Job(
    "compound_interest",
    "Compute what a sum grows to when interest is added once a year.",
    {"amount": "float", "percent": "float", "years": "int"},
    {"balance": "float"},
    "return OutputModel(balance=round(input.amount * (1 + input.percent / 100) ** input.years, 2))",
)
CAESAR = Job(
    "shift_letters",
    "Move each letter of a text some places on in the alphabet, from z on to a.",
    {"words": "str", "places": "int"},
    {"shifted": "str"},
    "def moved(letter):\n"
    "    first = ord('a' if letter.islower() else 'A')\n"
    "    return chr((ord(letter) - first + input.places) % 26 + first) if letter.isalpha() else letter\n"
    "return OutputModel(shifted=''.join(map(moved, input.words)))",
)
CLOCK = Job(
    "time_at_other_offset",
    "Give the time of day at another offset from UTC, both offsets in hours.",
    {"time": "str", "offset": "float", "other_offset": "float"},
    {"time": "str", "day_shift": "int"},
    "hours, minutes = (int(part) for part in input.time.split(':'))\n"
    "then = hours * 60 + minutes + round((input.other_offset - input.offset) * 60)\n"
    "days, rest = divmod(then, 1440)\n"
    "return OutputModel(time=f'{rest // 60:02}:{rest % 60:02}', day_shift=days)",
)
PRIMES = Job(
    "primes_between",
    "List the prime numbers from one whole number to another.",
    {"low": "int", "high": "int"},
    {"primes": "list"},
    "numbers = range(max(2, input.low), input.high + 1)\n"
    "return OutputModel(primes=[n for n in numbers if all(n % d for d in range(2, math.isqrt(n) + 1))])",
)
BARCODE = Job(
    "is_valid_barcode",
    "Tell whether the last digit of a barcode of 13 digits is the right check digit.",
    {"digits": "str"},
    {"valid": "bool"},
    "total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(input.digits))\n"
    "return OutputModel(valid=len(input.digits) == 13 and total % 10 == 0)",
)
