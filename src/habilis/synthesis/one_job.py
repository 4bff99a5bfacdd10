"""Whether a question looks like one job for one tool, told by a rule that would rather say no.

A no costs what a plan costs; a wrong yes costs the reply of a writer who is asked for one tool and says that one does
not do. So whatever hints at several jobs, at a conversation, or at work without a tool goes the long way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from habilis.core.patterns import lazy_pattern
from habilis.library.retrieval.contrasts import operations

LONGEST = 400
"""Characters; who writes more asks for more, or sets conditions that a plan should see."""
_QUOTED = lazy_pattern(
    r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]"
    r"|「[^」\n]*」|`[^`\n]*`|(?<!\w)['‘][^'’\n]+['’](?!\w)"
)
_SENTENCE = lazy_pattern(r"(?<=[.!?…])\s+(?=\S)|[。！？؟।](?=\s*\S)")
_ASKS = lazy_pattern(r"[?？؟]")
_SEVERAL = lazy_pattern(
    r"[;；；&\n]|\b(?:then|after(?:wards| that)|finally|also|as well as|followed by|both|respectively"
    r"|additionally|in addition|dann|danach|anschließend|außerdem|sowie|zusätzlich|sowohl|zuerst"
    r"|puis|ensuite|également|ainsi que|d'abord|luego"
    r"|después|además|también|así como|poi|inoltre|anche|depois|em seguida|além disso|também|daarna|vervolgens|ook"
    r"|potem|następnie|także|затем|потом|также|после этого|кроме того|sonra|ayrıca)\b"
    r"|然后|然後|接着|之后|另外|此外|并且|以及|同时|それから|その後|次に|また|そして|さらに|그리고|그다음"
    r"|그런 다음|또한"
    r"|ثم|بعد ذلك|أيضا|كذلك|फिर|उसके बाद|तथा|और",
    re.IGNORECASE,
)
_FILE = "FILE"
_VALUE = r"(?:[-+]?[\d][\w.,:/%-]*|§)"
_AND = r"and|und|et|y|e|en|i|и|ve|och|og|or|oder|ou|o|of"
_VALUES_JOINED = lazy_pattern(rf"{_VALUE}(?: (?:{_AND}) | ?[和与與及と] ?)(?={_VALUE})", re.IGNORECASE)
_JOINED = lazy_pattern(
    r"\b(?:and|und|et|y|e|и|ve|och|og|or|oder|ou)\b|(?<![总總])和|[与與及]|(?<!も)と(?!も)|와 |과 ", re.IGNORECASE
)
_ASKING = lazy_pattern(
    r"\b(?:what|which|who|whom|whose|how|when|where|why|was|welche[rsnm]?|wer|wie|wann|wo|warum|quel(?:le)?s?|combien|qui|où"
    r"|cuál(?:es)?|cuánt[oa]s?|qué|quién|dónde|qual[ei]?|quant[oiae]|chi|dove|quantos|quem|onde|welke?|hoeveel|wie|waar"
    r"|ile|który|kto|gdzie|сколько|как(?:ой|ая|ое|ие)|кто|где|когда|kaç|hangi|kim)\b"
    r"|多少|什么|什麼|几个|哪|谁|誰|いくつ|何|どの|どこ|몇|무엇|어느|누구|كم|ما |من |أين|कितन|क्या|कौन",
    re.IGNORECASE,
)
_KNOWING = lazy_pattern(
    r"(?:who|whom|whose|where|why|when|wer|wo|warum|wann|qui|où|pourquoi|quand|quién|dónde|cuándo|chi|dove|perché|quem|onde"
    r"|wie is|waar|waarom|кто|где|когда|почему|谁|誰|哪里|为什么|누가|어디|왜|من |أين|لماذا|कौन|कहाँ)",
    re.IGNORECASE,
)
_LEANING = lazy_pattern(
    r"(?:and|but|or|so|now|same|again|what about|how about|the same"
    r"|und|aber|et|mais|y|pero|e|ma|mas|а|и|но|那|那么|じゃあ|では)\b"
    r"|那|では|それ",
    re.IGNORECASE,
)
_ELSEWHERE = lazy_pattern(
    r"://|www\.|\b(?:web(?:site|page)?s?|internet|online|download|search|url|api|image|picture|photo|screenshot)\b",
    re.IGNORECASE,
)
_FILE_SPOKEN_OF = lazy_pattern(
    r"\b(?:files?|csv|json|xlsx?|table|spreadsheet|document|pdf|datei|tabelle|fichier|tableau|archivo|tabla|tabella|arquivo"
    r"|bestand|plik|файл\w*|таблиц\w*)\b|文件|表格|ファイル|파일|ملف|फ़ाइल",
    re.IGNORECASE,
)


def why_several(question: str, files: Sequence[Mapping[str, Any]]) -> str:
    """Why `question` is not taken for one job; "" where it is. `files` are the task's, as prompts show them.

    All of this must hold:

    1. It is one sentence in one line, of at most `LONGEST` characters, with at most one mark and one word that ask.
    2. Nothing in it joins a second job: no "then" or "also", no semicolon, no "and" but between two values; and it
       names at most one operation (mean, highest …) beside a count.
    3. It leans on nothing before it: it does not begin with "and", "but", "what about".
    4. It stays here: no address, nothing of the web, no picture.
    5. There is something to work on: files that are all texts; or, where it speaks of no file, a number or a quoted
       text, and it does not begin by asking who, where, when or why.

    Words are looked for in some fifteen languages. What none of these words tells is left to the writer, who may say
    that one tool does not do.
    """
    asked = question.strip()
    bare = _without_files(asked, files)
    plain = _QUOTED.sub(" § ", bare)
    if not asked or len(asked) > LONGEST or len(_SENTENCE.split(plain)) > 1 or len(_ASKS.findall(plain)) > 1:
        return "more than one sentence"
    if _SEVERAL.search(plain) or _JOINED.search(_VALUES_JOINED.sub(" ", plain)) or len(_ASKING.findall(plain)) > 1:
        return "something is joined to it"
    if len({one for family in operations(plain).values() for one in family} - {"count"}) > 1:
        return "more than one operation"
    if _LEANING.match(plain):
        return "it leans on what was said before"
    if _ELSEWHERE.search(plain):
        return "it leads elsewhere"
    if any(file.get("is_dir") or not file.get("begins") for file in files):
        return "not all of its files are texts"
    works = bool(files) or (bool(re.search(r"\d|§", plain)) and not _KNOWING.match(plain))
    return "" if works and (files or not _FILE_SPOKEN_OF.search(plain)) else "nothing to work on"


def _without_files(question: str, files: Sequence[Mapping[str, Any]]) -> str:
    """`question` without the names of its files, which may hold anything."""
    for named in sorted((str(file.get("named", "")) for file in files), key=len, reverse=True):
        question = question.replace(named, _FILE) if named else question
    return question
