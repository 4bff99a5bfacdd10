"""Answers that stand and answers that do not, one rule or one trap each: what the check by values promises."""

from __future__ import annotations

import pytest

from habilis.grounding import Known, Unfounded, founded_by, unfounded, unfounded_data

STAND = [
    ("OSAKA has 19013000", "which city?", "19.0 million people"),
    (
        "The file has columns id, name, price. Mean price is 15.5.",
        "What is the mean price in sales.csv?",
        "The mean price in `sales.csv` is **15.5**.",
    ),
    ("Result: 4", "What is 2+2?", "4"),
    ("total=1200; n=3", "How many?", "There are 3 items, with a total of 1,200."),
    ("{'a': 1, 'b': 2}", "?", "a = 1, b = 2"),
    ("42 km", "How many miles are 42 kilometres, rounded to 2 decimals?", "26.10"),
    ("26.0976", "How many miles are 42 kilometres, rounded to 2 decimals?", "26.10"),
    ("The capital of France is Paris.", "What is the capital of France?", "Paris"),
    ("The capital of France is Paris.", "What is the capital of France?", "The capital of France is Paris."),
    ("anchor: 44, bucket: 41", "sum per product?", "anchor: 44\nbucket: 41"),
    (
        "Sales rose 12% in 2023 to 5.6m EUR.",
        "How did sales develop?",
        "In 2023, sales increased by 12% to €5.6 million.",
    ),
    ("ERROR count: 1", "How many ERROR entries are in kiosk.log?", "There is one ERROR entry in kiosk.log."),
    ("Saturday; date 2024-05-04", "Which weekday?", "Samstag"),
    ("2024-05-04", "Which weekday was 2024-05-04?", "It was a Saturday."),
    ("Temperatures: -3.5 °C in Oslo", "How cold was it in Oslo?", "It was 3.5 degrees below zero in Oslo."),
    (
        "The report names John Smith and Mary Jones as authors; published by Acme Corp.",
        "Who wrote it?",
        "It was written by Smith and Jones for Acme.",
    ),
    (
        "vorname;nachname;alter\nMax;Mustermann;34\nErika;Musterfrau;41",
        "Wer ist am ältesten?",
        "Am ältesten ist Erika Musterfrau mit 41 Jahren.",
    ),
    (
        "Durchschnittspreis: 12.5",
        "Was ist der Durchschnittspreis der Datei preise.csv?",
        "Der Durchschnittspreis in der Datei preise.csv beträgt 12,50 Euro.",
    ),
    (
        "Le chiffre d'affaires est de 3 450 000 euros, en hausse de 4,2 %.",
        "Quel est le chiffre d'affaires ?",
        "Le chiffre d'affaires s'élève à 3,45 millions d'euros, soit une hausse de 4,2 %.",
    ),
    (
        "L'auteur est Émile Zola, né le 2 avril 1840 à Paris.",
        "Qui est l'auteur ?",
        "L'auteur est Émile Zola (né à Paris le 2 avril 1840).",
    ),
    (
        "El presupuesto es de 2.500.000 euros",
        "¿Cuál es el presupuesto?",
        "El presupuesto es de dos millones y medio de euros (2,5 millones).",
    ),
    ("最大的城市是纽约。人口 8,336,817", "Which city is the largest?", "New York, with a population of 8.3 million."),
    ("売上高は1億2,300万円", "売上高は？", "売上高は1億2300万円です。"),
    ("売上高は123000000円", "売上高は？", "売上高は約1.23億円です。"),
    ("총 인원은 1,250명입니다.", "총 인원은?", "총 1250명"),
    ("Население: 146 150 789 человек", "Каково население?", "Население составляет примерно 146,2 млн человек."),
    ("عدد الطلاب 325", "كم عدد الطلاب؟", "عدد الطلاب ٣٢٥ طالبًا"),
    ("median 7, mode 7, range 12", "stats?", "- Median: 7\n- Mode: 7\n- Range: 12"),
    ("0.0523", "What's the rate in percent?", "5.23%"),
    ("Probability 1/6", "probability as percent?", "16.67 %"),
    ("prime factors of 360: 2^3 * 3^2 * 5", "factorise 360", "2^3 × 3^2 × 5"),
    ("prime factors of 360: [2, 2, 2, 3, 3, 5]", "factorise 360", "360 = 2 × 2 × 2 × 3 × 3 × 5"),
    ("7", "How many days are in a week?", "7 days"),
    ("Elapsed 5400 s", "How long?", "1.5 hours"),
    ("Elapsed 5400 s", "How long?", "90 min"),
    ("Elapsed 5400 s", "How long?", "1:30 h"),
    ("duration 01:30:00", "How long?", "An hour and a half, i.e. 90 minutes."),
    ("size_bytes: 2500000000", "size?", "2.5 GB"),
    ("size_mb: 2500", "size in GB?", "2.5 GB"),
    ("distance_m: 42195", "how far?", "42.195 km"),
    (
        "| year | revenue (in thousands) |\n|---|---|\n| 2021 | 1,250 |\n| 2022 | 1,410 |",
        "Revenue in 2022?",
        "Revenue in 2022 was $1.41 million.",
    ),
    ("Umsatz in Tsd. Euro: 2022 1.410", "Umsatz 2022?", "1,41 Millionen Euro"),
    ("The function returns True for palindromes: True", "Is 'level' a palindrome?", "Yes, 'level' is a palindrome."),
    ("reverse: 'dlrow olleh'", "Reverse 'hello world'.", "dlrow olleh"),
    (
        "links: brill.html, tides.html, https://charts.example/ostwick",
        "List the links in notice.html.",
        "brill.html\ntides.html\nhttps://charts.example/ostwick",
    ),
    (
        "First 10 primes: 2, 3, 5, 7, 11, 13, 17, 19, 23, 29",
        "first ten primes?",
        "The first 10 primes are 2, 3, 5, 7, 11, 13, 17, 19, 23 and 29.",
    ),
    ("v2.4.1 released on 2023-11-05", "latest version?", "The latest version is 2.4.1, released November 5, 2023."),
    ("Meeting 10:00-11:30 in room B12", "When and where?", "The meeting is from 10 am to 11:30 am in room B12."),
    ("Winner: France (4-2 vs Croatia)", "Who won?", "France beat Croatia 4–2."),
    ("Herr Müller wohnt in Köln", "Where does Mr Müller live?", "Mr. Müller lives in Cologne."),
    ("Germany 83, France 68", "Welches Land hat mehr Einwohner?", "Deutschland hat mit 83 mehr als Frankreich mit 68."),
    ("Einwohner München 1512491", "How many people live in Munich?", "About 1.5 million people live in Munich."),
    ("William Shakespeare, 1564–1616", "Who?", "William Shakespeare (1564-1616)"),
    ("ISBN 9783161484100", "isbn?", "ISBN 978-3-16-148410-0"),
    ("sunny, 21 °C", "weather?", "It is sunny, with a temperature of 21°C (69.8°F)."),
    ("The sky is clear", "What is the weather?", "Clear sky"),
    ("avg 23.456", "?", "≈ 23.5"),
    ("avg 23.456", "?", "about 23"),
    ("population 1,234,567", "?", "over 1.2 million"),
    ("population 1,234,567", "?", "more than 1.2 million people"),
    ("Q: north 41, south 57, west 12", "Top region?", "Top region: South (57)"),
    (
        "The Great Gatsby by F. Scott Fitzgerald, 1925",
        "Who wrote it?",
        "F. Scott Fitzgerald wrote The Great Gatsby in 1925.",
    ),
    ("3 rows: A, B, C", "?", "There are three rows (A, B and C)."),
    ("a\nb\nc\nd\ne", "How many lines?", "5 lines"),
    ('["x", "y", "z", "w"]', "How many?", "4"),
    ("Temperature 300 K", "in Celsius?", "26.85 °C"),
    ("speed 36 km/h", "in m/s?", "10 m/s"),
    (
        "The contract was signed on 5 June 2021 by Maria Rossi for Nordwind AG.",
        "Summarize.",
        "Maria Rossi signed the contract for Nordwind AG in June 2021.",
    ),
    ("The findings say nothing about the price.", "What is the price?", "The findings do not say what the price is."),
    (
        "Nothing was found about the mayor of Springfield.",
        "Who is the mayor of Springfield?",
        "No information about the mayor of Springfield was found.",
    ),
    ("Net 100, gross 119, VAT 19 %", "Gross?", "The gross amount is 119.00."),
    ("Der Vertrag läuft vom 1. Januar 2020 bis 31. Dezember 2022.", "Bis wann?", "Bis zum 31.12.2022"),
    (
        "In Berlin leben 3,7 Mio. Menschen",
        "Wie viele Menschen leben in Berlin?",
        "In Berlin leben rund 3,7 Millionen Menschen.",
    ),
    (
        "Die Firma Schmidt & Söhne GmbH hat 25 Mitarbeiter in Hamburg.",
        "Wie viele Mitarbeiter?",
        "Die Firma beschäftigt in Hamburg 25 Personen.",
    ),
    ("Roman: MCMXCIV", "What is 1994 in Roman numerals?", "MCMXCIV"),
    ("1994", "Convert MCMXCIV", "1994"),
    ("binary 101010", "42 in binary?", "101010"),
    ("hex: 0x2a", "?", "0x2A"),
    ("Score 17/20", "?", "17 out of 20"),
    ("Score 17 of 20", "?", "17/20"),
    ("min 2 max 9", "?", "Between 2 and 9."),
    ('{"results":[{"id":7,"name":"Zoë"}]}', "who?", "Zoe (id 7)"),
    ("The quick brown fox", "Count vowels; vowels: 5", "There are five vowels."),
    ("second place: Kim", "Who came second?", "Kim came second."),
    ("3. Kim", "Who came third?", "Kim came third."),
    ("Ranking:\n1. Lee\n2. Park\n3. Kim", "Which place has Kim?", "Kim is in 3rd place."),
    ("rate 0.5", "?", "Half (50 %)"),
    ("anna@example.org", "mail?", "Anna's address is anna@example.org."),
    ("Fr. 12.50", "?", "12.50 CHF"),
    ("price: $1,299.00", "?", "1299 dollars"),
    ("Rope costs 2.50 euros per metre: 12 m cost 30", "cost?", "30 €"),
    ("answer: yes", "?", "Yes."),
    ("Found: python, numpy, pandas", "Which libs?", "Python, NumPy and pandas"),
    ("Zürich 434008", "?", "Zurich has 434,008 inhabitants."),
    ("max = 1e6", "?", "1,000,000"),
    ("max = 1000000", "?", "10^6"),
    ("x = 0.333333", "?", "1/3"),
    ("temperature rises by 1.5 K", "?", "1.5 K"),
    ("The train leaves at 14:05.", "?", "Der Zug fährt um 14:05 Uhr ab."),
    ("Tim: 5, Ann: 7", "Wer hat mehr?", "Ann hat mit 7 mehr Punkte als Tim (5)."),
    ("Es handelt sich um ein Fahrrad aus Stahl von 1984.", "Was ist es?", "Ein Stahlfahrrad aus dem Jahr 1984."),
    ("Result: The determinant is -2.", "determinant?", "-2"),
    ("determinant -2", "det?", "−2"),
    ("The text mentions 'solar panels' 4 times.", "How often?", 'The phrase "solar panels" appears 4 times.'),
    ("Average age 34.7 (n=120)", "?", "Based on the findings, the average age is 34.7 years (n = 120)."),
    ("Max: Tuesday with 340 visitors", "Busiest day?", "Tuesday was the busiest day (340 visitors)."),
]
DOUBTED = [
    ("OSAKA has 19013000", "which city?", "New York, United States"),
    ("OSAKA has 19013000", "which city?", "in New York, 8 million"),
    ("The task requires finding the average of a column.", "What is the average?", "15.2 cm"),
    ("mean 42.3", "?", "42.4"),
    ("mean 42.3", "?", "The mean is 43."),
    ("price 15 EUR", "?", "15 USD"),
    ("weight 5 kg", "?", "5 lb"),
    ("growth 5 %", "?", "5 percentage points"),
    ("temperature -3 °C", "?", "3 °C"),
    ("temperature 3 °C", "?", "-3 °C"),
    ("date 2024-03-01", "?", "2024-03-02"),
    ("2024-05-04", "Which weekday was 2024-05-04?", "It was a Friday."),
    ('["x", "y", "z", "w"]', "How many?", "6"),
    ("Ann 7, Tim 5", "total?", "12"),
    ("Ann 7, Tim 5", "total?", "Together they have twelve."),
    ("The book is by Maria Rossi.", "Who?", "The book is by Mario Bianchi."),
    ("The book is by Maria Rossi.", "Who?", "Bianchi"),
    ("Der Sieger ist Karl Huber.", "Wer hat gewonnen?", "Gewonnen hat Peter Maier."),
    ("Der Sieger ist Karl Huber.", "Wer hat gewonnen?", "Peter Maier"),
    ("Le gagnant est Luc Martin.", "Qui a gagné ?", "Le gagnant est Paul Durand."),
    ("El ganador es Luis Gómez.", "¿Quién ganó?", "El ganador es Pedro Ruiz."),
    ("Победитель — Иван Петров", "Кто победил?", "Победил Сергей Смирнов."),
    ("優勝者は田中さんです。", "優勝者は誰ですか。", "優勝者は鈴木さんです。"),
    ("FileNotFoundError: data.csv", "What's the sum?", "The sum is 15."),
    ("price: 12.50", "?", "The price is 12.5 million."),
    ("1,500,000 people", "?", "1.5 billion people"),
    ("3 h 20 min", "?", "3 h 40 min"),
    ("distance 5 km", "?", "500 m"),
    ("share 0.25", "?", "2.5 %"),
    ("share 25 %", "?", "0.4"),
    ("code AB-1234", "?", "AB-1243"),
    ("v2.4.1", "?", "v2.4.2"),
    ("departs 14:05", "?", "15:05"),
    ("departs 2:05 pm", "?", "2:05 am"),
    ('He said "we will not raise taxes this year".', "?", 'He said "we will lower taxes for everyone".'),
    ("colour list unknown", "What colour is the car?", "red"),
    ("The car is blue", "What colour is the car?", "red"),
    ("founded in 1912", "?", "It was founded in 1921."),
    ("founded in 1912", "?", "in the 1920s"),
    ("five apples", "?", "seven apples"),
    ("fünf Äpfel", "Wie viele?", "Es sind sieben Äpfel."),
    ("cinq pommes", "Combien ?", "Il y a sept pommes."),
    ("人口 8,336,817", "?", "人口约为 9.3 百万"),
    ("Beethoven, 5th symphony", "?", "9th symphony"),
    ("Louis XIV", "?", "Louis XVI"),
    ("capital: Bern", "?", "The capital is Zurich."),
    ("capital: Bern", "?", "Geneva"),
    ("user id 88213", "?", "user id 88231"),
    ("phone +41 44 123 45 67", "?", "+41 44 123 45 76"),
    ("average 3.14159", "?", "3.15"),
    ("product = 121932631112635269", "product?", "1.2193263111263526e+17"),
    ("ids: 101, 102, 103", "highest?", "104"),
    ("March", "?", "April"),
    ("Q2 2023", "?", "Q3 2023"),
    ("The wall is 2.5 m high", "?", "2.5 feet"),
    ("no numbers here at all", "How many?", "about 40"),
    ("sales 1234", "?", "about 1,500"),
    ("the meeting is in Rome", "Where?", "The meeting takes place in Madrid."),
    ("Das Treffen ist in Rom", "Wo?", "Das Treffen findet in Madrid statt."),
]


@pytest.mark.parametrize(("findings", "question", "answer"), STAND)
def test_what_follows_by_a_named_rule_is_not_doubted(findings: str, question: str, answer: str) -> None:
    assert unfounded(answer, Known([findings], question)) == ()


@pytest.mark.parametrize(("findings", "question", "answer"), DOUBTED)
def test_what_stands_nowhere_is_doubted(findings: str, question: str, answer: str) -> None:
    assert unfounded(answer, Known([findings], question))


@pytest.mark.parametrize(
    ("findings", "answer", "rule"),
    [
        ("mean 23.456", "23.46", "rounding"),
        ("12.4 km", "12,400 m", "unit"),
        ("0.4237", "42.37 %", "percent"),
        ("1,234.5", "1.234,5", "separators"),
        ("42", "forty-two", "number words"),
        ("Автор: Шолохов", "Sholokhov", "another script"),
        ('["a", "b", "c"]', "3", "count"),
        ("2025-11-30", "Sunday", "weekday"),
        ("a fall of 5 %", "-5 %", "sign in words"),
        ("revenue (in thousands): 1,410", "1.41 million", "scale"),
        ("The seat is in München.", "It is in Munich.", "another language"),
        ("two thirds", "0.67", "rounding"),
        ("0.67", "two thirds", "fraction"),
        ("nothing", "17", ""),
    ],
)
def test_each_value_names_the_rule_that_it_stands_by(findings: str, answer: str, rule: str) -> None:
    assert [value.rule for value in founded_by(answer, [findings])] == [rule]


def test_a_doubt_names_the_very_values_as_they_stand_in_the_answer() -> None:
    found = unfounded("Alice Walker measured ４２.7 km on 3 May 2024.", ["Bob measured 42.3 km on 4 May 2024."])
    assert set(found) == {
        Unfounded("name", "Alice Walker"),
        Unfounded("number", "４２.7 km"),
        Unfounded("date", "3 May 2024"),
    }


def test_data_is_checked_value_by_value() -> None:
    known = Known(['{"mean": 4.25, "city": "Bonn"}'], "Mean and city?")
    assert unfounded_data({"mean": 4.25, "city": "Bonn", "exact": True, "note": None, "rows": [4.3]}, known) == ()
    found = unfounded_data({"mean": 4.52, "rows": [{"city": "Cologne"}]}, known)
    assert set(found) == {Unfounded("number", "4.52"), Unfounded("name", "Cologne")}


def test_arithmetic_is_no_rule_but_a_recorded_call_founds_its_result() -> None:
    findings = "Ann has 7 points, Tim has 5."
    assert unfounded("Together they have 12 points.", [findings])
    assert not unfounded("Together they have 12 points.", [findings, '{"sum": 12}'])


def test_one_shared_digit_or_word_founds_nothing() -> None:
    findings = "The file has 12 rows, the mean price is 3.5 EUR."
    assert unfounded("The mean price is 12.5 EUR.", [findings])
    assert unfounded("The mean price in Paris is 3.5 EUR.", [findings])


@pytest.mark.parametrize("answer", ["", " ", "\0", "yes", "No.", "higher", "ja", "…", "?"])
def test_what_claims_no_value_is_never_doubted(answer: str) -> None:
    assert unfounded(answer, ["Osaka has 19013000"]) == ()


def test_the_word_between_two_amounts_turns_no_sign() -> None:
    question = "What is the balance of cash, debit minus credit?"
    assert unfounded("-200.25", Known(['{"balance": 200.25}'], question)) == (Unfounded("number", "-200.25"),)
    assert unfounded("Debit minus credit is 200.25.", Known(['{"balance": -200.25}'], question))
    assert not unfounded("It is minus 200.25.", Known(['{"balance": -200.25}'], question))
    assert not unfounded("-200.25", Known(["The balance fell by 200.25."], question))
    assert not unfounded("-5", Known(["It was minus 5 outside."], "How cold was it?"))


def test_a_number_in_the_name_of_a_folder_founds_nothing() -> None:
    """… of one where the task's files lie: else any answer might be right by where they were put."""
    sources = ['{"rows": 12}', "/data/run7/2024/sales_31.csv"]
    known = Known(sources, "How many rows has sales_31.csv?", folders=["/data/run7/2024"])
    assert not unfounded("sales_31.csv has 12 rows.", known)
    assert not unfounded("/data/run7/2024/sales_31.csv has 12 rows.", known)
    for answer in ("It has 7 rows.", "It has 2024 rows."):
        assert unfounded(answer, known)
