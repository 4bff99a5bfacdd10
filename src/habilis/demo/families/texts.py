"""The text of a file: words, lines, characters, frequent words, the longest line, occurrences of a word."""

from __future__ import annotations

import re
from typing import Any

from habilis.demo.language import whole
from habilis.demo.operations import Example, Operation, Slot, SlotType, Wording
from habilis.demo.world import MARK, Call, View, World

PATH = Slot("path", "string", "path of the text file", ("file_path", "text_path", "path", "document_path"))
COUNT = Slot("n", "integer", "how many words to list", ("count", "top_n", "n", "limit"))
WORD = Slot("word", "string", "the word or phrase to look for", ("word", "search_term", "phrase"))
SMALL = "one two two\nthree three three words\nend\n"


def _of_text(
    key: str, word: str, result: SlotType, names: tuple[tuple[str, str], ...], marks: tuple[str, ...], finding: str,
    bars: str = "", more: tuple[Slot, ...] = (), example: tuple[tuple[str, Any], ...] = (),
) -> Operation:  # fmt: skip
    """An operation on one text file. `names`: wording → tool name; each later wording calls its fields otherwise."""
    return Operation(
        key=key,
        description="{word} of a text file.",
        inputs=(PATH, *more),
        output=Slot("result", result, "what was found", (key, "result", "answer")),
        wordings=tuple(
            Wording(when, name, word, {
                "path": PATH.names[i % 3], "result": (key, "result")[i % 2], **{s.role: s.names[i % 3] for s in more},
            })
            for i, (when, name) in enumerate(names)
        ),
        marks=(*marks, "text|document"),
        bars=f"csv|json|column|{bars}".rstrip("|"),
        example=Example({"path": "small.txt", **dict(example)}, {"small.txt": SMALL}),
        finding=finding,
        naive=f"{key}_naive",
        robust=f"{key}_robust",
        effects="reads",
    )  # fmt: skip


WORDS = _of_text(
    "word_count", "Number of words", "integer",
    (("number of", "get_number_of_words"), ("word count", "compute_word_count"), ("", "count_words_in_text")),
    ("number of words|word count|count words",), "{path} has {value} words", "distinct|unique|frequent|occurrence",
)  # fmt: skip
DISTINCT = _of_text(
    "distinct_word_count", "Number of distinct words, upper and lower case taken together,", "integer",
    (("unique", "count_unique_words_in_text"), ("", "count_distinct_words_in_text")),
    ("distinct words|unique words",), "{path} has {value} distinct words",
)  # fmt: skip
LINES = _of_text(
    "line_count", "Number of lines", "integer",
    (("number of", "get_number_of_lines"), ("", "count_lines_in_text")), ("number of lines|line count|count lines",),
    "{path} has {value} lines", "longest",
)  # fmt: skip
CHARACTERS = _of_text(
    "character_count", "Number of characters, spaces and line ends included,", "integer",
    (("number of", "get_number_of_characters"), ("", "count_characters_in_text")), ("characters",),
    "{path} has {value} characters", "longest",
)  # fmt: skip
TOP = _of_text(
    "top_words", "Most frequent words, the most frequent first, with their counts,", "object",
    (("common", "list_most_common_words"), ("top", "list_top_words"), ("", "find_most_frequent_words")),
    ("most frequent words|most common words|top words",), "the most frequent words in {path} are: {value}",
    more=(COUNT,), example=(("n", 2),),
)  # fmt: skip
LONGEST_LINE = _of_text(
    "longest_line", "Longest line", "string",
    (("", "find_longest_line"),), ("longest line",), 'the longest line of {path} is "{value}"',
)  # fmt: skip
LONGEST_WORD = _of_text(
    "longest_word", "Longest word", "string",
    (("", "find_longest_word"),), ("longest word",), 'the longest word of {path} is "{value}"',
)  # fmt: skip
OCCURRENCES = _of_text(
    "occurrences", "Number of occurrences of a word or phrase, in any case, in the text", "integer",
    (("how often", "count_word_frequency"), ("occurrences", "count_occurrences_of_word"), ("", "count_word_in_text")),
    ("occurrences",), "{path} holds the word {word} {value} times",
    more=(WORD,), example=(("word", "three"),),
)  # fmt: skip

_WORD = r"(?:the )?(?:word|term|phrase|string|text)? ?(?:\"(?P<q>[^\"]+)\"|'(?P<s>[^']+)'|(?P<w>[\w'-]+))"
_MOST = r"(?:most (?:frequent|common|used|frequently used|commonly used|often used))"
_FORMS: tuple[tuple[str, Operation], ...] = (
    (r"how many words(?: are there| are| is)?(?: in total)?", WORDS),
    (r"how many (?:distinct|unique|different) words(?: are there| are)?", DISTINCT),
    (r"how many (?:text )?lines(?: of text)?(?: are there| are)?(?: in total)?", LINES),
    (r"how many (?:characters|chars)(?: are there| are)?(?: in total)?", CHARACTERS),
    (rf"how (?:many times|often) (?:does|do|is|did) {_WORD} (?:appear|occur|used|mentioned|show up|come"
     rf" up|found)", OCCURRENCES),
    (rf"how many (?:occurrences|instances|mentions) of {_WORD}(?: are there| are)?", OCCURRENCES),
    (rf"how many times {_WORD} (?:appears|occurs|is used|is mentioned)", OCCURRENCES),
    (rf"(?:top )?(?:(?P<n>\w+) )?{_MOST} words?", TOP),
    (rf"top (?P<n>\w+) (?:{_MOST} )?words?(?: by frequency)?", TOP),
    (rf"(?:which|what) word (?:is|occurs|appears|is used) (?:the )?(?:most"
     rf"(?: often| frequently| frequent| common)?|{_MOST})", TOP),
    (r"(?:which|what)(?: are)?(?: the)? (?P<n>\w+) words (?:are|occur|appear|are used) (?:the )?(?:most"
     r"(?: often| frequently| frequent| common)?)", TOP),
    (r"(?:length of (?:the )?|how long is (?:the )?)?longest line", LONGEST_LINE),
    (r"(?:which|what) line is (?:the )?longest", LONGEST_LINE),
    (r"(?:length of (?:the )?|how long is (?:the )?)?longest word", LONGEST_WORD),
    (r"(?:which|what) word is (?:the )?longest", LONGEST_WORD),
)  # fmt: skip


class Texts:
    """Family of questions about the text of one file, of any ending."""

    operations = (WORDS, DISTINCT, LINES, CHARACTERS, TOP, LONGEST_LINE, LONGEST_WORD, OCCURRENCES)

    def read(self, phrase: str, world: World) -> Call | None:
        if not re.search(
            r"\b(?:words?|lines?|characters?|chars|char|times|often|occurrences|instances|mentions)\b", phrase, re.I
        ):
            return None
        bare = _canonical(" ".join(re.sub(rf"(?:(?:in|of|from|within) )?{MARK}[0-9]+", "", phrase).split()))
        for pattern, operation in _FORMS:
            match = re.fullmatch(pattern, bare, re.IGNORECASE)
            values = _values(operation, match) if match else None
            if values is None:
                continue
            taken = world.take_file(phrase)
            return Call(operation, {"path": taken[1].named, **values}, _view(operation, bare)) if taken else None
        return None


def _canonical(text: str) -> str:
    """The many ways to ask for a count as one: "how many …"."""
    text = re.sub(r"^(?:the )?(?:total )?number of |^count (?:of )?(?:the |all )*", "how many ", text, flags=re.I)
    text = re.sub(r"^(?:the )?(?:total )?(word|line|character) count(?: for)?$", r"how many \1s", text, flags=re.I)
    return re.sub(r"^how many the ", "how many ", text, flags=re.I)


def _view(operation: Operation, text: str) -> View:
    if operation is TOP:
        return "names"
    return "length" if re.match("how long|length of", text, re.I) else "value"


def _values(operation: Operation, match: re.Match[str]) -> dict[str, Any] | None:
    found = match.groupdict()
    if operation is TOP:
        plural = match[0].lower().endswith("words") or "words" in match[0].lower()
        n = whole(found["n"]) if found.get("n") else (5 if plural else 1)
        return {"n": n} if n and n <= 1000 else None
    if operation is OCCURRENCES:
        return {"word": found.get("q") or found.get("s") or found.get("w")}
    return {}
