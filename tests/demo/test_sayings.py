"""What people say of a table in other words than its own. What a user would lose: half of a condition, one day of many
for the first, how many rows for how much they hold, money taken in for money spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_own_files import seen
from .test_queries import answered_in

FILES = {
    "tool_loans.csv": """Borrower,Title,Maker,Branch,Loaned,Due,Returned
Ada Hill,Long Saw,Orton,Central,03/10/2023,24/10/2023,20/10/2023
Ben Orr,Drill Nine,Falk,Quayside,04/10/2023,25/10/2023,30/10/2023
Ada Hill,Drill Nine,Falk,Central,05/11/2023,26/11/2023,
Cy Voss,Sander,Orton,Quayside,14/11/2023,05/12/2023,04/12/2023
Cy Voss,Plane,Falk,Central,15/11/2023,06/12/2023,05/12/2023
""",
    "weather_week.tsv": """Date\tMin (°C)\tMax (°C)\tRain (mm)\tWind (km/h)\tWind dir\tSky
1 Apr 2024\t3.1\t11.4\t0.0\t12\tW\tsunny
2 Apr 2024\t-1.6\t12.0\t1.2\t18\tSW\tcloudy
3 Apr 2024\t5.8\t10.3\t6.4\t27\tSW\train
4 Apr 2024\t-0.2\t14.2\t0.0\t9\tN\tsunny
""",
    "race_results.csv": """Place,Name,Club,Sex,Time
1,Kenji Mori,Harriers,M,0:33:48
2,Beth Carver,Striders,F,0:39:10
3,Ida Lund,Harriers,F,0:41:02
4,Tom Reid,Striders,M,0:52:30
""",
    "islanders.csv": """Name,Sex,Home
Ada Kelly,F,Isle of Man
Ben Orr,M,Jersey
Cy Quayle,M,Isle of Man
Di Hart,F,Jersey
""",
    "home_visits.csv": """Date,Patient,Distance,Minutes,Nurse
2025-01-07,Mr Aldous,6.5 km,35,Karen
2025-01-09,Miss Ferrar,8.4 km,10,Danny
2025-01-14,Mr Aldous,6.5 km,30,Karen
2025-02-03,Mrs Pike,3.2 km,15,Karen
""",
    "baby_naps.csv": """Date,Bedtime,Naps,Nap minutes
2024-09-01,19:10,3,150
2024-09-05,19:05,2,140
2024-09-09,18:50,8,95
2024-10-02,19:20,3,135
""",
    "sold_online.csv": """Item,Platform,Asking price,Put online,Sold on
Tent,Gumtree,60,2025-02-01,2025-02-09
Lamp,eBay,15,2025-02-01,2025-02-03
Guitar,eBay,90,2025-02-02,
""",
    "drawers.csv": """Article,Drawer,In stock,Bought from
Brass handle,A1,7,Huber
Wood dowel,A2,0,Waldner
""",
    "bills.csv": """Date,Firm,For,Amount
2023-01-09,Northmoor,electricity,118.40
2023-01-16,Benham,water,41.25
2023-02-06,Garage Lee,car repair,468.30
""",
    "messages.txt": """day | taken by | caller | message
2024-04-08 | Marta | Mrs Keller | chairs: when will they be ready
2024-04-11 | Marta | Chimney sweep | comes on 23 April
2024-04-12 | Timo | Mr Petrov | wants a price
""",
    "bird_log.txt": """06 Jan 2024 08:10  robin x1, lawn, seen by Ella
06 Jan 2024 08:25  blue tit x4, feeder, seen by Ella
13 Jan 2024 07:50  blackbird x2, lawn, seen by Dad
""",
    "dinners.csv": """Dish,Kitchen,Minutes
Egg fried rice,Chinese,20
Spinach omelette,French,15
Onion soup,French,50
""",
    "choir_members.csv": """Name,Voice,Joined,Rehearsals a week
Ada Kelly,alto,2016-03-01,1
Ben Orr,bass,2009-09-15,2
Cy Quayle,bass,2020-01-10,3
""",
    "class_list.csv": """Pupil,Class,Points
Ada Kelly,7C,12
Ben Orr,8C,15
Cy Quayle,7C,9
""",
    "summer_outing.csv": """Guest,Adult or child,Meal
Marta,adult,meat
Lilli,child,none
Cem,adult,fish
""",
    "plants_beds.csv": """Plant,Bed,Height_cm,Sun,Price
Lavender,Front,55,full,$8.50
Fern,Side,40,shade,$6.00
Peony,Front,80,full,$19.95
Sage,Side,30,full,$5.25
""",
    "cakes_sold.csv": """Date,Shop,Item,Units sold,Revenue
2024-06-03,Market,Rye loaf,38,159.60
2024-06-03,Station,Scone,64,121.60
2024-06-10,Market,Scone,20,38.00
2024-06-10,Station,Rye loaf,10,42.00
""",
    "pupil_grades.csv": """Student,Maths,English,Absences
Ada Okafor,78,90,2
Ben Rossi,91,88,0
Cem Aydin,64,71,7
""",
    "flat_rentals.csv": """Unit,Area,Rent,Tenant,Pets
F1,Old Town,"1,150",Carla Meyer,yes
F2,Harbour,890,,no
F3,Harbour,"1,780",Wei Zhang,yes
F4,Mill Lane,640,,yes
""",
    "staff_pay.csv": """Name,Dept,Job title,Salary,Manager
Ada Lowe,Sales,Head of IT sales,76500,
Ben Rao,IT,Developer,61800,Ada Lowe
Cy Petit,IT,Developer,56400,Ada Lowe
Di Novak,IT,Technician,38600,Ben Rao
Eve Serra,Sales,Head of IT,99000,Ada Lowe
""",
    "shed_bookings.csv": """Room,Date,From,Booked by,People,Projector
Oak,01/08/2024,09:00,Kay Mills,6,Y
Elm,01/08/2024,11:00,Joe Pratt,4,N
Oak,01/09/2024,13:00,Kay Mills,5,N
Ash,01/17/2024,13:00,Dana Cole,9,Y
""",
    "sent_parcels.csv": """Parcel,City,Sent,Weight (kg),Insured
P-1,Vienna,2023-09-04,2.4,no
P-2,Munich,2023-09-04,5.8,no
P-3,Zurich,2023-09-06,9.1,yes
""",
    "bank_statement.csv": """Date,Description,Category,Amount
2023-01-03,Salary,Income,"2,000.00"
2023-01-05,Rent,Housing,-950.00
2023-01-09,Market,Groceries,-86.40
2023-02-09,Refund market,Groceries,6.40
2023-02-11,Market,Groceries,-20.00
""",
    "helper_shifts.csv": """Volunteer,Event,Date,Hours,Role
Boris,Spring Fair,2024-04-06,4,stall
Cath,Spring Fair,2024-04-06,3,parking
Cath,Summer Fete,2024-06-22,3,first aid
Derek,Summer Fete,2024-06-22,5,first aid
""",
    "play_seats.csv": """Play,Seats,Tickets,Price each
Dolls,Balcony,28,24.00
Dolls,Standing,9,12.00
Gulls,Standing,4,12.00
""",
    "cab_rides.csv": """ride_no,pickup,driver,from,to
1,2024-05-03 14:03,Chen,Old Town,Station
2,2024-05-03 16:38,Chen,Old Town,Harbour
3,2024-05-04 07:27,Rao,Harbour,Station
""",
    "towers_coast.csv": """Name,Coast,Built,Open to visitors
Skarholm,North,1868,yes
Saltmouth,South,1859,yes
""",
    "yarn_box.csv": """Yarn,Colour,Balls,Metres per ball
Misty,cream,8,120
Tweed,cream,2,47
Haze,moss,12,90
""",
    "meter_log.csv": """read_on,meter,kWh_used,cost
2022-12-31,18000,400,£130.00
2023-01-31,18160,160,£52.00
2023-02-28,18300,140,£45.50
""",
    "jay_sightings.csv": """Date,Time,Species,Count,Observer
2023-04-02,07:15,Robin,3,Harriet
2023-04-02,08:40,Mallard,14,Colin
2023-04-11,07:05,Heron,1,Colin
""",
    "shows_log.csv": """Date,Exhibition,Visitors
2023-10-01,Roman Glass,182
2023-10-03,Toy Trains,64
2023-10-04,Toy Trains,71
""",
    "home_recipes.csv": """Recipe,Course,Cook (min),Servings,kcal per serving,Price per portion
Stew,Main,60,6,620,$4.00
Flan,Dessert,30,2,380,$2.50
Fool,Dessert,10,4,420,$1.50
""",
    "gift_register.csv": """Donor,Donor type,Date,Amount,Campaign
Ellen Marsh,individual,2022-01-14,$50,Food bank
Corner Shop,company,2022-01-20,"$1,000",Food bank
Ellen Marsh,individual,2022-02-20,$980,Coats
""",
}
ASKED = {
    # both ends of what is said once
    "What is the difference between the highest and the lowest salary in IT in staff_pay.csv?": "23200",
    "What is the difference between the highest and the lowest salary among the developers in staff_pay.csv?": "5400",
    # rows and what they are about
    "How many loans were there at the Quayside branch in tool_loans.csv?": "2",
    "How many loans were returned after the due date in tool_loans.csv?": "1",
    "Which maker was borrowed the most in tool_loans.csv?": "Falk",
    "Did Ada Hill borrow Drill Nine in tool_loans.csv?": "Yes",
    "Did Ben Orr borrow the Sander in tool_loans.csv?": "No",
    "Did Ada Hill return Drill Nine in tool_loans.csv?": None,
    "For Quayside, what is the average number of days from Loaned to Returned in tool_loans.csv?": "23",
    "How many of the sightings in April were before 8:00 in jay_sightings.csv?": "2",
    "How many different people made a booking in shed_bookings.csv?": "3",
    "Who booked the room with the most people in shed_bookings.csv?": "Dana Cole",
    # the least and the most of a day
    "Which day had the lowest minimum temperature in weather_week.tsv?": "2 Apr 2024",
    "What was the average maximum temperature on sunny days in weather_week.tsv?": "12.8",
    "List the days with a minimum below zero in weather_week.tsv.": "2 Apr 2024, 4 Apr 2024",
    "Which wind direction had the most rain in total in weather_week.tsv?": "SW",
    "What was the biggest difference between Min and Max on a single day in weather_week.tsv?": "14.4",
    # races
    "Who won the race in race_results.csv?": "Kenji Mori",
    "Who was the fastest woman in race_results.csv?": "Beth Carver",
    "How many people are from the Isle of Man in islanders.csv?": "2",
    "How many runners finished in under 40 minutes in race_results.csv?": "2",
    # cells beside their column, blanks, yes and no
    "How many plants have shade in the Sun column in plants_beds.csv?": "1",
    "How many plants in full sun are less than 60 cm high in plants_beds.csv?": "2",
    "How many plants are less than 0.5 m high in plants_beds.csv?": "2",
    "How many plants are more than 50 cm tall in plants_beds.csv?": "2",
    "What are the two most expensive plants, starting with the most expensive in plants_beds.csv?": "Peony, Lavender",
    "How many flats have no tenant in flat_rentals.csv?": "2",
    "What is the total rent of the flats that have a tenant in flat_rentals.csv?": "2930",
    "How many flats in Mill Lane allow pets in flat_rentals.csv?": "1",
    "Who has Ada Lowe as manager in staff_pay.csv?": "Ben Rao, Cy Petit, Eve Serra",
    "How many people work in IT in staff_pay.csv?": "3",
    # what was sold, and how much of it
    "Which items were sold on 10 June in cakes_sold.csv?": "Scone, Rye loaf",
    "What was the best selling item at Station, by units in cakes_sold.csv?": "Scone",
    "Did Market sell more units than Station in cakes_sold.csv?": "No",
    # marks
    "Who has the best maths grade in pupil_grades.csv?": "Ben Rossi",
    "List everyone with more than 5 absences in pupil_grades.csv": "Cem Aydin",
    "How many points higher is Ada Okafor's English grade than her Maths grade in pupil_grades.csv?": "12",
    "How much lower is Ben Rossi's English grade than his Maths grade in pupil_grades.csv?": "3",
    # so much is a condition, and no row
    "How many parcels without insurance weigh more than 3 kg in sent_parcels.csv?": "1",
    # what was spent is below zero there, and comes back as people say it
    "How much did I spend on groceries in bank_statement.csv?": "106.4",
    "How much did I spend in January in bank_statement.csv?": "1036.4",
    "What did I spend on groceries on average in bank_statement.csv?": "53.2",
    "In which month did I spend the most in bank_statement.csv?": None,
    "How much more did I spend on housing than on groceries in bank_statement.csv?": None,
    "What did I spend the most on in bank_statement.csv?": None,
    "Which category did I spend the most on in bank_statement.csv?": None,
    "How many parcels heavier than 5 kg are not insured in sent_parcels.csv?": "1",
    # who was elsewhere may have been there too, a name may begin with first, how many is no price
    "Who was not at the Spring Fair in helper_shifts.csv?": None,
    "Who has done first aid in helper_shifts.csv?": None,
    "How much does a standing ticket cost in play_seats.csv?": None,
    "What is the most common pickup place in cab_rides.csv?": None,
    # who visited is not told, and what is said of one ball is no sum
    "How many people visited Saltmouth in towers_coast.csv?": None,
    "How many metres of cream yarn do I have altogether in yarn_box.csv?": None,
    "Which role is in the list most often in helper_shifts.csv?": "first aid",
    # the verb of a column is used in another form
    "How many kWh did we use in total in 2023 in meter_log.csv?": "300",
    # the first of several days, and the only one
    "On what date did Toy Trains start in shows_log.csv?": "2023-10-03",
    # a name that holds "per"
    "What is the average price per portion of the desserts in home_recipes.csv?": "2",
    "Which dessert has the fewest calories per serving in home_recipes.csv?": "Flan",
    "Which course has the longest average cook time in home_recipes.csv?": "Main",
    # one gift, and all of one donor
    "Who gave the largest single donation in gift_register.csv?": "Corner Shop",
    "Who gave the most in total in gift_register.csv?": "Ellen Marsh",
    # cells with one unit are numbers, and what several come to is no list of them
    "Add up the kilometres for Karen's visits in home_visits.csv.": "16.2",
    "What is the average distance in home_visits.csv?": "6.15",
    "What is the longest distance in home_visits.csv?": "8.4",
    # days of a month are no numbers of something else
    # but no classes
    "Which class is Ben Orr in in class_list.csv?": "8C",
    # what a column is called for is no kind of it
    "how many children are coming in summer_outing.csv": None,
    "Total nap minutes from 1 to 7 September in baby_naps.csv": "290",
    "Total nap minutes between the 1st and the 7th of September in baby_naps.csv": "290",
    "Total nap minutes from September 1 to 7 in baby_naps.csv": "290",
    # what was put on sale was not sold
    "How many items did I sell on each platform in sold_online.csv?": "Gumtree: 1, eBay: 1",
    # no number answers whether there is some, nor for what it was
    "Are there any brass handles in stock in drawers.csv?": None,
    "What was the biggest bill for in bills.csv?": None,
    "On which date is the chimney sweep coming in messages.txt?": None,
    "On which date did Mr Petrov call in messages.txt?": "2024-04-12",
    # the first line of a list is no header
    "Which birds were seen at the feeder in bird_log.txt?": None,
    "Shortest cooking time in minutes for each kitchen in dinners.csv": "Chinese: 20, French: 15",
    "Who has been in the choir the longest in choir_members.csv?": "Ben Orr",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sayings")
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize("question", ASKED)
def test_what_is_said_in_other_words_is_read(question: str, folder: Path) -> None:
    name = next(name for name in FILES if name in question)
    assert answered_in(folder, question, seen(name, folder)) == ASKED[question]
