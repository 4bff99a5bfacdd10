"""Many wordings of one thing where columns and rows are marked, and the one that the readers of a question know."""

from __future__ import annotations

import re
from collections.abc import Callable

_BUSY = r"(?:#\d+#|month|year|weekday|day of the week|day|hour|quarter)(?![\w#])"
SINCE_MARKED: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (
        r"\b(long|short)est average (?=#\d+#)",
        lambda one: f"{'high' if one[1].lower() == 'long' else 'low'}est average ",
    ),
    (r"\b(highest|lowest|biggest|smallest) (?:cost|price|charge|fee|amount|value)s? (?:for|of) (?=#\d+#)", r"\1 "),
    (r"\b((?:highest|lowest|best|worst) (?:average|mean) #\d+#) (?:per|for each|of each|of an?) #R#", r"\1"),
    (r"^(how many (?:different )?#\w+#) (?:do|did|does) (?:(?:the|our|my|all) )*#\w+# come from$", r"\1"),
    (
        r"^which (#\d+#) (?:do|did|does) (?:the )?most (?:of (?:the|our|my) )?#\w+# come from$",
        r"which \1 has the most #R#",
    ),
    (r"\b(?:who|that) (?:is|are|was|were) (?=\d{1,2}$)", "aged "),
    (
        r"\b(?:how much|what) (?:did|do|does) (?:we|i|they) (?:get|make|take|earn|spend|pay) in (#\d+#) per (#\d+#)",
        r"\1 divided by \2",
    ),
    (
        r"^how many (#\d+#) per (#\d+#) (?:did|does|do) (.+?) (?:use|take|make|get|give|need|cover)$",
        r"\1 divided by \2 of \3",
    ),
    (r"\b(?:longest|biggest|highest|greatest|largest) (?:#\w+#|day|night|week|one) (?:for|in) (#\d+#)$", r"highest \1"),
    (r"\b(?:weight|mass) in (?=#\d+#)", ""),
    (r",? (?:in|on|from) (?:the|this|my|our) (?:log|list|diary|register|records|table) of (?:the |my |our )?#R#$", ""),
    (r"\b(?:length|duration|weight|mass) of (?:an? |the )?([^#,]*?)(#\w+#) in (#\d+#)", r"\3 of \1\2"),
    (
        r"^which (#\d+#) (?:do|did|have|has) (?:we|i|they|you) (?:(?:get|have|own|buy|order) )?"
        r"(?:the )?(most|fewest|least) (#\w+#)"
        r"(?: (?:from|of|in|at|with|for|by|to))?$",
        r"which \1 has the \2 \3",
    ),
    (
        r"^what (?:did|do|does) (?:(?:the|all|my|our) )*(#\d+#) ((?:for|of|in) .+) \1(?: altogether| together)?$",
        r"total \1 \2",
    ),
    (
        r"^what (?:did|do|will) (?:(?:the|all|my|our) )*(#R# [^#]+?) (#\d+#)(?: us| me)? (?:altogether|together)$",
        r"total \2 of \1",
    ),
    (r"\((by (?:the )?#\d+#)\)", r"\1"),
    (r"\b(most|fewest|least|highest|lowest) (#\d+#) per (#\d+#)", r"\1 \2 divided by \3"),
    (r"\b(?:cheapest|least expensive) per (#\d+#),? (?:going by )?(#\d+#)$", r"with the lowest \2 divided by \1"),
    (r"\b(?:dearest|most expensive) per (#\d+#),? (?:going by )?(#\d+#)$", r"with the highest \2 divided by \1"),
    (r"(?<![#\w(])([a-z]+) (#\w+#) \((#\d+#) (?:is |= ?)?(\w[\w.-]*)\)", r"(\1) \2 with \3= \4"),
    (
        r"^((?:(?:my|our|the) )*(?:how|total|average|median|mean|highest|lowest|what (?:do|did|does))\b.*?),? "
        r"(?:over|across|for|in|of) all "
        r"(?:of )?(?:(?:his|her|their|its|my|our|the|these) )?#R#(?=$|[ ,])",
        r"\1",
    ),
    (r",? all (?:(?:the|my|our) )?#R#(?: together| combined)?$", ""),
    (r",? (?:adding|summing|counting|taking) up (?:all (?:of )?)?(?:(?:the|my|our) )*#\w+#$", ""),
    (r"\b(?:the )?amount(?: of)? (?=#\d+# (?!#))", ""),
    (r" (?:over|across|for|in) all (?:of )?(?:the )?(?:two|three|four|five|six|\d+) #\d+#(?: together| combined)?", ""),
    (
        r"\b(?:below|under|above|over) (?:their |the |its )?(?:minimum|maximum|limit|target|level) ?"
        r"\((#\d+# (?:is )?(?:less|more|lower|higher|fewer|below|above|under|over)(?: than)? #\d+#)\)",
        r"\1",
    ),
    (r"(#\d+#) ?\((?:the )?(?:sum|total) of (?:the )?\1\)", r"\1"),
    (r" (?:over|across) the (?:two|three|four|five|six|\d+) #\d+#(?=$|[ ,])", ""),
    (r"(#\d+#) #R#(?= (?:than|minus|plus|times)\b)|(?<=than the )(#\d+#) #R#|(?<=minus )(#\d+#) #R#", r"\1\2\3"),
    (r" (?:across|over) (?:all )?(?:(?:the|my|our|these|different) )*#\w+#(?=$|[ ,])", ""),
    (r"^(#\d+#) #R# (?=(?:on|at|in|for|of)\b)", r"\1 "),
    (r"\bwithout (?:a single|any) (?=#\d+#)", "without "),
    (r",? \b(?:when|where|while) ([A-Z][\w'-]+) (?:was|is) (#\d+#)", r", \2= \1"),
    (r"(?<= than )(?:i|we|they|he|she) (#\d+#)(?: for (?:it|them))?", r"\1"),
    (
        r"\bbetween ([A-Z][\w.'-]*(?: [A-Z][\w.'-]*)*) (#\d+#) and (?:(?:his|her|its|their|the) )?(#\d+#)",
        r"between \2 and \3 for \1",
    ),
    (
        r"\b(more|less|fewer|higher|lower) than (\d[\d.]*) in (?:both )?(#\d+#) and (?:in )?(#\d+#)",
        r"with \3 \1 than \2 and \4 \1 than \2",
    ),
    (r"\b(highest|largest|biggest|lowest|smallest) (#\d+#) (?:total|sum)\b", r"\1 total \2"),
    (r",? (?:going|judging) by (?:the )?(?=#\d+#)", ", "),
    (
        r"^what (?:do|did|does|have|has) (?:(?:all|the|my|our|these) )*(?:#R# )?(#\d+#)(?: us| me)?"
        r"(?: together| altogether)$",
        r"total \1",
    ),
    (
        r"^how many (?:(?:pieces|units|copies|#\d+#) )?(?:altogether )?(?:of )?((?:#\d+#=? )?[\w-]+(?: [\w-]+)?) "
        r"(?:are|is|were|was|do we have|have we got) (?:there )?(#\d+#)$",
        r"how many \2 of \1",
    ),
    (r"(#\d+#) (?:marks?|grades?|scores?|levels?|charges?|charged|readings?)(?![\w#])", r"\1"),
    (r"\b(?:mark|grade|score|result|charge|level)s? (?:in|for|of|at) (?:the )?(?=#\d+#)", ""),
    (
        r"\bwhat (?:(?:mark|grade|score|result) )?(?:did|does) ([^#]+) (?:get|have|score) (?:in|for) (?:the )?(#\d+#)$",
        r"\2 of \1",
    ),
    (r"\b(?:do |does |did )?not have (?:an?|any|the|their|his|her) (#\d+#)", r"without \1"),
    (r"^(#\d+#) (difference|gap) between ", r"\2 in \1 between "),
    (r"\bnot (?:(?:have|with|own|got) )?(?:(?:their|his|her|its|an?|any) )+(?=#\d+#)", "not "),
    (r"(?:#R# )?(?:length|duration)(?: of (?:an? |the )?(?:#R#|[a-z]+))? in (#\d+#)", r"\1"),
    (r"\b(than|over|under) an? (?=#\d+#)", r"\1 1 "),
    (r"^what (?:does|do|did) (?:an? |the |my )?([^#]+) (#\d+#)$", r"\2 of \1"),
    (r"^((?:which|what) #\d+#|who) (#\d+#) the (most|least|fewest)$", r"\1 has the \3 \2"),
    (
        r"^(how (?:much|many) #\d+#) (?:was|were|is|are|(?:has|have) been) (?:used|consumed|needed|produced)\b",
        r"\1 was",
    ),
    (r"\bnon-(?=#)", "not "),
    (r"\bbetween (?:the )?(#\d+#) ([\w-]+) and (?:the )?\1 (?=[\w-]+)", r"between \2 and "),
    (r"^how much (?:more|higher|larger) (?:is|was|were|are) (?:the )?(#\d+#) than (?:the )?(?=#\d+#)", r"\1 minus "),
    (r"^how much (?:less|lower|smaller) (?:is|was|were|are) (?:the )?(#\d+#) than (?:the )?(#\d+#)", r"\2 minus \1"),
    (r"\b(?:most|highest|largest|biggest|longest|best|greatest) (#\d+#)(.*?) on average\b", r"highest average \1\2"),
    (r"\b(?:fewest|least|lowest|smallest|shortest|worst) (#\d+#)(.*?) on average\b", r"lowest average \1\2"),
    (r"^how (?:much|many|long|far|high) (?!.* than )(.*?),? on average\b", r"average \1"),
    (r" (?:with|across|over|from|for|of) (?:all )?(?:our |the |my )?#R# (?:together|combined|altogether)$", ""),
    (
        r"\b(?:where|with|whose|and) (#\d+#) (?:is|was|are|were|equals?|equal to|=) "
        r"(?!(?:not|no|after|before|above|below|over|under|at|in|on|between|more|less|missing|blank|empty)\b)(?=[^\W\d_])",
        r", \1= ",
    ),
    (
        r"\b(no|without) (?:(?:an?|any|the) )?(#\d+#) "
        r"(?:entered|given|recorded|listed|named|noted|down|written(?: down| in)?|filled in|put down|set|yet)\b",
        r"\1 \2",
    ),
    (r"\b(?:(?:is|are|was|were|still|has|have) )*missing (?:(?:an?|any|the|their|its) )?(?=#\d+#)", "without "),
    (
        r"\b(?:(?:do|does|did|have|has|had) )?(?:(?:i|we|they|he|she|it) )?not "
        r"(?:note|write|put|enter|record|fill|mark|get|know)(?:d|n|ed|ten)?(?: down| in)? "
        r"(?:(?:an?|any|the|their|its) )?(#\d+#)(?: down| in)?(?: for)?(?=$|[ ,])",
        r"without \1",
    ),
    (
        r"\b(?:has|have|had|is|are|with)?(?: got)? ?(?:nothing|no value|an? (?:empty|blank)(?: cell| value)?)"
        r"(?: (?:written|entered|noted|put|down|recorded|filled in))* (?:for|in|under) (?:the )?(#\d+#)",
        r" without \1",
    ),
    (
        r"(?:\b(?:is|are|was|were|has|have) (?:(?:the|their|its) )?)?(#\d+#) "
        r"(?:(?:is|are|was|were|still|been|left|yet) )*"
        r"(blank|empty|missing)\b",
        r"\1 \2",
    ),
    (
        r"\b(?:have|has|is|are|was|were)? ?(?:fallen |dropped |gone )?(less|fewer|more) (#\d+#) than "
        r"(?:the |their |its )?(?=#\d+#)",
        r"\2 \1 than ",
    ),
    (r"\b(?:(?:is|are|was|were|has|have|had|been) )*never (#\d+#)", r"never \1"),
    (r"(#\d+#) (?:numbers?|address(?:es)?|values?|recorded|given|listed)(?=[ ,]|$)", r"\1"),
    (r"(#\d+#) (?:is |was |were |are )?negative\b", r"\1 below 0"),
    (r"(#\d+#) (?:is |was |were |are )?positive\b", r"\1 above 0"),
    (r"(#\d+#)[ -](?:trained|qualified|certified)\b", r"\1"),
    (r"(#\d+#) (?:nothing|zero)\b", r"without \1"),
    (r" (?:each|apiece)$|^(?:all|any) (?:of )?(?:the )?", ""),
    (r"^(average|mean|median)(.*?) (?:per|in an?|of an?) #R#", r"\1\2"),
    (rf"^busiest ({_BUSY}.*?)(?:,? by (?:how many|number of) #R#)?$", r"which \1 has the most #R#"),
    (rf"^quietest ({_BUSY}.*?)(?:,? by (?:how many|number of) #R#)?$", r"which \1 has the fewest #R#"),
    (r"^how (#\d+#) (?:is|was|are) (.+)$", r"\1 of \2"),
    (r"^how (?:much|high|big|large|long) (?:is|was|are|were) (?:the )?(#\d+#) of ", r"\1 of "),
    (r"^how (#\d+#) (?=(?:did|do|does|have|has)\b)", r"how much \1 "),
    (r"^(?:sum|add)(?: up)? (?:of )?(?:all )?(?:the )?", "total "),
)
"""The same, where columns and rows are marked."""
