"""What a user would lose if questions for single rows were not read, or a sentence behind a question were passed over:
yes or no, the row at a place, days between two dates, what of the found rows to name, in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_own_files import seen
from .test_queries import answered_in

FILES = {
    "bookings.csv": """booking_id,guest,room,arrival,departure,persons,paid
B1,Ada Holm,Garden,2024-05-02,2024-05-05,2,yes
B2,Bo Lind,Attic,2024-05-03,2024-05-04,1,no
B3,Cy Moss,Garden,2024-06-01,2024-06-08,4,no
B4,Di Nord,Lake,2024-06-10,2024-06-12,2,yes
""",
    "spending.csv": """date,category,shop,amount
2024-01-03,food,Basket,54.00
2024-01-20,fun,Corner,30.00
2024-02-02,food,Basket,96.00
2024-02-11,clothes,Loom,20.00
2024-02-12,clothes,Loom,10.00
2024-02-13,fun,Corner,10.00
2024-01-21,food,Corner,5.00
2024-01-22,food,Corner,5.00
2024-01-23,food,Corner,5.00
""",
    "expenses.csv": "date,category,amount\n2024-01-03,food,54.00\n2024-01-20,fun,30.00\n2024-02-02,fun,1.00\n",
    "wine.tsv": "wine\tvintage\tbottles\nAlba\t2015\t6\nBruma\t2009\t4\nCorda\t2021\t12\n",
    "hives.csv": "hive,place,frames\nH1,Orchard,9\nH2,Orchard,8\nH3,Meadow,4\n",
    "page_visits.csv": """date,page,visits,signups
2024-06-03,/home,400,8
2024-06-03,/prices,100,2
2024-06-04,/home,450,9
2024-06-04,/prices,70,1
""",
    "shop_sales.csv": """date,product,quantity,unit_price,customer
2024-05-01,Honey,3,6.50,Ada
2024-05-01,Candle,2,9.00,Bo
2024-06-02,Jam,4,4.00,Ada
2024-05-03,Honey,1,6.50,Bo
""",
    "members.csv": """name,town,age,joined,fee_eur,email
Flo Aas,Oslo,71,2010-05-30,40,flo@x.example
Bo Lind,Bergen,17,2021-09-15,30,
Gry Dahl,Oslo,25,2022-11-11,60,gry@x.example
""",
    "photo_jobs.csv": """date,client,type,hours,fee,paid
2024-02-03,Anna Brandt,wedding,9,1450,yes
2024-03-05,Nordlicht Studio,portrait,2.5,200,yes
2024-03-16,Tom Reuter,wedding,10,1600,no
""",
    "runs.csv": """day,route,distance_km,duration_min
2024-07-01,Lake loop,5.2,31
2024-07-06,Lake loop,5.1,29
2024-07-15,Hill path,8.1,49
""",
    "jobs.csv": """job,received,hours,status,value_eur,urgent
J1,2024-01-05,2,paid,50,no
J2,2024-03-01,4,paid,70,yes
J3,2024-02-01,5,open,80,no
""",
    "weather.csv": "day,temp_min,temp_max\n2025-04-18,3,9\n2025-04-19,1,14\n2025-04-20,7,15\n",
    "meters.csv": "flat,jan,apr\n2A,10,15\n2C,20,41\n3B,7,9\n",
    "stock.csv": """sku,product,shelf,in_stock,reorder_at,cost,price
S1,Plum jam,A,6,4,2.00,3.00
S2,Mustard jar,B,3,5,1.50,3.00
S3,Honey,A,9,8,2.00,4.50
""",
    "goats.csv": """tag,name,born,weight_kg,pen
G1,Acorn,2019-04-12,58.5,A
G2,Clover,2020-03-03,52.0,A
G3,Fig,2021-01-01,60,B
""",
    "eggs.tsv": """day\teggs\tbroken\tweather
Mon\t33\t2\tsunny
Tue\t30\t0\train
Wed\t33\t1\tsunny
""",
    "absences.csv": """date,class,absent,late
2025-03-06,7A,2,1
2025-03-06,8C,1,2
2025-03-07,7A,3,0
2025-03-07,8C,4,3
""",
    "running.csv": """date,runner,km,route
2024-05-02,Ben,8.5,forest
2024-05-04,Ann,9.0,river
2024-05-09,Ben,8.0,forest
""",
    "concerts.csv": """date,programme,tickets_sold,ticket_price,costs
2024-05-02,Spring,120,10,100
2024-12-14,Winter,300,12,300
2024-12-20,Winter,90,12,100
""",
    "shared_costs.csv": """date,shop,item,price,paid_by
2024-01-03,Market,rice,8.50,Nele
2024-01-04,Drugstore,dish soap,5.00,Ben
2024-01-17,Market,light bulbs,3.00,Nele
""",
    "scorers.tsv": "player\tteam\tgoals\tassists\nMo\tHarbour FC\t6\t1\nJo\tHarbour FC\t3\t0\nAl\tWestfield\t4\t2\n",
    "door.log": """2024-05-06 07:42:10 INFO ring front
2024-05-06 12:03:51 ERROR battery low
2024-05-07 15:56:41 ERROR camera lost
""",
    "birthdays.csv": "name,birthday\nAda,1990-05-02\nBo,1985-07-01\nCy,2001-05-30\n",
    "scores.csv": "student,maths,reading\nAda,60,65\nBo,90,40\nCy,50,80\nDi,55,69\n",
}
ANSWERED = [
    # yes or no
    ("bookings.csv", "Is there a booking for the Lake room?", "Yes"),
    ("bookings.csv", "Is there any booking with only one person in bookings.csv? Yes or no.", "Yes"),
    ("bookings.csv", "Are there any bookings for the Attic with more than 2 persons? Just yes or no please.", "No"),
    ("bookings.csv", "Was there a booking with an arrival after 2024-06-05?", "Yes"),
    ("scores.csv", "Did anyone score more than 85 in maths?", "Yes"),
    ("scores.csv", "Has any student less than 30 in reading?", "No"),
    # the row at a place
    ("bookings.csv", "Which guest is in the last row of bookings.csv?", "Di Nord"),
    ("bookings.csv", "bookings.csv: which room is in the 3rd row?", "Garden"),
    ("bookings.csv", "Who is on the first line of the table in bookings.csv?", "Ada Holm"),
    ("wine.tsv", "What is the 2nd wine listed in wine.tsv (not counting the header)?", "Bruma"),
    # days
    ("spending.csv", "How many days are there between the first and the last date in spending.csv?", "41"),
    ("bookings.csv", "How many days lie between the earliest and the latest arrival?", "39"),
    ("bookings.csv", "How many days are there on average from arrival to departure?", "3.25"),
    ("bookings.csv", "Which guest took the most days from arrival to departure?", "Cy Moss"),
    # one end, and how many of it
    ("wine.tsv", "Which wine has the oldest vintage?", "Bruma"),
    ("wine.tsv", "Which wine has the newest vintage?", "Corda"),
    ("spending.csv", "Which month had the most spending? (give it as YYYY-MM)", "2024-02"),
    ("spending.csv", "What percentage of the spending was on food? One decimal please.", "70.2"),
    ("spending.csv", "How many spendings were there in January?", "5"),
    ("page_visits.csv", "On which day did we have the most visits across all pages?", "2024-06-04"),
    ("page_visits.csv", "Which page had the most visits?", "/home"),
    ("page_visits.csv", "What percent of visits led to a signup (total signups divided by total visits)?", "1.960784"),
    ("hives.csv", "What is the average number of frames per hive at the Orchard? One decimal.", "8.5"),
    ("scores.csv", "How many points lie between the highest and the lowest maths score?", "40"),
    ("scores.csv", "How many students have less than 70 in both maths and reading?", "2"),
    ("birthdays.csv", "How many people have their birthday in May?", "2"),
    ("door.log", "At what time did the last ERROR happen?", "15:56:41"),
    ("running.csv", "What was Ben's longest run in km?", "8.5"),
    ("running.csv", "What is the average distance of the runs on the forest route?", "8.25"),
    ("concerts.csv", "On what date did we sell the most tickets?", "2024-12-14"),
    ("shared_costs.csv", "Which tenant paid the most in total?", "Nele"),
    ("shared_costs.csv", "What did we buy on 2024-01-17?", "light bulbs"),
    ("shared_costs.csv", "By how much is the total for Market higher than the total for Drugstore?", "6.5"),
    ("scorers.tsv", "How many goals have the Harbour FC players scored together?", "9"),
    ("scorers.tsv", "Is there any player without a single assist? Yes or no.", "Yes"),
    # calculations that a question explains
    ("meters.csv", "Which flat used the most water from jan to apr (apr reading minus jan reading)?", "2C"),
    ("weather.csv", "For which day is the difference between temp_max and temp_min the biggest?", "2025-04-19"),
    ("concerts.csv", "How much was left in 2024, that is tickets_sold times ticket_price minus costs?", "5380"),
    ("meters.csv", "How much higher is the apr reading than the jan reading for flat 2A? Look in meters.csv.", "5"),
    ("stock.csv", "What is all our stock worth at cost, i.e. in_stock times cost summed over stock.csv?", "34.5"),
    ("stock.csv", "What margin (price minus cost) do we make on one Mustard jar? It is in stock.csv.", "1.5"),
    ("stock.csv", "Which products are below their reorder_at level? List them in file order.", "Mustard jar"),
    ("stock.csv", "How many different shelves are used?", "2"),
    ("goats.csv", "By how many kg is Acorn heavier than Clover? See goats.csv.", "6.5"),
    ("goats.csv", "How many rows have pen A and more than 50 kg?", "2"),
    ("eggs.tsv", "What is the average number of eggs on sunny days?", "33"),
    ("eggs.tsv", "How many days had no broken eggs?", "1"),
    ("absences.csv", "What is the average number of absent pupils per day for 7A?", "2.5"),
    ("absences.csv", "On which date were the most pupils absent over all three classes together?", "2025-03-07"),
    ("absences.csv", "How many late pupils were there in 8C altogether?", "5"),
    ("jobs.csv", "What is the mean of the hours column for the jobs with status paid?", "3"),
    ("jobs.csv", "Of the jobs with urgent = no, which job has the latest received date?", "J3"),
    ("jobs.csv", "What are the jobs that are not urgent worth in total?", "130"),
    ("jobs.csv", "Which job is in the 2nd row, not counting the header?", "J2"),
    ("stock.csv", "Which products are below their minimum (in_stock less than reorder_at)?", "Mustard jar"),
    # what was taken in, where only pieces and prices of one say it
    ("shop_sales.csv", "What was the total revenue?", "60"),
    ("shop_sales.csv", "What was the revenue in June?", "16"),
    ("shop_sales.csv", "How much revenue did Honey bring in?", "26"),
    ("shop_sales.csv", "Which product brought in the most revenue?", "Honey"),
    ("shop_sales.csv", "Which customer spent the most money?", "Ada"),
    ("shop_sales.csv", "How much did Bo spend in total?", "24.5"),
    ("shop_sales.csv", "What does a candle cost?", "9"),
    ("shop_sales.csv", "Which products cost less than 6 euros?", "Jam"),
    ("shop_sales.csv", "What's the second most expensive product?", "Honey"),
    ("shop_sales.csv", "How many more pieces were sold in May than in June?", "2"),
    ("shop_sales.csv", "Did Ada ever buy a candle?", "No"),
    ("members.csv", "How many members joined in 2021 or later?", "2"),
    ("members.csv", "Which members pay 30 euros?", "Bo Lind"),
    ("members.csv", "How many members do not have an email?", "1"),
    ("members.csv", "How much older is Flo Aas than Bo Lind?", "54"),
    ("members.csv", "What is the age difference between Flo Aas and Gry Dahl?", "46"),
    ("photo_jobs.csv", "How many weddings were there?", "2"),
    ("photo_jobs.csv", "What was the fee for the job on 2024-03-05?", "200"),
    ("runs.csv", "What is my fastest Lake loop in minutes?", "29"),
    ("runs.csv", "What is my slowest Lake loop in minutes?", "31"),
    ("runs.csv", "How many days passed between the first and the last run?", "14"),
    # what to name, and in which order
    ("bookings.csv", "Which bookings are not paid yet? Just give me the booking ids.", "B2, B3"),
    ("bookings.csv", "Which guests have not paid? I only need the rooms.", "Attic, Garden"),
    ("bookings.csv", "bookings.csv - who stayed in the Garden room? List the names in the order of the file.",
     "Ada Holm, Cy Moss"),
    ("stock.csv", "Which products are on shelf A, in the order they appear in stock.csv?", "Plum jam, Honey"),
    ("wine.tsv", "Give me the two wines with the most bottles, highest first.", "Corda, Alba"),
    ("scores.csv", "Who has more than 50 in reading? Sort them alphabetically, each name once.", "Ada, Cy, Di"),
    ("scores.csv", "The three students with the highest reading, best first", "Cy, Di, Ada"),
    # where the file is named
    ("scores.csv", "scores.csv: what is the average maths score? Two decimals.", "63.75"),
    ("scores.csv", "How many students have more than 60 in maths, see scores.csv?", "1"),
    ("scores.csv", "How many students have more than 60 in maths? The file is scores.csv.", "1"),
]  # fmt: skip
GIVEN_UP = [
    ("expenses.csv", "What share of the expenses was on food?"),  # of the rows, or of the money
    ("expenses.csv", "Which category had the most expenses?"),
    ("spending.csv", "What was the average spending per month?"),  # of a row, or of a month
    ("bookings.csv", "Which bookings are not paid yet? Just give me the phone numbers."),
    ("bookings.csv", "How many bookings are not paid? Give me the guests."),
    ("bookings.csv", "Which guest is in row 9 of the list?"),
    ("bookings.csv", "Which guest is in the 9th row?"),
    ("bookings.csv", "Is there a booking for the Cellar room?"),  # no such room: maybe another word for one
    ("bookings.csv", "Is there a booking for the Lake or the Attic?"),
    ("bookings.csv", "Does the Garden room have a balcony?"),
    ("bookings.csv", "Is Ada Holm paid more than Bo Lind?"),
    ("bookings.csv", "Which bookings are in the last row or the first row?"),
    ("page_visits.csv", "How many days from visits to signups?"),
    ("scores.csv", "Who has more than 50 in reading? Sort them by age."),
    ("absences.csv", "What is the average number of absent pupils per day?"),  # of classes, or of their sums
    ("photo_jobs.csv", "How much did Tom Reuter pay in total?"),  # not yet paid
    ("stock.csv", "What was the total revenue?"),
    ("meters.csv", "Which flat used the most gas from jan to apr?"),
    ("meters.csv", "Which flat used the most water in 2024 (apr minus jan)?"),
    ("goats.csv", "By how many kg is Acorn heavier than Bramble?"),
    ("stock.csv", "What do we earn on one Olive (price minus cost)?"),
    ("scores.csv", "How many days lie between the first and the last student?"),
    ("door.log", "At what time did the doorbell ring, as minutes after noon?"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rows")
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize(("name", "question", "right"), ANSWERED)
def test_a_question_for_rows_is_answered(name: str, question: str, right: str, folder: Path) -> None:
    assert answered_in(folder, question, seen(name, folder)) == right


@pytest.mark.parametrize(("name", "question"), GIVEN_UP)
def test_what_is_open_gets_no_answer(name: str, question: str, folder: Path) -> None:
    assert answered_in(folder, question, seen(name, folder)) is None
