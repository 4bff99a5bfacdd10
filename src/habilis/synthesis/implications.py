"""Words with which a tool is asked for that say nothing, and what other words say besides themselves."""

from __future__ import annotations

from functools import lru_cache

from habilis.library.retrieval.terms import stem
from habilis.synthesis.vocabulary import UNITS, spoken

_SILENT = """
a about all an and any are as at be been being by can could did do does done each either every everything for from get
gets getting given gives give giving had has have having how i if in into is it its let make makes making me my of on
one onto or our out over please kindly realise realize realises provided supplied specified named certain particular
so some such than that the their them then there these they this those through to upon used using use uses via was we
were what when where whether which while who will with within would you your compute computes computing computation
calculate calculates calculating calculation calcul calculator determine determines determining determination return
returns returning result results find finds finding perform performs performing obtain obtains obtaining evaluate
evaluates evaluation produce produces producing output outputs tool function helper simple single whole numeric
numerical value values number numbers integer integers int float list lists array arrays sequence text texts string
strings file files path content contents input inputs data read reads reading load loads loading open opens write item
items element elements entry entries collection set convert converts converting conversion converter transform change
changes turn turns express expresses represent extract extracts extraction collect collects select choose pick check
checks checking test tests tell tells say says decide verify show shows present presents name names create creates
build generate work works run non negative negatives positive exactly also just only two both pair general stored under
against another other against thing things object parameter parameters argument arguments corresponding respective
resulting actual apply applies applying lie lies put puts form available known possible based written parse directly
simply correctly exact exactly proper properly full complete completely entire person user people actual per se ie eg
example via true false calc search searching locate look lookup fetch retrieve
identify detect derive acquire gather pull grab take receive accept allow able according simply quick easily
routine method procedure program script function utility handy convenient desired required requested appropriate
kind type types also then next finally code per keep filter amt python standard common usual
several contain consecutive already successive together overall various multiple specific individual associated
reference report reports provide provides supply supplies display displays process handle handles operation law theorem
formula money occurrence occurrences among th translate translates translation assign assigns completed formatted
respectively term sequence whose falls stands mapping wanted sought asked belongs
"""
_SILENT_NOT = frozenset(("only", "non", "present", "positive", "negative", "both", "set"))
"""Words of the list above that say something after all; the list is of those that speak of any request alike."""
_IMPLIED = """
upper: letter character
lower: letter character
celsius: temperature degree scale
fahrenheit: temperature degree scale
kelvin: temperature degree
kilometre: distance length
mile: distance length
metre: distance length
kilogram: weight
pound: weight
bmi: person weight height metre kilogram
leap: year
fibonacci: position nth
hypotenuse: right triangle length side leg cathetus
right triangle: angle leg
sha256: hash
sha1: hash
sha512: hash
md5: hash
base64: encode
email: address
url: address
reverse: character order
weekday: week
decimal: base
binary: base digit
circle: round
speed: travel distance time
shuffle: seed random
discount: apply price percent reduce after rate
gross: add
net: subtract
percent change: between difference old new
euclidean distance: length between point
distance: between difference
difference: between
intersection: between
sum: add
tip: amount bill
anagram: word
palindrome: word
euclidean distance: plane distance point
vowel: letter
quotient: dividend divisor
transpose: matrix row column
flatten: nest
keep order: order
replace: substring
ascending: sort
descending: sort
json: key
percent: whole
roman: numeral
vat: rate percent
slug: title
age: year
age: year count birth date
key: column
column: key
add: after
permutation: sort
sort: ascending
iso: date
triangle: length side
rectangle: length side width
circle: radius
sphere: radius
cylinder: radius height
cone: radius height
cube: side
density: mass volume
kinetic: mass speed move body joule
current: voltage resistance ohm electric ampere
interest: principal rate year yearly period time
compound: growth rate period interest
loan: principal rate interest year payment
tip: percent rate
encrypt: plain cipher
decrypt: cipher plain
encode: plain
decode: plain
moving mean: window slide
acronym: first letter word
quadratic: coefficient equation solve root solution
dot product: product dot vector
correlation: coefficient between variable pearson
between: range start stop
range: between
harmonic: above zero
geometric: above zero
minute: duration time
second: duration time
hour: duration time
html: page
business day: weekday
euclidean distance: straight line 2d
percent: part
point: 2d
valid: form
encrypt: encode
decrypt: decode
caesar: shift letter key alphabet
reverse: back character letter
right triangle: long short
weekday: day name
word: letter
median: sort middle
gcd: intersection divide
compound: balance deposit saving amount final
kilogram: mass
pound: mass
gram: mass
ounce: mass
histogram: bin
group: key value column
"""


def says_nothing(word: str) -> bool:
    return word in _silent()


def implied_by(words: frozenset[str]) -> frozenset[str]:
    """What `words` say besides themselves."""
    return frozenset().union(*(_implied().get(word, frozenset()) for word in words))


@lru_cache(maxsize=1)
def _silent() -> frozenset[str]:
    words = _SILENT.split()
    return frozenset((*words, *map(stem, words))) - frozenset((*_SILENT_NOT, *map(stem, _SILENT_NOT)))


@lru_cache(maxsize=1)
def _implied() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    spans = "".join(f"\n{unit} count: {unit} between difference count" for unit in UNITS)
    for line in (_IMPLIED.strip() + spans).splitlines():
        head, others = map(spoken, line.split(":"))
        found[head[0]] = found.get(head[0], frozenset()) | frozenset(others)
    return found
