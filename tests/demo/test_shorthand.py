"""Dates as short as people write them, a day without its year, remarks about blanks, the best of each group, and words
typed with a slip: read where they can only mean one thing. What a user would lose: an answer from the wrong century, of
the wrong rows or in the wrong currency."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.demo.called import spelled_out

from .test_own_files import seen
from .test_queries import answered_in

FILES = {
    "pressure.csv": """DATE,am/pm,SYS mmHg,Pulse bpm,Arm,Tablet taken
02-Sep-24,am,140,84,L,N
03-Sep-24,pm,133,,L,Y
14-Oct-24,am,151,73,R,Y
15-Oct-24,am,128,61,R,N
""",
    "wool_stash.csv": """Wool;Brand;Colour;Balls left;m per ball;Price per ball;Bought
Tweed;Rona;moss;8;125;6,09 €;06.09.22
Haze;Rona;;10;205;11,87 €;16.01.24
Merino;Drip;grey;7;110;4,16 €;28.02.23
Sock;Drip;;2;210;7,20 €;30.11.21
""",
    "slashes.csv": """Day,Player,Goals
03/04/24,Ada,2
17/04/24,Bo,1
05/05/24,Ada,4
""",
    "open_slashes.csv": """Day,Player,Goals
03/04/24,Ada,2
07/04/24,Bo,1
05/05/24,Ada,4
""",
    "year_first.csv": """Day,Player,Goals
24/04/03,Ada,2
24/04/17,Bo,1
24/05/05,Ada,4
""",
    "birds_seen.csv": """Date,Species,Count,Site,Seen by
Sat 16 Mar 2024,Avocet,32,Marsh,Alan
Sun 17 Mar 2024,Starling,139,Quay,Peg
Sat 6 Apr 2024,Starling,40,Marsh,Alan
"Saturday, Jun 1, 2024",Avocet,7,Quay,Alan
""",
    "two_years.csv": """Date,Route,Km
2023-06-01,Canal,5
2024-06-01,Park,9
2024-07-02,Canal,7
""",
    "flat_viewings.csv": """Address,District,Rooms,Rent EUR,Lift,Viewing
Lind 14,South,2,730,no,07.03.2025
Goethe 3,North,2,620,yes,12.03.2025
Am Markt 8,South,4,885,no,14.03.2025
Quai 1,North,5,1200,yes,15.03.2025
""",
    "rides_made.csv": """Date,From,Km,Fare,Tip,Race,Kept in
2024-05-01,Quay,1.5,6.10,,N,box 1
2024-05-02,Park,16.9,38.90,,N,shed
2024-05-03,Quay,21.1,7.80,0.50,Y,box 1
2024-06-04,Mill,3.5,10.80,2.00,N,box 2
""",
    "ward_shifts.csv": """Shift date,Ward,Hrs,Overtime (h),Resting_hr,Parking £,In charge,Milk (kg)
2024-05-01,A&E,7.5,0,61,4.20,Ben,3
2024-05-04,Rowan,8,1.5,65,2.40,Ida,4
2024-06-02,A&E,11.5,,63,,Ben,5
""",
    "heights.csv": """Player,Height,Visit,Fee
Ada,171,2024-05-01,20
Bo,182,2024-05-08,30
Cy,177,2024-05-09,40
""",
    "pets_groomed.csv": """Pet,Owner,Wt (kg),Last groom,Next appt,Charge
Biscuit,Ade,18.1,1 February 2025,5 April 2025,£44
Rolo,Whit,57.7,12 January 2025,,£84
Pixie,Ade,9,6 January 2025,1 May 2025,£36
""",
}
ASKED = {
    # short dates, and days without their year
    "How many readings are from October in pressure.csv?": "2",
    "What was my pulse on 14 October in pressure.csv?": "73",
    "How many wools were bought before 1 March 2023 in wool_stash.csv?": "3",
    "Which wool was bought first in wool_stash.csv?": "Sock",
    "How many goals did Ada score in May in slashes.csv?": "4",
    "How many goals did Ada score in May in open_slashes.csv?": None,
    "How many goals did Ada score in May in year_first.csv?": None,
    "How many rows of birds_seen.csv are from a Saturday?": "3",
    "How many rows of birds_seen.csv are from before 1 May?": "3",
    "How many km did I run on 2 July in two_years.csv?": "7",
    "How many rows of two_years.csv are from before 2 July?": None,
    "How many km did I run on 1 June in two_years.csv?": None,
    # blanks that are not counted anyway, and those that would be
    "What is the median pulse in pressure.csv? Skip the ones where I didn't note it.": "73",
    "Average pulse in pressure.csv to one decimal, ignoring the readings with no number": "72.7",
    "What is the average SYS in pressure.csv? Leave out the readings with no pulse.": None,
    "How many readings are there in pressure.csv? Leave out those with no pulse.": None,
    # what is missing
    "Which pets have no next appointment down in pets_groomed.csv?": "Rolo",
    "For how many wools did I not note the colour in wool_stash.csv?": "2",
    "Which wools are missing a colour in wool_stash.csv?": "Haze, Sock",
    # the best of each group, and what spans
    "For each brand, which wool has the highest price per ball in wool_stash.csv?": "Drip: Sock, Rona: Haze",
    "For each district, which address has the lowest rent in flat_viewings.csv?": "North: Goethe 3, South: Lind 14",
    "What is the cheapest wool per ball in wool_stash.csv?": "Merino",
    "What's the gap between the dearest and the cheapest rent in flat_viewings.csv?": "580",
    "What's the gap between the dearest and the longest rent in flat_viewings.csv?": None,
    "What was the biggest count of Starlings in one sighting in birds_seen.csv?": "139",
    # columns in short, and by other forms of their words
    "Which is my heaviest pet in pets_groomed.csv?": "Rolo",
    "How many pets were last groomed in January in pets_groomed.csv?": "2",
    "How many days are there between Biscuit's last groom and her next appointment in pets_groomed.csv?": "63",
    "Which owners have more than one pet in pets_groomed.csv?": "Ade",
    # what is left out, of rows or of a sum, and what each row comes to
    "Not counting races, what was the highest fare in rides_made.csv?": "38.9",
    "What are the total fares in rides_made.csv, not counting tips?": None,
    "What did the ride on 4 June come to, fare plus tip, in rides_made.csv?": "12.8",
    "Which ride in rides_made.csv had the fewest km per fare?": None,
    "On which date did I have the fewest km per fare in rides_made.csv?": "2024-05-01",
    "How many rides are in box 1 in rides_made.csv?": "2",
    "Which address is the cheapest per room, going by rent, in flat_viewings.csv?": "Am Markt 8",
    "Which flats did I see in flat_viewings.csv? I mean the rows where the lift is yes.": None,
    # units as words, slips in the names of columns, and who was there
    "What is the total of the overtime hours in ward_shifts.csv?": "1.5",
    "How many hours did I work on average in ward_shifts.csv?": "9",
    "What was my average resting hr in ward_shifts.csv?": "63",
    "How many kilos of milk were there in all in ward_shifts.csv?": "12",
    "What did I pay for parkign in total in ward_shifts.csv?": "6.6",
    "What is the average weight in heights.csv?": None,
    "How many shifts were there when Ben was in charge in ward_shifts.csv?": "2",
    "How many shifts were on A&E in ward_shifts.csv?": "2",
    "What is the average fee per visit in heights.csv?": "30",
    "Which players are over 175 in height in heights.csv? List them please.": "Bo, Cy",
    "I'm ordering shirts. Which players have a height under 175 in heights.csv?": "Ada",
    # a currency is that of the file
    "What do the charges in pets_groomed.csv come to altogether, in pounds?": "164",
    "What do the charges in pets_groomed.csv come to altogether, in euros?": None,
    "How many pets have a charge over 40 euros in pets_groomed.csv?": None,
    # a column of days names no row, and no row says both
    "Which flats have more than 3 rooms but a rent under 1000 euros in flat_viewings.csv?": "Am Markt 8",
    "How many readings were taken when I hadn't taken the tablet in pressure.csv?": "2",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("short")
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize("question", ASKED)
def test_what_is_short_is_read_where_it_is_not_open(question: str, folder: Path) -> None:
    name = next(name for name in sorted(FILES, key=len, reverse=True) if name in question)
    assert answered_in(folder, question, seen(name, folder)) == ASKED[question]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("how many diffrent towns", "how many different towns"),
        ("the differance between", "the difference between"),
        ("Whats the avarage price", "What's the average price"),
        ("which is the slowest", "which is the slowest"),
        ("the averages", "the averages"),
        ('rows with "diffrent"', 'rows with "diffrent"'),
    ],
)
def test_a_slip_in_a_word_that_asks_is_no_other_word(typed: str, meant: str) -> None:
    assert spelled_out(typed) == meant


def test_a_slip_that_stands_in_the_file_is_none() -> None:
    assert spelled_out("how many diffrent", "name,kind\nx,diffrent") == "how many diffrent"
