"""Questions near to those that are answered, where a word changes what is meant or leaves it open.

Each gets its right answer, worked out from the rows by hand, or none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.questions.prompts import SeenFile

from .test_own_files import FILES, FOUR_FILES, STRANGERS_FILES, THREE_FILES, TWO_FILES, seen
from .test_queries import TABLES, answered_in

S, OWN, T, TWO, THREE, FOUR = STRANGERS_FILES, FILES, TABLES, TWO_FILES, THREE_FILES, FOUR_FILES

GIVEN_UP: tuple[tuple[str, str, Path], ...] = (
    ("How many tasks have not been paid?", "todo.csv", T),  # one cell is blank
    ("How many tasks are neither paid nor done?", "todo.csv", T),
    ("How many members don't pay by bank transfer?", "member_fees.csv", S),
    ("How many members pay only by card?", "member_fees.csv", S),
    ("How many members paid by cash?", "member_fees.csv", S),  # one who pays by cash has paid nothing
    ("How many members joined in the last 5 years?", "member_fees.csv", S),
    ("How many members are at least 30 and at most 40?", "member_fees.csv", S),  # years or euros
    ("How many orders cost more than 100?", "office_orders.csv", S),  # a piece, or all of them
    ("Which supplier is cheapest?", "office_orders.csv", S),
    ("Which suppliers did we use only once?", "office_orders.csv", S),
    ("How many orders were finished?", "office_orders.csv", S),
    ("How many orders are delivered?", "office_orders.csv", S),
    ("How many orders per supplier per month?", "office_orders.csv", S),
    ("What did we buy from CafeDirect but not in May?", "office_orders.csv", S),
    ("Who was at the training?", "room_bookings.csv", S),  # only who booked it is known
    ("Who did not book Maple?", "room_bookings.csv", S),
    ("How many volunteers are registered?", "volunteers.csv", S),
    ("How many volunteers have neither a car nor first aid?", "volunteers.csv", S),
    ("How many medium shirts do we need?", "volunteers.csv", S),
    ("Which clients have only paid invoices?", "invoices_2023.csv", S),
    ("latest invoice", "invoices_2023.csv", S),
    ("How many holiday days does Anna have?", "staff_overview.csv", S),  # there are two
    ("How many people have a commute under 5 miles?", "staff_overview.csv", S),
    ("How many goals did Moreno score?", "match_results.tsv", S),
    ("How many goals did Eastwood score?", "match_results.tsv", S),  # the column is what "we" scored
    ("How many balls do we have?", "equipment.json", S),  # the category has a pump
    ("How many items do we have in total?", "equipment.json", S),  # kinds or pieces
    ("Who bought the lawn mower?", "equipment.json", S),
    ("How much does the trip cost?", "school_trip_payments.csv", T),  # it differs
    ("How many students have paid a deposit?", "school_trip_payments.csv", T),
    ("How much did the trip to Paris cost?", "school_trip_payments.csv", T),
    ("How many dogs came in?", "vet_visits.csv", T),  # visits or dogs
    ("How many movies did I watch twice?", "movies_watched.tsv", T),
    ("Which movies did TakeAway direct?", "movies_watched.tsv", T),
    ("Who handled ticket T-504?", "tickets.csv", T),  # customer or agent
    ("How many tickets are still open?", "tickets.csv", T),
    ("How many items are in stock?", "inventory.tsv", OWN),  # kinds of them or pieces
    ("How much was received in January 2024?", "expenses.csv", OWN),  # it was spent
    ("How many devices did Dave repair?", "repairs.csv", TWO),  # kinds of them or rows
    ("How many projects are there?", "pupils.csv", TWO),
    ("How many organisms were found?", "pond_samples.tsv", TWO),
    ("How many breads did I bake?", "baking_log.csv", TWO),
    ("Which repair cost the most?", "repairs.csv", TWO),  # the parts, or labour as well
    ("What did the repairs cost in total?", "repairs.csv", TWO),
    ("How much did Anna Kessler pay?", "repairs.csv", TWO),
    ("How many parts did Dave use?", "repairs.csv", TWO),
    ("How much rent does Tom Beck owe?", "rent_payments.csv", THREE),
    ("total pickings", "harvest.csv", THREE),  # the column is how long they took
    ("How many nights did Jonas Weber work?", "shift_plan.csv", THREE),  # days are no night shifts
    ("How many books did I read?", "reading_log.json", THREE),  # some are not finished
    ("Which book took me longest?", "reading_log.json", THREE),  # its pages are no time
    ("How many seeds came up?", "sowings.csv", THREE),
    ("How many tomatoes did I sow?", "sowings.csv", THREE),  # rows or seeds
    ("How many animals did we buy?", "animals.csv", FOUR),  # nothing shows that any was bought
    ("How many dogs were sold?", "animals.csv", FOUR),
    ("How many cakes did we bake?", "daily_sales.csv", FOUR),  # only those sold are known
    ("Who attends the French C1 course?", "courses.csv", FOUR),  # the column says how many
    ("Who brought Bella to the vet?", "vet_visits.tsv", FOUR),
    ("How much did Lena Hoffman earn in total?", "staff_shifts.csv", FOUR),  # wages per hour have no sum
    ("How many objects did I miss?", "observing_log.csv", FOUR),
    ("How many shifts did Lena Hoffman skip?", "staff_shifts.csv", FOUR),
    ("Which suppliers delivered late?", "suppliers.json", FOUR),
)

RIGHT: tuple[tuple[str, str, Path, str], ...] = (
    ("How many tasks have been paid?", "todo.csv", T, "2"),
    ("Which tasks are not done yet?", "todo.csv", T, "Fix gate, Clean gutters, Plant hedge, Repair roof"),
    ("How many tasks are paid but not done?", "todo.csv", T, "1"),
    ("Which high priority tasks are due in June 2024?", "todo.csv", T, "Paint fence, Mow lawn"),
    ("What is the total cost of Leo's tasks?", "todo.csv", T, "120"),
    ("How many high priority tickets are not closed?", "tickets.csv", T, "0"),
    ("Which agent has the highest average satisfaction?", "tickets.csv", T, "Ravi"),
    ("How many tickets have no closing date?", "tickets.csv", T, "2"),
    ("Who owes the most?", "school_trip_payments.csv", T, "Chloe Davies"),
    ("Whose balance is over £20?", "school_trip_payments.csv", T, "Alice Moore, Chloe Davies, Ella Ford"),
    ("How many students without permission are in 5A?", "school_trip_payments.csv", T, "1"),
    ("What is the newest movie?", "movies_watched.tsv", T, "Laughing Gas"),
    ("What's the latest movie I watched?", "movies_watched.tsv", T, "Wild Honey"),
    ("How many movies are longer than 2 hours?", "movies_watched.tsv", T, "3"),
    ("Which pets need a follow-up?", "vet_visits.csv", T, "Milo, Rex, Bella"),
    ("How much did Sarah Cole pay in total?", "vet_visits.csv", T, "154.5"),
    ("How many members are not seniors?", "member_fees.csv", S, "10"),
    ("How many members except the veterans are there?", "member_fees.csv", S, "14"),
    ("Who paid less than the annual fee?", "member_fees.csv", S,
     "Mia Fischer, Nadia Costa, Henrik Dahl, Jonas Keller, Marco Bianchi"),
    ("How old is Rosa?", "member_fees.csv", S, "24"),
    ("How many toners did we buy?", "office_orders.csv", S, "10"),
    ("quantity by category in Q1 2024", "office_orders.csv", S,
     "Cleaning: 24, Furniture: 8, Kitchen: 30, Paper: 77, Printing: 9"),
    ("How many hours did Sandra book per room?", "room_bookings.csv", S, "Cedar: 2.5, Maple: 5.25"),
    ("When did Hugo last book Cedar?", "room_bookings.csv", S, "2024-09-10"),
    ("How many bookings ended after 4pm?", "room_bookings.csv", S, "4"),
    ("How much did Northgate Dental pay?", "invoices_2023.csv", S, "2240"),
    ("What is the smallest open invoice?", "invoices_2023.csv", S, "725.8"),
    ("average attendance at matches not at home", "match_results.tsv", S, "134.3"),
    ("Where is the pump?", "equipment.json", S, "Clubhouse"),
    ("What time did Iris leave on 2 September 2024?", "attendance.csv", OWN, "16:49"),
    ("How many books have I not read?", "books.csv", OWN, "7"),
    ("monthly totals for groceries", "expenses.csv", OWN, "2023-11: 341.58, 2024-01: 116.95, 2024-02: 184.72"),
    ("How many km did members ride on 3 June 2024?", "trips.csv", OWN, "16.2"),
    ("Which warehouse holds the drill?", "inventory.tsv", OWN, "Turin"),
    ("How many shifts are there?", "shift_plan.csv", THREE, "33"),
    ("How many different shifts are there?", "shift_plan.csv", THREE, "4"),
    ("How many pickings of tomatoes?", "harvest.csv", THREE, "7"),
    ("How much rent did Tom Beck pay?", "rent_payments.csv", THREE, "8095"),
    ("How many receipts are there?", "rent_payments.csv", THREE, "30"),
    ("Which part is the cheapest?", "parts_stock.csv", TWO, "Glass fuse 2 A"),
    ("What is the part number of the vacuum hose?", "parts_stock.csv", TWO, "P005"),
    ("How many routes did I ride with the club?", "rides.csv", TWO, "5"),
    ("How many times have I cooked Ramen?", "recipes.json", TWO, "2"),
    ("How many items are below minimum stock?", "ward_supplies.csv", THREE, "6"),
    ("How many visits did Dr. Finch do?", "vet_visits.tsv", FOUR, "8"),
    ("Which vet do most of the visits go to?", "vet_visits.tsv", FOUR, "Dr. Amari, Dr. Keller"),
    ("What kind of animal is Roxy?", "animals.csv", FOUR, "Dog"),
    ("How much do dental visits cost on average?", "vet_visits.tsv", FOUR, "176.733333"),
    ("How many courses take place on Mondays or Fridays?", "courses.csv", FOUR, "10"),
    ("Which participants owe us money?", "fee_payments.csv", FOUR,
     "Yusuf Demir, Owen Pritchard, Bridget Doyle, Anton Weiss, Elena Petrova"),
    ("How many more customers came on 9 March 2024 than on 8 March 2024?", "daily_sales.csv", FOUR, "73"),
    ("Which objects did I observe with the Refractor 80?", "observing_log.csv", FOUR,
     "M13, NGC 7000, M45, NGC 869, M42, NGC 2244, IC 434, NGC 1499, M44"),
    ("What was the total revenue on rainy days?", "daily_sales.csv", FOUR, "7824.8"),
    ("When did Priya Raman pay?", "fee_payments.csv", FOUR, "01/11/2024"),
    ("Which participants have more than one invoice?", "fee_payments.csv", FOUR, "none"),
    ("How many courses are not in the Library?", "courses.csv", FOUR, "20"),
)  # fmt: skip


@pytest.mark.parametrize(("question", "name", "folder"), GIVEN_UP)
def test_what_a_word_leaves_open_gets_no_answer(question: str, name: str, folder: Path) -> None:
    assert answered_in(folder, question, seen(name, folder)) is None


@pytest.mark.parametrize(("question", "name", "folder", "right"), RIGHT)
def test_a_word_more_or_less_is_minded(question: str, name: str, folder: Path, right: str) -> None:
    assert answered_in(folder, question, seen(name, folder)) == right


@pytest.mark.parametrize(
    ("paid", "right"), [(("Yes", "No", "No"), "2"), (("Yes", "No", ""), None), (("Yes", "Yes", "Yes"), "0")]
)
def test_a_column_that_is_a_participle_says_no_where_something_was_not_done(
    tmp_path: Path, paid: tuple[str, ...], right: str | None
) -> None:
    rows = "".join(f"{name},{said}\n" for name, said in zip(("Ann", "Bob", "Cid"), paid, strict=True))
    (tmp_path / "members.csv").write_text(f"Name,Paid\n{rows}", encoding="utf-8")
    file = seen("members.csv", tmp_path)
    assert answered_in(tmp_path, "How many members have not been paid?", file) == right
    assert answered_in(tmp_path, "How many members have not been paid?", SeenFile(file.named, "Name,Paid")) in (
        right,
        None,
    )


def test_what_no_row_lacks_is_doubtful(tmp_path: Path) -> None:
    (tmp_path / "loans.csv").write_text("Title,Returned\nKim,2024-01-02\nDune,2024-01-05\n", encoding="utf-8")
    assert answered_in(tmp_path, "How many loans have not been returned?", seen("loans.csv", tmp_path)) is None


def test_a_unit_price_is_not_grouped_by_month(tmp_path: Path) -> None:
    (tmp_path / "fleet.csv").write_text("plate,monthly_cost,bought\nA-1,410,2024-02-01\n", encoding="utf-8")
    assert answered_in(tmp_path, "How much does A-1 cost per year?", seen("fleet.csv", tmp_path)) is None
