"""Words in the names of tables and columns: units, kinds of rows, who, what numbers or names them."""

from __future__ import annotations

import re
from collections.abc import Iterable

UNITS = {
    "eur": "€ eur euro euros", "usd": "$ usd dollar dollars", "gbp": "£ gbp pound pounds",
    "kg": "kg kilogram kilograms kilos",
    "g": "g gram grams", "km": "km kilometre kilometres kilometer kilometers", "m": "m metre metres meter meters",
    "cm": "cm centimetre centimetres centimeter centimeters", "mm": "mm millimetre millimetres millimeters",
    "min": "min mins minute minutes", "h": "h hour hours hrs", "s": "s sec second seconds", "ms": "ms milliseconds",
    "c": "c °c celsius degrees", "pct": "% pct percent", "km2": "km2 km²", "m2": "m2 m² sqm",
    "l": "l litre litres liter liters", "ha": "ha hectare hectares", "t": "t tonne tonnes",
    "kmh": "kmh km/h", "deg": "deg degree degrees", "arcsec": "arcsec arcseconds", "bpm": "bpm",
    "millions": "million millions", "years": "year years", "days": "day days", "kwh": "kwh",
}  # fmt: skip
"""Units as questions write them, by the word that stands for them here."""
UNIT = "|".join(sorted({re.escape(one) for said in UNITS.values() for one in said.split()}, key=len, reverse=True))
"""Any of them, as a pattern."""
_MEASURED = re.compile(r"[-+]?\d[\d.,]*\s?(?P<unit>km|m|cm|mm|kg|g|mg|l|ml|cl|h|min|kWh|ha|°C)")
TIMES = (("min", "s", 60), ("h", "min", 60), ("h", "s", 3600), ("kg", "g", 1000), ("km", "m", 1000), ("m", "cm", 100),
         ("cm", "mm", 10))  # fmt: skip
"""Units, and how many smaller ones they are."""
ADDS_NOTHING = {"at", "on", "date", "time", "name"}
SHORT = {
    "temp": "temperature", "qty": "quantity", "dept": "department", "amt": "amount", "dist": "distance",
    "appt": "appointment", "wt": "weight", "ht": "height", "est": "estimated", "addr": "address", "tel": "telephone",
    "ref": "reference", "freq": "frequency", "vol": "volume", "bal": "balance", "sub": "subscription",
    "mgr": "manager", "cond": "condition", "dir": "direction",
}  # fmt: skip
"""Abbreviations in the names of columns."""
SAME = {**SHORT, "rain": "rainfall", "minute": "duration", "max": "maximum", "min": "minimum", "avg": "average"}
NEVER = set(
    """a all an and any are as at average by count distinct each every for has have highest how in is least list lowest
    many max maximum mean median min minimum most much no not number of on or over per row sum than the top total under
    what when where which who with""".split()  # noqa: SIM905
)
GENERIC = r"(?:data )?(?:rows?|records?|entries|entry|observations?|lines|readings?|measurements|things|items)"
KINDS = (
    "order sale transaction purchase payment invoice expense spending",
    "trip ride journey rental",
    "route trip tour",
    "employee staff people person worker colleague",
    "member people person",
    "volunteer helper people person",
    "guest visitor people person",
    "player scorer people person",
    "customer client people person",
    "patient people person",
    "student pupil people person",
    "pupil child kid",
    "race runner participant finisher",
    "recipe dish meal",
    "menu dish course meal",
    "contact people person friend",
    "inventory stock item product article",
    "equipment item thing tool",
    "asset item thing",
    "match game fixture",
    "booking reservation stay",
    "fleet car vehicle",
    "movie film",
    "ticket issue request case",
    "todo task job chore",
    "donation gift contribution",
    "session class lesson course",
    "animal pet",
    "visit appointment",
    "ledger transaction payment entry",
    "statement transaction payment entry",
    "loan lending borrowing book",
    "book title",
    "log line message event",
    "repair job",
    "observation sighting",
    "meter reading measurement",
    "tutoring lesson session",
    "rehearsal session",
    "shift duty",
    "apartment flat listing property",
    "talk session presentation lecture",
    "budget expense purchase payment transaction",
    "song track",
    "vinyl record album",
    "rental hire let tenancy",
    "babysitting sitting job session evening",
    "module course",
    "viewing visit",
    "stall stand",
    "parcel package shipment delivery",
    "post article",
)
"""Words for the same rows: a question may say any of those among which is the last word of the file's name."""
PEOPLE = {
    "name", "person", "member", "employee", "student", "pupil", "runner", "rider", "customer", "client", "rep",
    "seller", "player", "user", "reader", "paid", "payer", "colleague", "guest", "patient", "author", "agent", "driver",
    "teacher", "manager", "owner", "coach", "scorer", "donor", "visitor", "volunteer", "assignee", "handler", "doctor",
    "gardener", "trainer", "instructor", "chef", "nurse", "lecturer", "supervisor", "photographer", "speaker", "winner",
    "tenant", "participant", "attendee", "recipient", "sender", "applicant", "candidate", "buyer", "borrower", "lender",
    "artist", "singer", "musician", "composer", "referee", "baker", "cook", "vet", "dentist", "therapist", "resident",
    "inspector", "coordinator", "subscriber", "sponsor", "athlete", "swimmer", "cyclist", "climber", "walker", "carer",
    "sitter", "editor", "reviewer", "referrer", "breeder", "adopter", "foster", "keeper", "caller", "inventor",
    "mechanic", "electrician", "plumber", "worker", "helper", "operator", "assistant", "boss", "parent", "child",
    "pilot",
    "rapper", "band", "cleaner", "director", "actor", "physician", "surgeon", "midwife", "courier", "landlord", "buddy",
    "organiser", "organizer", "contact", "tutor", "leader", "host", "observer", "technician", "contractor",
}  # fmt: skip
"""Last words of columns that say who."""
CLASSES = set(
    """supplier species category type kind genre country city town site shop store company language brand department
    team variety crop habitat route class form client customer day month region sport subject trade method
    course cuisine event source level vendor publisher airline organisation bank""".split()  # noqa: SIM905
)
"""Columns that say to which of several a row belongs."""
ROSTERS = {"club", "team", "squad", "class", "roster", "crew", "staff", "choir", "orchestra", "band"}
"""What a file is called that lists the people of a group, one a row."""
MEMBERS = {
    "member", "person", "swimmer", "player", "pupil", "student", "singer", "runner", "rider", "athlete", "child",
    "employee", "musician", "climber", "cyclist", "walker", "volunteer", "participant", "worker",
}  # fmt: skip
"""Who is in such a group, not who leads it."""
MASSES = {"spending", "income", "revenue", "turnover", "expenditure"}
"""Words for the money of all rows together, not for rows."""
NO_NOUN = {
    "data", "dataset", "export", "file", "list", "log", "table", "report", "all", "new", "final", "copy", "overview",
    "time", "times", "hours", "result", "results", "record", "records", "register", "tracker", "summary", "info",
    "details", "sheet", "plan", "schedule", "rota", "roster", "diary", "journal", "timetable", "calendar",
}  # fmt: skip
MONTHS = set("january february march april may june july august september october november december".split())  # noqa: SIM905
DONE = {"seen", "read", "bought", "sold", "sown", "eaten", "drunk", "lent", "given", "taken", "made", "heard", "won"}
"""Words of files that say what was done with the rows."""
CONTAINERS = {
    "cellar", "collection", "library", "catalogue", "catalog", "shelf", "shop", "store", "garden", "menu", "archive",
    "database", "directory", "playlist", "portfolio", "warehouse",
}  # fmt: skip
"""Words of files that say where the rows are, not what they are."""
NAMING = (["description"], ["problem"])
"""Columns that name what another numbers."""
IN_ORDER = {
    "year",
    "month",
    "week",
    "day",
    "hour",
    "rank",
    "place",
    "position",
    "quantity",
    "qty",
    "count",
    "lap",
    "round",
}
"""Columns that may hold 1, 2, 3 without numbering rows."""
NO_NUMBER = {"id", "no", "nr", "code", "phone", "telephone", "mobile", "fax", "zip", "postcode", "account", "iban"}
"""Words of columns whose digits are no numbers."""
MONEY_NAMES = {"total", "amount", "revenue", "cost", "debit", "credit", "paid", "income", "fee", "fare", "balance",
                "price", "salary", "bill", "charge", "spent", "deposit", "rent", "budget"}  # fmt: skip


def unit_of(cells: Iterable[str]) -> str | None:
    """The one unit that stands behind the number in each cell that is not blank: km, in small letters."""
    found = [_MEASURED.fullmatch(cell.strip()) for cell in cells if cell.strip()]
    units = {match["unit"].lower() if match else "" for match in found}
    return None if len(units) != 1 or "" in units else units.pop()
