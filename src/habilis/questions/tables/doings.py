"""Verbs and nouns that say no more than that there are rows, and those that say in what state one is."""

from __future__ import annotations

import re

from habilis.questions.language import stems

VERBS = set(
    """sold sell sells bought buy borrowed borrow take took taken ridden ride rode made make makes paid pay pays spent
    spend spends placed came come comes got get gets gotten live lives living lived work works working worked
    recorded logged listed kept keep keeps held hold holds happened happen occurred appear appears appeared use
    uses used using fell fall earned earn written wrote write scored score said say says order ordered go went
    goes belong belongs run ran runs finished finish finishing started start starts began begun registered
    measured mentioned mention mentions contain contains containing eaten eat eats collected received receive
    visited visit need needs needed put produced issued done found seen see saw cook cooked stored store bring
    brings brought out up off back down away gave give gives place book books booked play plays played show shows showed
    shown handle handles handled hire hired travel travels travelled join joins joined purchase purchased
    purchases own owns wear wears wore worn grow grows grew grown yield yields yielded represented rented lasted
    include includes included including stay stays stayed observed observe spotted spot noticed notice counted
    count sighted fixed fix picked pick picks harvested harvest sown sowed sow planted plant baked bake bakes
    lead leads led taught teach teaches measure sampled riding serve served sent send sends shipped ship ships
    delivered deliver delivers carried carry carries felt feel feels burned burnt burn burns uploaded upload
    posted post posts published publish publishes listened listen listens sung sang sing sings performed perform
    performs invoiced invoice charged charge charges filed file files reported report reports submitted submit
    submits offered offer offers supplied supply supplies provided provide provides arranged organised trained
    train trains exercised exercise swam swim swims cycled cycle cycles walked walk walks drove drive drives
    driven flew fly flies flown parked park repaired built build builds brewed roasted watered fill fills filled
    called call calls phoned achieved achieve achieves watch watches watched direct directs directed manage
    manages managed raise raises raised donate donates donated choose chooses chose chosen pick select selects
    selected turn turns turned stop stops stopped
    discuss discusses discussed print prints printed practise practised practice practiced hatch hatched laid lay lays
    caught catch catches hiked paint painted knit knitted sew sewed drew drawn
    met meet meets swum competed compete
    want wants wanted sit sits sitting sat seated given gone cover covers covered
    holding
    request requests requested ask asks asked enter enters entered note notes noted bill bills billed collect
    collects collected fetch fetched claim claims claimed weigh weighs weighed
    refuel refuels refuelled refueled""".split()  # noqa: SIM905
)
"""Verbs that say no more than what a table is about, unless one is a cell of it: then it is a condition."""


COUNTED = set(
    """jobs tasks projects orders bookings visits trips lessons classes sessions appointments matches games events calls
    tickets rides runs deliveries shipments products articles books songs films dishes recipes plants animals rooms
    guests members customers clients visitors people pupils students players teams employees volunteers entries records
    cases contracts subscriptions policies loans courses workshops concerts tours models machines tools bikes cars
    requests""".split()  # noqa: SIM905
)
"""What the rows of a table may be called behind the name of their kind. Words for what became of one, such as refunds,
are none."""


EVENTS = set("sent shipped delivered published posted invoiced submitted reported offered repaired filed".split())  # noqa: SIM905
"""Verbs that say in what state a row is, unless it is said where, when or by whom that was done."""
STATES = EVENTS | set(
    """finished done paid used collected received registered issued visited eaten cooked hired
    handled logged""".split()  # noqa: SIM905
)
"""Those that say in what state a row is, where they stand behind "is" or "was"."""


def is_verb(word: str) -> bool:
    """Whether a word is one of `VERBS`, in any number."""
    said = stems(word)
    return word.lower() in VERBS or (len(said) == 1 and said[0] in VERBS)


def is_state(word: str, before: str, after: str = "") -> bool:
    """Whether a verb between these words says in what state a row is, as in "are sold", "were finished"."""
    if word.lower() in EVENTS | {"paid"} and re.match(
        r"(?:to|in|on|by|from|at|through|via|with|during|before|after)\b", after
    ):
        return False
    said = before.lower().split()
    now = {"is", "are", "be", "been", "being"} & {*said[-2:]}
    done = re.search(r"(?:ed|en|id|ld|one)$", word.lower()) and not re.match(
        "stored|kept|held|listed|located|based|recorded|mentioned|noted|shown|included|entered|named|seen|spotted|sighted"
        "|observed|written|found|given|awarded|handed",
        word,
    )
    return bool(said and ((now and done) or ({*said[-2:]} & {"was", "were", "got", "get"} and word.lower() in STATES)))
