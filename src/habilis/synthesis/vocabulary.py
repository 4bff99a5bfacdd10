"""Words with which a tool is asked for, and what says the same.

Only true synonyms stand in one line: two requests that differ in no more than such words become one tool. What might
mean something else somewhere (a digit and a figure, a sheet and a table) is left out.
"""

from __future__ import annotations

import re
from functools import lru_cache

from habilis.library.retrieval.terms import readable, stem

_SAME = """
mean: average, avg, arithmetic mean, arithmetic average, mean value, average value, moyenne, mittelwert
median: middle value, median value, 50th percentile
sum: total, add up, adds up, adding up, added up, sum up, sums up, summing up, sum total, summation, totals, grand total
| add together, add numbers, add all numbers, add the numbers, add values, add the values, adds together
count: number of, how many, how often, tally, quantity of, amount of times, num, frequency, frequencies, nr of, no of
| number of times, total number of, how many times, total count, total count of, how much, count up, count of
max: maximum, largest, highest, biggest, greatest, maximal, largest value, highest value, maximum value
min: minimum, smallest, lowest, least, minimal, smallest value, lowest value, minimum value
difference: delta, differ, subtraction of, difference between
per: by, for each, for every, by each, grouped by, in each, in every
dot product: scalar product, inner product
mode: most common, most frequent, most frequent value, most common value, occurs most often, appears most often
| most frequently occurring
product: multiplying, multiply, multiplication, multiply together
quotient: divide, division, division of
remainder: modulo, modulus, mod, left over
power: exponentiation, raise, raised, exponent
square: squared, second power, to the power of two
sqrt: square root
cube: cubed, third power
abs: absolute value, absolute, magnitude
log: logarithm
natural log: ln, natural logarithm, log to base e
decimal log: log10, common logarithm, decimal logarithm, base 10 logarithm, log base 10
stdev: standard deviation, std dev, stddev, std
sample: of a sample, from a sample
gcd: greatest common divisor, highest common factor, greatest common factor, hcf, gcf, largest common divisor
| greatest common denominator
lcm: least common multiple, lowest common multiple, smallest common multiple
bmi: body mass index
percent: percentage, per cent, percents, pct
percent change: percentage change, percent difference, change in percent, relative change in percent
ceil: round up, rounded up, rounding up, ceiling, rounds up
floor: round down, rounded down, rounding down, rounds down
ascending: smallest to largest, lowest to highest, low to high, small to large, smallest first, lowest first, increasing
| asc, ascending order, increasing order, least to greatest, smallest to biggest
descending: largest to smallest, highest to lowest, high to low, large to small, largest first, highest first
| decreasing, desc, descending order, decreasing order, greatest to least, biggest to smallest, biggest first
sort: order numbers, order list, order a list, order the list, sorted, sorts, arrange, order items, order values
| order the numbers, order the values, order elements
reverse: in reverse order, backwards, back to front, reversed, reverse order, invert the order, flip, from end to start
shuffle: random order, put into a random order, in random order, randomly reorder, randomise the order
unique: distinct, without duplicates, without repeats, without repetition
unique: remove duplicates, drop duplicates, remove duplicate, drop duplicate, deduplicate, dedupe, duplicates removed
| drop duplicate entries, remove duplicate entries, remove duplicate items, remove repeated, eliminate duplicates
keep order: keeping order, keep the order, preserving order, preserving the order, preserve the order, original order
| keeping the order, order preserving, in order of first appearance, keeping the original order
| preserving the original order, maintaining order, maintaining the order
upper: upper case, uppercase, capital letters, all caps, block letters
lower: lower case, lowercase, small letters
title case: titlecase, capitalise each word, capitalise every word
snake case: snakecase
camel case: camelcase
caseless: ignoring case, case insensitive, case insensitively, regardless of case, without regard to case, ignore case
| irrespective of case
without: excluding, exclude, except, not counting, leaving out, omit, omitting, ignoring, ignore, skipping, not, non
| do not, does not, no, other than, but not, never, nor, isn t, don t, doesn t
row: record, rows, data row
column: field, col
line: lines of text, text line
letter: alphabetic character
character: char, chars
occurrence: occur, appearance, appear, instance
replace: substitute, swap for, exchange for, replacement, substitution
email: e mail, mail address, email address, e mail address
phone: telephone, phone number, telephone number
url: web address, hyperlink, uniform resource locator
html: web page, webpage, html page
regex: regular expression, regexp
csv: comma separated values, comma separated, csv table, table, tabular
weekday: day of week, day of the week, week day, name of the day
leap: leap year
date: calendar date
between: from start to end
add: plus, increase by, add on, added
subtract: minus, decrease by, take away, deduct
circumference: perimeter, outline length
hypotenuse: longest side of a right triangle, length of the hypotenuse
right triangle: right angled triangle, rectangular triangle
euclidean distance: straight line distance, distance as the crow flies, euclidian distance
manhattan distance: taxicab distance, city block distance
speed: velocity
fibonacci: fibonacci number, fibonacci sequence
nth: n th, at a given position, at position n, given position, at index n
factorial: n!
prime: prime number
palindrome: reads the same backwards, same forwards and backwards
roman: roman numeral, roman number
decimal: base 10, base ten, denary
binary: base 2, base two, bit
hexadecimal: base 16, hex
octal: base 8
sha256: sha 256
sha1: sha 1
sha512: sha 512
hash: digest, checksum
celsius: centigrade, degrees c, deg c, degree celsius
fahrenheit: degrees f, deg f, degree fahrenheit
kelvin: degrees kelvin
kilometre: kilometer, km, kms
metre: meter
centimetre: centimeter, cm
millimetre: millimeter, mm
litre: liter
millilitre: milliliter, ml
gram: gramme
kilogram: kg, kilo, kilogramme
pound: lb, lbs
ounce: oz
inch: inches
foot: feet, ft
mile: mi, miles
tonne: metric ton
width: field width, field of given width, field of the given width, field of a given width
center: centre, centred, centered, in the middle of a given width, centring
color: colour
gray: grey
normalize: normalise, normalisation, normaliser, normalizer, normalization
whitespace: white space, blanks and tabs
strip: trim
flatten: flat list, make flat
transpose: swap rows and columns, exchange rows and columns, rows become columns
intersection: in common, common element, common item, elements in both, shared element, items in both, common
union: elements in either, all elements of both
slug: url slug, slugify
discount: rebate, price reduction, reduced by a percentage, discounted
compound: compounded, compounding, with interest on interest
vat: value added tax, sales tax, tax
final: end, resulting, ultimate
principal: starting capital, initial capital
first: initial
last: final line
longest: of greatest length
shortest: of least length
before: preceding, prior to, earlier than
after: following, later than, succeeding
start: begin, beginning, from date
stop: finish, until date
old: previous, former, original
new: updated
dictionary: dict, hash map
merge: combine
file list: list files, list the files, list all files, list of files
split: separate, divide into parts, break into, break up
json: json document
even: divisible by two, divisible by 2
odd: not divisible by two
text: in a sentence, of a sentence, from a sentence, in a word, of a word, in a paragraph, of a paragraph
| in the sentence, in the word, of the word, of the sentence
side: edge, side length, edge length
header: column names, header row, names of columns, names of the columns, column headers
| header line, column header
capital: capitalise
size: size in bytes, number of bytes, file size
slope: gradient
mirror: mirror image
remove: delete, drop, eliminate, discard, strip out, take out
position: index, place in
length: how long
count: quantity, counter, tally up, total count
blank: empty
missing: null, nan, none, absent, undefined
duplicate: repeated, repeat
ratio: proportion
probability: chance, likelihood
monthly: per month, each month, a month
yearly: annual, annually, per year, per annum, a year
daily: per day, a day, each day
join: concatenate, concatenation, glue together
shorten: truncate, cut to, abbreviate
round: rounded, rounding
clamp: limit to a range, restrict to a range
factor: divisor of
folder: directory
start with: starts with, begins with, begin with
end with: ends with, finishes with
capital: capitalised
capitalise: upper case the first letter, first letter in upper case, first letter upper case
random: randomly, at random
distance: how far
price: purchase price
flatten: flat, into a flat list, one dimensional
time zone: timezone
inclusive: including both ends, both ends included, both inclusive
exclusive: excluding both ends
contain: include, containing
equal: identical
at least: no less than, not less than, or more
at most: no more than, not more than, or less
more than: greater than, larger than, exceed, above, greater, higher than, bigger than
threshold: limit, bound, cutoff, cut off
less than: smaller than, fewer than, below, lower than
several: a number of, a given number of
histogram: bar counts
variance: var
intersection: present in both, appear in both, found in both, occur in both, shared by both, contained in both
birth date: birthdate, birthday, date of birth, dob, birth day
punctuation: punctuation mark, punctuation character, punctuation symbol
longest: with the most letters, with most letters, with the most characters, of maximum length, with the greatest length
shortest: with the fewest letters, with fewest letters, with the fewest characters, of minimum length
moving mean: moving average, rolling mean, rolling average, sliding average, sliding mean, running average
weighted mean: weighted average
molar mass: molecular weight, molar weight, molecular mass
valid: well formed, validate, correctly formatted, validity, validation
true positive: true positives
false positive: false positives
true negative: true negatives
false negative: false negatives
z score: standard score, z scores
payment: instalment, installment, repayment
url: link, links
swap case: invert case, invert the case, toggle case, toggle the case, flip the case, swap upper and lower case
| switch case, swap the case
caesar: caesar cipher, caesar shift, caesar code
group: category, class
2d: two dimensional, in the plane, planar
quadratic: quadratic equation
size: how large, how big, file size in bytes
dot product: vector product of two vectors
mole: amount of substance
swap: exchange, interchange
missing: empty cell, blank cell, empty value, null value, blank value, missing cell, missing entry
ratio: share of, fraction of, portion of
business day: working day, work day, workday
title case: capitalise the first letter of every word, capitalise the first letter of each word, capitalise words
| capitalise first letter of each word, capitalise first letter of every word, first letter of each word in upper case
shorten: cut off, cut down, clip
iso: iso 8601, iso format, iso date, iso 8601 date
hms: hh mm ss, hours minutes and seconds, hours, minutes and seconds, hours minutes seconds
sort: order records, order rows, order by, order words, order strings, order dates, order objects, put in order
count: how many ways, number of ways, ways
chunk: batch, consecutive chunk
principal: loan amount, amount borrowed, borrowed amount
reverse: in the opposite order, in opposite order, opposite order, other way round, from back to front
gcd: largest common factor, biggest common factor, greatest common measure, largest integer that divides both numbers
| largest number that divides both numbers, largest integer that divides both, largest number dividing both
circle: disc, disk
weekday: day name, name of the weekday, day of the week name, on which day of the week
hypotenuse: long side of a right triangle, right triangle long side, longest side of right triangle
max: topmost, upper extreme, peak value, top value, whose value is highest, whose value is largest
min: bottommost, lower extreme, least value, whose value is lowest, whose value is smallest
sum: summed, summing, grand sum, altogether, combined total, sum of all, add the amounts, add up the amounts
mean: averaging, averaged, mean of all values, typical value
count: how frequently, frequency of, number of times that, times that, tallies, counts
unique: each once, every one once, no repeats, once each, all different, different values
row: data record, entry row, table row
csv: csv document, csv data, spreadsheet in csv, comma separated table
before: precedes, ahead of
remove: get rid of, leave off, filter out, cleared of, clear of
percent: in percent, as a percentage, as percent
join: string together, put together, stitch together, link together
split: chop into, cut into, partition into, tokenise by
upper: big letters, all capitals, capital letter
lower: small letter
encrypt: encipher, cipher with
decrypt: decipher
square: times itself, multiplied by itself
cube: to the third power, third power
power: to the power of, to the power, to a power
sqrt: second root
remainder: remains after division, what remains, rest of a division, rest after dividing
product: multiplied together, multiply all, multiplied with each other
start with: begins with, beginning with, starting with
end with: ending with, finishing with
equal: is the same as, matches exactly, equal to
ascending: from smallest to largest, from low to high, from lowest to highest, in ascending order, from small to large
descending: from largest to smallest, from high to low, from highest to lowest, in descending order, from large to small
leap: has 366 days
palindrome: reads the same in both directions, same in both directions, reads the same forwards and backwards
intersection: contained by both, both contain, both lists contain, that two lists share, shared between
union: in at least one of, all distinct elements of both
factorial: product of all integers up to, product of all positive integers up to, product of all numbers up to
roman: roman numerals
celsius: degrees celsius
fahrenheit: degrees fahrenheit
text: plaintext, plain text, passage, phrase
merge: bring together, unite
tip: gratuity
vat: goods and services tax
whitespace: blank characters, white spaces
acronym: initials, initial letters
duplicate: occurring more than once, occur more than once, that appear more than once, found more than once
missing: not filled in, without a value, unfilled
"""
_SPANS = """
@ count: number of @s, how many @s, count of @s, elapsed @s, @s elapsed, @s between, @s passed
| difference in @s, number of @s between, how many @s lie between, @s apart, number of full @s
"""
"""Of each unit of time."""
UNITS = ("second", "minute", "hour", "day", "week", "month", "year")
_MEASURES = (
    "pound",
    "kilogram",
    "gram",
    "ounce",
    "mile",
    "kilometre",
    "metre",
    "inch",
    "foot",
    "litre",
    "gallon",
    "byte",
)
_MEASURED = "\n@: how many @s is, how many @s are, how many @s are in, how many @s does, into @s"
"""What is asked for of a measure by "how many" is its value, and no count."""
_CLEARER = {"different": "distinct", "numbers of": "values of", "positive": "above zero"}
"""Words that a stemmer, or the list above, would take for others."""
_MISREAD = re.compile(rf"\b(?:{'|'.join(_CLEARER)})\b")
_LONGEST = 6
_BRITISH = re.compile(r"(?<=[a-z]{3})(is(?=e[drs]?$|ing$|ation$)|our(?=s?$|ed$|ing$)|ll(?=ed$|ing$|er$))")
_AMERICAN = {"is": "iz", "our": "or", "ll": "l"}
"""One spelling for both, whatever else it does to a word: it does it to every word alike."""


@lru_cache(maxsize=4_096)
def spoken(text: str) -> tuple[str, ...]:
    """The words of `text` in order, synonyms as one word; silent ones are among them, since order hangs on them."""
    words = _stems(text)
    found, at = [], 0
    while at < len(words):
        for size in range(min(_LONGEST, len(words) - at), 0, -1):
            if (same := _phrases().get(words[at : at + size])) is not None:
                found.append(same)
                at += size
                break
        else:
            found.append(words[at])
            at += 1
    return tuple(found)


def _stems(text: str) -> tuple[str, ...]:
    words = re.findall(r"[^\W\d_]+\d*|\d+|[,;.]", _MISREAD.sub(lambda found: _CLEARER[found.group()], readable(text)))
    return tuple(stem(_BRITISH.sub(lambda found: _AMERICAN[found.group(1)], word)) for word in words)


@lru_cache(maxsize=1)
def _phrases() -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {}
    spans = "".join(_SPANS.rstrip().replace("@", unit) for unit in UNITS)
    measured = "".join(_MEASURED.replace("@", unit) for unit in _MEASURES)
    for line in (_SAME.strip() + spans + measured).replace("\n|", ",").strip().splitlines():
        head, others = line.split(":", 1)
        for phrase in (head, *others.split(",")):
            found.setdefault(_stems(phrase), head)
    return found
