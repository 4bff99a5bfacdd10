"""The words of `wordings`: what means a column without being its name, which words say nothing more."""

from __future__ import annotations

from habilis.questions.header import TableHeader
from habilis.questions.language import stems

NUMBERED = r"(?P<n>[0-9]{1,3}|two|three|four|five|six|seven|eight|nine|ten)"
MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"

FILL = (
    "that|which|who|whose|where|when|with|having|have|has|had|are|is|were|was|be|did|do|does|there|they|the|a|an|for|"
    "of|in|at|on|by|during|made|placed|came|come|comes|work|works|working|worked|live|lives|living|located|"
    "based|took place|happened|occurred|recorded|listed|measured|written|wrote|spent|began|belonging to|"
    "belong to|we|of all #R#|#R#|still|currently|yet|already|contain|contains|containing|include|includes|"
    "including"
)
FUNCTION_WORDS = """
    and or but with where whose that which who in at on from by to for of per over under above below less more
    least most than between before after since until during not no is are was were has have had each every all
    the a an how many what when why without except any about around it this these those them they you we my our
    your last next previous first recent past same other another if then because would could should today
    yesterday tomorrow i me i've starting starts start begins ends ending word words name names
    column row rows line lines     file table page letter letters number half twice double maximum
    minimum median typical max min oldest
    youngest cheapest latest earliest newest largest smallest longest shortest best worst biggest highest lowest
    average mean total sum only also their its
"""
"""Words that no value has, and those that may stand before a condition."""

MONEY = (
    "money|revenue|turnover|income|sales value|spending|expenses|costs?|amounts?|spent|spend|paid"
    "|pays?|sold|sells?|earned|earns?|spends|gives|cash|came in|received|deposited|brought in|bring in|gave|give|given"
    "|donated|raised?|contributed|charged?|billed"
)
"""Words for what a table counts in money."""
_BORN = "birthday birthdate born dob birth"
ALIKE = (
    ("marks?|grades?|points|results?|scored|scores?", "score mark grade points result"),
    ("we (?:have )?scored?", "for"),
    ("we (?:have )?(?:conceded?|let in)", "against"),
    ("crowds?|spectators|turnout|visitors", "attendance spectators visitors"),
    ("pieces|copies|stock|units", "quantity qty stock units"),
    ("e-?mails?|e-?mail address(?:es)?|mail address(?:es)?", "email mail"),
    ("phone numbers?|phones?|telephone(?: numbers?)?", "phone telephone mobile"),
    ("birthdays?|born|dates? of birth", _BORN),
    ("rain|rained|rainfall|precipitation", "rain rainfall precipitation"),
    ("winds?(?: speeds?)?", "wind"),
    ("cooking time|preparation time|time needed", "minutes duration"),
    ("distances?|far|kilomet(?:re|er)s|miles", "distance km"),
    ("ages?|old", "age"),
    ("servings?|serves?|portions?", "servings portions serves"),
    ("revenue|turnover", "revenue total turnover sales"),
    ("finish(?:es|ed)?|finishing time|times?", "finish"),
    ("came in|come in|taken in|admitted", "received reported intake admitted arrival"),
    ("rated(?= (?:[0-9]|over\\b|above|below|under|at|between|more|less|higher|lower)\\b)|stars?", "rating"),
    ("consumption|consumed", "used consumption usage"),
    ("fixe[sd]|fix|repaired|repairs?(?= the)", "technician contractor mechanic"),
    ("arriv(?:e|ed|al|als)|came in|come in|clocked in|started work", "in arrival arrived"),
    ("left|leave|leaves|went home|clocked out", "out departure left"),
    ("reps?|salespersons?|salespeople|sellers?", "rep seller salesperson"),
    ("towns?|cities", "city town"),
    ("owes?|owed|owing", "outstanding owed balance"),
    ("levels?|severity", "level"),
    ("payments?", "paid payment"),
    ("hr|heart ?rates?|pulse", "hr heart pulse"),
    ("calories", "kcal calories"),
    ("(?:estimated|valued)(?: at)?", "value valuation estimate worth"),
    ("automatic(?:ally)?", "auto automatic"),
    ("deep|depths?", "depth"),
)
"""Words, and those of the one column that they mean where they are not in its name."""

COMES = (
    (rf"from(?! (?:{MONTHS})\b)", "from origin"),
    ("(?:start(?:ed|s|ing)?|began|begin|begun|depart(?:ed|ing)?|left) (?:at|in|from)", "from origin"),
    ("(?:end(?:ed|s|ing)?|arriv(?:ed|ing)?|finish(?:ed|ing)?) (?:at|in)", "to destination"),
)
"""Verbs before a place, and the columns that say from or to where."""

SUPERLATIVES: dict[str, tuple[tuple[str, str], ...]] = {
    "oldest": (("age", "highest"), ("year published vintage built", "lowest"), (_BORN, "lowest")),
    "youngest": (("age", "lowest"), (_BORN, "highest")),
    "newest": (("year published vintage built", "highest"),),
    "hottest": (("max maximum highest high", "highest"), ("temperature temp", "highest")),
    "warmest": (("max maximum highest high", "highest"), ("temperature temp", "highest")),
    "coldest": (("min minimum lowest low", "lowest"), ("temperature temp", "lowest")),
    "wettest": (("rain rainfall precipitation", "highest"),),
    "rainiest": (("rain rainfall precipitation", "highest"),),
    "windiest": (("wind", "highest"),),
    "cheapest": (("price cost rent fee fare", "lowest"),),
    "least expensive": (("price cost", "lowest"),),
    "most expensive": (("price cost rent fee fare", "highest"), ("total", "highest")),
    "dearest": (("price cost rent fee fare", "highest"),),
    "longest": (("minutes duration length pages words distance nights hours", "highest"),),
    "shortest": (("minutes duration length pages words distance nights hours", "lowest"),),
    "quickest": (("minutes duration", "lowest"), ("finish", "lowest"), ("seconds time", "lowest")),
    "fastest": (("speed", "highest"), ("finish", "lowest"), ("minutes duration", "lowest"), ("seconds time", "lowest")),
    "slowest": (
        ("speed", "lowest"), ("finish", "highest"), ("minutes duration", "highest"), ("seconds time", "highest"),
    ),
    "winner": (("finish", "lowest"), ("points", "highest"), ("place position rank", "lowest")),
    "won": (("finish", "lowest"), ("points", "highest"), ("seconds", "lowest"), ("place position rank", "lowest")),
    "heaviest": (("weight", "highest"),),
    "lightest": (("weight", "lowest"),),
    "tiniest": (("weight size", "lowest"),),
    "deepest": (("depth", "highest"),),
    "shallowest": (("depth", "lowest"),),
    "priciest": (("price cost rent fee fare", "highest"),),
    "tallest": (("height", "highest"),),
    "most valuable": (("value worth", "highest"),),
    "least valuable": (("value worth", "lowest"),),
    "best rated": (("rating", "highest"),),
    "highest rated": (("rating", "highest"),),
    "worst rated": (("rating", "lowest"),),
    "top rated": (("rating", "highest"),),
    "lowest rated": (("rating", "lowest"),),
    "best attended": (("attendee attendance visitor participant", "highest"),),
    "worst attended": (("attendee attendance visitor participant", "lowest"),),
    "farthest": (("distance", "highest"),),
    "furthest": (("distance", "highest"),),
}  # fmt: skip
"""Words for one end of a column: its names, the surest first, and the end."""

ASKED_OF = (
    (r"wrong with (?P<who>.+)", "fault problem issue defect"),
    (r"how many (?:people|persons|guests) (?:does|do) (?P<who>[^#]+) #\d+#", "serving portion serve"),
    (
        r"how long (?:did|do|does) (?:i|we|you|it|he|she|they) (?:need|take)(?: to \w+)?(?: for)? (?P<who>.+)",
        "minute duration",
    ),
    (
        r"(?:how much|what) (?:does|do|did) (?P<who>.+) cost(?: each| apiece| (?:per|an?) (?P<rate>\w+))?",
        "price cost fee fare",
    ),
    (r"how much (?:is|are) (?:an? |one )?(?P<who>(?!.* than )[^#]+)", "price cost fee fare"),
    (r"how long (?:does|do|did) (?P<who>.+) (?:take|last|need)", "minute duration"),
    (r"how long (?:is|was) (?P<who>[^#]+)", "minute min runtime duration length"),
    (r"how tall (?:is|are) (?P<who>.+)", "height"),
    (r"how (?:heavy (?:is|are) (?P<who>.+)|much (?:does|do) (?P<what>.+) weigh)", "weight"),
)
"""Wordings for what a column holds of something, and words in its name."""

NOT_ALONE = set(
    """rated first last top one way this date time name number full size type kind code list start end total day days
    year years month months hour hours week weeks minute minutes good open free high best main other
    over""".split()  # noqa: SIM905
)
"""Words in the names of columns that do not mean the column where they stand alone."""

PLACES = ("city", "town", "place", "address", "location", "room", "station", "venue", "site", "warehouse", "shelf")
"""Words of columns that say where."""

THINGS = {"item", "thing", "product", "article", "title", "piece"}
"""Columns that say what a row is, whatever the table is about."""

WORTH = "worth|outstanding|owed|owing|due|left|remaining|remains|profit|margin|gain|loss"
"""Words for what a calculation gives that stands beside them, unless one is a cell."""

FILLERS = set(
    """the a an of in at on for with is are was were be been being have has had do does did who which that whose where
    there they them their its it we our us my me i you your please altogether total overall combined
    doing by into this these those still currently yet already among during can made make anyone anybody someone
    because through via his her hers myself
    somebody any everything anything something everyone everybody together us just simply exactly actually
    overall""".split()  # noqa: SIM905
)
"""Words that say nothing more where their question is understood."""


def first_column_for(header: TableHeader, names: str) -> int | None:
    """The one column with the first of these words that only one column has in its name."""
    return next((one for name in stems(names) if (one := header.with_word(name)) is not None), None)
