"""Many wordings of one thing, and the one of them that the readers of a question know."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from habilis.questions.tables.lexicon import MONTHS, NUMBERED
from habilis.questions.tables.marked_wordings import SINCE_MARKED


def _with_year(match: re.Match[str]) -> str:
    """ "between 10 February and 20 April 2024" with the year, or month and year, for both."""
    way, first, joined, day, month, year = match.groups()
    first = first if " " in first else f"{first} {month}"
    return f"{way} {first} {year} {joined} {day} {month} {year}"


_REWRITTEN: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"\b(?:is|are|was|were|has|have|had|do|does|did|could|would)n['’]t\b", "not"),
    (r"\b(what|who|where|when|which)['’]s\b", r"\1 is"),
    (r"(?<=\w)['’]s\b", ""),
    (r"(?<=s)['’](?= )", ""),
    (
        rf"\b(between|from) the (\d{{1,2}})(?:st|nd|rd|th)? (and|to|until|till) the (\d{{1,2}})(?:st|nd|rd|th)? of "
        rf"({MONTHS})",
        r"\1 \2 \5 \3 \4 \5",
    ),
    (r"\band (?:also|as well)\b", "and"),
    (r" (?:in|on) the (?:list|file|table|spreadsheet|sheet)(?= (?:were|was|are|is|have|has|had|most|more|only)\b)", ""),
    (
        r"^(?:what|how much) (?:do|did|does|will) all (?:(?:of|the|my|our) )*(.+?) (?:add|come|amount) (?:up )?to$",
        r"total \1",
    ),
    (r"^(?:everyone|everybody) (?:with|who has|who have|who had|having) ", "who has "),
    (r"((?:most|least) \w+|\b\w+est\b)(.*?),? (?:starting|beginning) (?:with|from) (?:the )?\1(?: one)?$", r"\1\2"),
    (r"\b(most|least) (\w+) single (?=\w)", r"\1 \2 "),
    (r"^((?:the )?top .+?),? (?:starting|beginning) with the (?:highest|largest|biggest|longest|most \w+)$", r"\1"),
    (r"\b(how many (?:different|distinct|unique)) \w+ (?:are )?(?:there )?in the (\w+) column$", r"\1 \2"),
    (r"^(?:for|in|at) ((?:the )?[A-Z][^,]*), what (?:is|was|are|were) (?:the |my |our )?(.+)$", r"\2 for \1"),
    (r"^(?:for|in|at) ((?:the )?[A-Z][^,]*), ((?:what|which|who|how|when)\b.+)$", r"\2 for \1"),
    (
        r"\b(?:do|did|does|have|has) (?:i|we|they|he|she|anyone|anybody) (?:fail|failed|forget|forgot|forgotten|neglect"
        r"|neglected) to (?:write|note|put|jot|record|enter|fill)(?: down| in)? (?:the |a |an |any )?",
        "without ",
    ),
    (
        r",? (?:in|on|from) (?:the|this|my|our) (?:log|diary|register|records|notes)$",
        "",
    ),
    (
        r"^(how many days) (?:after|from) ((?:the|my|our) first (.+?)(?: (?:record|entry|one|visit|session))?) "
        r"(?:was|is|did|came|to|until|till|and) (?:the|my|our) last (?:one|\w+)$",
        r"\1 between the first and the last \3",
    ),
    (
        r"^of (?:all )?((?:the |our |my )?.+?), what (percentage|percent|share|proportion) ((?:is|are|was|were|has|have"
        r"|had) .+)$",
        r"what \2 of \1 \3",
    ),
    (r"\b((?:which|what) [\w ]+?) (?:goes|go|went) out (?:the )?most(?: often)?$", r"\1 appears most often"),
    (r"^how much (?:did|do) all (?:(?:of|the|my|our) )*(\w+) cost.*$", r"total cost of \1"),
    (r"\b(?:takes?|took|taken|taking) place\b", "happen"),
    (r"\babout (?=(?:an? |the )?[A-Za-z])", "for "),
    (r"\bsquare (?:metres?|meters?)", "sqm"),
    (r"^(?:what|how much) (?:does|do|did) (?:an? |one |the )?(.+?) cost on average$", r"average cost of \1"),
    (r"\b(?:what|which) (?:kind|type|sort|category) of (?=\w)", "which kind of "),
    (r"\bmore than once$", "more than one #R#"),
    (r"^of (?:all )?(?:the |our |my )?(.+?), ((?:which|who) .+)$", r"\2 of the \1"),
    (
        r"^add up (?:the )?(.+?) (?:for each|per|by) (\w+)[.;] which \2 (?:has|have|had|comes? to) the "
        r"(most|least|highest|lowest)$",
        r"which \2 has the \3 \1",
    ),
    (
        r",? ?(?:\b(?:when|if) (?:you|we|i) (?:add|sum) (?:them|it|these|all)(?: all)?(?: up| together)?"
        r"|\b(?:all )?(?:added|summed)(?: up| together)?|\b(?:taken|put) together)(?=$|[,?)])",
        " altogether",
    ),
    (
        r"^(how many (?:different|distinct|unique) .+?) (?:are|is|were|was) (?:used|listed|named|mentioned|shown"
        r"|given|in use|there)$",
        r"\1",
    ),
    (r"\bsingle (?=(?:largest|biggest|highest|smallest|lowest|longest|shortest|best|most)\b)", ""),
    (r"\b(?:only|exactly|just) (?=(?:one|two|three|four|five|six|\d+)\b)", ""),
    (
        r"^(?:which|what) ([a-z]+s) (?:are (?:listed|there|included|in the (?:file|list|table))|do (?:i|we) have)$",
        r"\1",
    ),
    (r"(?<=\w) when (?:i|we|it|they|he|she|the weather) (?:was |were |is )?(?=\w)", ", "),
    (r"(?<=\w) when (?=\w+ing\b)", " for "),
    (r"\bin total\b|\boverall$", "altogether"),
    (r"^how many times\b", "how often"),
    (r"\b(first|last) time (?=(?:the|a|an|we|I|they|he|she|it|that|anybody|anyone|someone)\b)", r"\1 entry "),
    (r"\bc[ao]mes? up\b", "came-up"),
    (r"^(?:the )?date of (?:the |my |our )?(?=(?:latest|last|first|earliest|most recent)\b)", "when was the "),
    (r"\b(?:for|in|of|on) (?:a|one|any) single \w+$", ""),
    (r"\b(?:in|for|of) all (?:(?:the|my|our|these) )?(?=[a-z])", "of "),
    (r"\b(?:whole|entire) ", ""),
    (
        r",? across (?:everyone|everybody|the board|all(?: of (?:them|it))?|all (?:the )?(?:rows|entries))(?=$|[,?])",
        "",
    ),
    (r"\b(?:have|has|had|need|needs) to be (?!paid)(?=\w)", "are "),
    (
        r"^((?:.*\b)?(?:average|mean|median)\b.*?),? (?:ignoring|leaving out|skipping|not counting|without) "
        r"(?:the |any )?(?:blanks?|empty (?:ones|cells|values|rows)|missing (?:ones|values)|gaps)$",
        r"\1",
    ),
    (r",? \(?(?:both (?:days |dates |ends )?(?:included|inclusive)|inclusive(?:ly)?)\)?(?=$|,)", ""),
    (r" (?:in|at) one go\b", ""),
    (r",? (?:across|over) all (?:the )?(?=#)", ""),
    (
        r"^what (?:did|do|have|has) (?:(?:all|the|my|our) )*((?:\w+ )?\w+) cost(?: me| us)?(?: altogether| together)?"
        r"(?:,? in (?:euros?|eur|dollars|pounds))?$",
        r"total cost of \1",
    ),
    (
        r"^(?:(?:with|in|at|on|for|by|of) )?((?:which|what) .+?) (?:is|was) (?:my |the |our )?(average|total|median) "
        r"(.+?) (?:the )?(highest|lowest)$",
        r"\1 has the \4 \2 \3",
    ),
    (r"(?<![\"\w])((?:spring|summer|autumn|fall|winter) (?:of )?(?:19|20)\d\d)\b", r'"\1"'),
    (r"^(which|what) ([\w ]+?) (?:do|did|are|were|have) (?:the )?most ([a-z]+s) ", r"\1 \2 has the most \3 "),
    (r"\b(?:still )?(?:have|has|need|needs|left) to (?:be )?(?:pay|paid)\b", "owes"),
    (r"\b(?:so far|as yet|up to now|to date|at all|in the first place|of ours|right now|at the moment)\b", ""),
    (r"\b(?:in all|all together|all in all|in the end|taken together)(?=$|[,?])", "altogether"),
    (r"(\d{1,2}(?::\d\d)?) (?:o['’]clock )?in the morning\b", r"\1 am"),
    (r"(\d{1,2}(?::\d\d)?) (?:o['’]clock )?in the (?:afternoon|evening)\b", r"\1 pm"),
    (r"\b([1-9]|1[0-2]):(\d\d) am\b", r"\1:\2"),
    (rf"\b(between|from) (\d{{1,2}}(?: (?:{MONTHS}))?) (and|to|until) (\d{{1,2}}) ({MONTHS}),? (\d{{4}})", _with_year),
    (
        rf"\b(between|from) (?:the )?(\d{{1,2}})(?:st|nd|rd|th)? (and|to|until|till) (?:the )?(\d{{1,2}})"
        rf"(?:st|nd|rd|th)? (?:of )?({MONTHS})\b(?!,? \d{{4}})",
        r"\1 \2 \5 \3 \4 \5",
    ),
    (rf"\b(between|from) ({MONTHS}) (\d{{1,2}}) (and|to|until) (\d{{1,2}})(?!\w|,? \d{{4}})", r"\1 \2 \3 \4 \2 \5"),
    (rf"\b(between|from) ({MONTHS}) (and|to|until) ({MONTHS}),? (\d{{4}})", r"\1 \2 \5 \3 \4 \5"),
    (r"^(?:what (?:do|does|did) )?(?:the )?(.+?)(?: all)? (?:adds? up|comes?|sums? up|amounts?) to$", r"total \1"),
    (r"^((?:which|what|how many) \w+) [^,]+, (?:i\.?e\.?|that is|meaning),? (?=(?:have|has|are|is|with) )", r"\1 "),
    (r"\? i mean (?!.*\b(?:rows?|where|only|those|who|which|that|with|when|from)\b).*$", ""),
    (r",? i mean,? .*$", ""),
    (r"\b(?:have|has) (?:i|we|they) got\b", "have"),
    (
        r"^(?:my|our|the) \w+ (?:wants?|needs?|would like|is asking for|asked for)(?: to know)? "
        r"(?=the |how |what |which )",
        "",
    ),
    (r"\bwhat (?:%|percent) of\b", "what percentage of"),
    (r"\b(?:class|group|team) (?=(?:average|median|mean)\b)", ""),
    (r"\bsince the (?:start|beginning) of (?=\w)", "since "),
    (
        r"\bbetween (?:my |the |our )?first (\w+) and (?:my |the |our )?last (?:\1|one)\b",
        r"between the first and the last \1",
    ),
    (r"^(?:(?:can|could) you )?total(?: up)? (?=(?:my|our|the) )", "total "),
    (r",? (?:all )?at the same time$|,? both at once$", ""),
    (r",? all (?:(?:the|my|our) )?[a-z]+s (?:added|put|taken|summed) (?:together|up)(?=$|,)", " altogether"),
    (r"^((?:going|judging) by [^,]+?), (.+)$", r"\2, \1"),
    (rf"^(?:the )?top ({NUMBERED[6:-1]}) (?=(?:most|least|\w+est)\b)", r"\1 "),
    (r"\b(?:marked|noted|put|entered|listed|recorded)(?: down)? as (?=(?:an? |the )?[a-z])", ""),
    (r"\bthan (?:what|that which) (?=(?:i|we|they|he|she|it)\b)", "than "),
    (
        r"^((?:the )?(?:biggest|largest|highest|longest|most|smallest|lowest|shortest)\b.*) in (?:one|any one) \w+$",
        r"\1",
    ),
    (
        r"\b(different|distinct|unique) (?:entries|values|items|things|names)(?: (?:are|do) (?:there|we have))? in "
        r"(?:the )?(.+?) column$",
        r"\1 \2",
    ),
    (r"\b(?:takes?|took|taken|taking) part\b", ""),
    (r"\bdays off\b", "days"),
    (r"\b(times?|races?|swims?|runs?) over (?=(?:the )?\d[\d.]* ?(?:k?m|miles?|met|kilo))", r"\1 in the "),
    (r"^(?:on average, )(what|how much|how many) (.+)$", r"\1 \2 on average"),
    (
        r"^(?:what|how much) (?:do|does|did|have|has) (?:i|we|they) (?:pay|paid|spend|spent) (?:for |on )?"
        r"(.+?),? on average$",
        r"average paid for \1",
    ),
    (r"^(.*\b)(total|average|sum) (?:that )?(i|we|they) (?:have )?(paid|spent) ", r"\1\2 \4 "),
    (r"^which (?:is|was|are|were) (?:the |my |our )(?=(?:\w+ ){0,2}?\w+(?:est|most expensive)\b)", ""),
    (r"\b(?:have|has|had|with) an? (?:time|entry|record|row|result)(?=$|[ ,])(?! (?:of|over|under|above|below))", ""),
    (
        r"^who (?:are|were|is|was) the ((?:\w+ )?)(?:people|persons?|ones|members) (?:who|that|with)\b",
        r"which \1people",
    ),
    (
        r"^(?:which|what) are the (?:different )?(\w+) (?:that|which) (?:appear|occur|show up|turn up"
        r"|are (?:there|listed|used|mentioned|named|shown))$",
        r"different \1",
    ),
    (r"\b((?:larg|bigg|high|small|low|long|short)est) single (?=\w)", r"\1 "),
    (
        r"^(?:leaving(?: out| aside)?|ignoring|excluding|apart from|not counting|except for|besides) "
        r"(?:(?:the|my|our) )?([\w -]+?)(?: aside| out)?, (?=\w+ )(.+)$",
        r"\2 excluding \1",
    ),
    (r"\b(?:in|during) the week (?=(?:from|between) )", ""),
    (r"^what (?:did|do|does) (.+?) (?:all )?(?:adds?|comes?|sums?|amounts?)(?: up)? to\b", r"total \1"),
    (r", by (?=(?:the )?[^,]+ (?:column|field)$)", ", going by "),
    (r"^monthly (totals?|averages?|numbers?|sums?)\b(.*)$", r"\1\2 per month"),
    (r"^daily (totals?|averages?|numbers?|sums?)\b(.*)$", r"\1\2 per day"),
    (r"^(total|average|sum)s (?=for|of|per|in)", r"\1 "),
    (
        r"^(?:adding up|counting|taking|considering|looking at|among) (?:only |just )(?:the )?(.+?),? "
        r"((?:how (?:many|much)|what|which|who)\b.+)$",
        r"\2 for \1",
    ),
    (
        r"^what (?:have|has|did|do) (i|we|they|he|she|[A-Z]\w+) (spend|spent|pay|paid|earn|earned)\b(?=[^(]*$)",
        r"how much did \1 \2",
    ),
    (r"^whose (\w+) (?:is|was) (?:the )?((?:high|low|larg|small|bigg|long|short)est)$", r"who has the \2 \1"),
    (
        r"^how much (?:money )?(?:is|was) (?:still )?(?:outstanding|unpaid|owed)(?=.* (?:not|unpaid|open)\b)(.*?),? "
        r"(?:adding|summing|counting) (?:up )?(?:all )?(?:the )?(?=\w)",
        r"total amount\1 of the ",
    ),
    (r"\b(?:looks? after|takes? care of|(?:is|are) (?:responsible for|in charge of))", "handles"),
    (r"^(?:against|with|by|about) (?=(?:which|what|whom)\b)", ""),
    (r"^(?:from|at) which (\w+) (.*?)\b ?(?:start|begin|leave|depart|began|left)(?:s|ed)?\b", r"which from \1 \2"),
    (r"^(?:to|at) which (\w+) (.*?)\b ?(?:end|arrive|finish)(?:s|d|ed)?\b", r"which to \1 \2"),
    (
        r",? (?:in|on|of|from) (?:the|this|that|my|our) (?:table|list|file|data|sheet|spreadsheet|whole year|ledger)$",
        "",
    ),
    (r"\b(has|have|had|is|was) the (high|low|larg|small|great|bigg|long|short)e?r\b", r"\1 the \2est"),
    (r"^who (?:is|was|are|were) the (?=\w+ (?:of|for) )", "which "),
    (r"\b(?:and|but) (?=(?:not|without|no|with|is|are|was|were|have|has|had|whose)\b)", ", "),
    (r"\b(?:i['’]ve|have i|i have) (?!not)", ""),
    (r"\bexceed(?:s|ed)?\b", "over"),
    (r"\b(?:there is|there are|is there|are there|there was|there were|were there|was there)\b", ""),
    (r"^(?:on|in|at|for|to|from|by) (?=how (?:many|much) )", ""),
    (r"^how many (?:of )?(?:my|our|the|these|those) ", "how many "),
    (r"\b(?:of|all) (?:our|my|your|us|them|the) (?!week\b)(?=\w+ (?:have|has|are|were|is|was|did|do)\b)", ""),
    (r"^(?:the )?(?:names?|titles?) of (?:everything|everyone|everybody|all)\b", "which #R#"),
    (r"\b(?:everything|anything|something|somewhere|anywhere)(?= (?:\w+ )?(?:from|in|at|by|for|with|that)\b)", ""),
)
"""Wordings of one thing, and the one that is read."""


@cache
def _compiled(marked: bool) -> list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    """More patterns than the module `re` keeps: each would be compiled anew for every question."""
    return [(re.compile(pattern, re.I), said) for pattern, said in (SINCE_MARKED if marked else _REWRITTEN)]


def reworded(text: str, *, marked: bool = False) -> str:
    """`text` in the one wording that is read of many. `marked`: its columns and rows are."""
    for pattern, said in _compiled(marked):
        text = pattern.sub(said, text)
    return text
