"""In which language a text is written, as far as one must know to tell whether its words can be another's at all."""

from __future__ import annotations

import re
from functools import lru_cache

_LETTERS = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("Han", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("kana", re.compile(r"[\u3040-\u30ff]")),
    ("Hangul", re.compile(r"[\uac00-\ud7af]")),
    ("Cyrillic", re.compile(r"[\u0400-\u04ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Indic", re.compile(r"[\u0900-\u0dff]")),
    ("Thai", re.compile(r"[\u0e00-\u0eff]")),
)
_FUNCTION_WORDS = {
    "English": "the of and to in is are what which how many much from for with does do this that by on at it be was a",
    "German": "der die das des dem den und ist sind wie viele viel von aus für mit zu im ein eine einer welche welcher "
    "welches nach auf bei wird werden nicht alle gib es",
    "French": "le la les des du et est sont quel quelle quels combien de dans pour avec un une sur par au aux ce qui",
    "Spanish": "el la los las del y es son cuál qué cuántos cuántas de en para con un una por al que cuanto",
    "Italian": "il lo la gli le del della dei e è sono quale quanti quante di nel nella per con un una che da",
    "Portuguese": "o os as do da dos das e é são qual quais quantos quantas de em no na para com um uma por que",
    "Dutch": "de het een en is zijn wat welke hoeveel van in voor met op uit bij naar dat die er",
    "Polish": "w z na i jest są jaki jaka jakie ile do dla po od nie czy w pliku",
    "Turkish": "bir ve ne kaç hangi için ile bu dosya dosyasındaki olan nedir",
    "Swedish": "det den en ett och är vad vilken vilket hur många av i för med på till som",
}
"""Frequent words that carry the grammar. Of a language that is not here nothing is said."""
_FEWEST = 2


@lru_cache(maxsize=20_000)
def language(text: str) -> str:
    """The script of `text` where it is not Latin, else its language; empty where too few words tell."""
    words = [word.casefold() for word in _LETTERS.findall(text[:4_000])]
    letters = "".join(words)
    for script, pattern in _SCRIPTS:
        if 5 * len(pattern.findall(letters)) >= len(letters) > 0:
            return "Japanese" if _SCRIPTS[1][1].search(letters) else script
    counts = {name: sum(word in known for word in words) for name, known in _known().items()}
    best = max(counts, key=lambda name: counts[name])
    if counts[best] < _FEWEST or sum(count == counts[best] for count in counts.values()) > 1:
        return ""
    return best


def comparable(one: str, other: str) -> bool:
    """Whether texts of these languages share words where they share a meaning; of an unknown one it is assumed."""
    return not one or not other or one == other


@lru_cache(maxsize=1)
def _known() -> dict[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()}
