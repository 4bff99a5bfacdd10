"""Encodings and hashes: base64, hex, percent-encoding and rot13 of a text, digests of a text or a file."""

from __future__ import annotations

import re

from habilis.demo.operations import Example, Operation, Slot, worded
from habilis.demo.world import MARK, Call, World

TEXT = Slot("text", "string", "the text, as UTF-8 where bytes are meant", ("text", "plain_text", "content"))
CODED = Slot("text", "string", "the encoded text", ("encoded", "encoded_text", "code"))
PATH = Slot("path", "string", "path of the file", ("file_path", "path", "filename"))
ENCODED = Slot("result", "string", "the result", ("result", "encoded_result", "output"))
DECODED = Slot("result", "string", "the plain text", ("decoded_text", "plain_text", "result"))
DIGEST = Slot("digest", "string", "the digest in lower-case hexadecimal digits", ("digest", "hash", "checksum"))

_SCHEMES: dict[str, tuple[str, str, str, str, str]] = {
    # scheme: how questions call it, its name, its mark, encoding a `text`, decoding one without a fault
    "base64": (
        r"base[ -]?64", "Base64", "base64", "base64.b64encode(text.encode()).decode()",
        "base64.b64decode(text, validate=True).decode('ascii')",
    ),
    "hex": (
        r"hex(?:adecimal)?", "hexadecimal", "hexadecimal", "text.encode().hex()", "bytes.fromhex(text).decode('ascii')",
    ),
    "url": (
        r"(?:url|uri|percent)", "percent (URL)", "percent", "urllib.parse.quote(text, safe='')",
        "urllib.parse.unquote_to_bytes(text).decode('ascii')",
    ),
    "rot13": (r"rot[ -]?13", "rot13", "rot13", "text.translate(ROT13)", "text.translate(ROT13)"),
}  # fmt: skip
_DECODE_ANY = {
    "base64": "base64.urlsafe_b64decode(padded(text)).decode()",
    "hex": "bytes.fromhex(re.sub(r'0x|[:,;-]', ' ', text)).decode()",
    "url": "urllib.parse.unquote_to_bytes(text).decode()",
    "rot13": "text.translate(ROT13)",
}
_ALGORITHMS = {
    "md5": r"md[ -]?5",
    "sha1": r"sha[ -]?1",
    "sha256": r"sha[ -]?(?:2[- ])?256",
    "sha512": r"sha[ -]?512",
    "crc32": r"crc[ -]?32",
}


def _encoder(scheme: str) -> Operation:
    _, said, mark, encode, _ = _SCHEMES[scheme]
    output = ENCODED
    return Operation(
        key=f"{scheme}_encode",
        description="{word} a text in " + said + " encoding.",
        inputs=(TEXT,),
        output=output,
        wordings=worded(
            (TEXT, output),
            ("convert", f"convert_text_to_{scheme}", "Encodes"),
            ("", f"encode_text_as_{scheme}", "Encodes"),
            ("", f"{scheme}_encode_text", "Encodes"),
        ),
        marks=(mark, "encodes"),
        bars="decodes",
        example=Example({"text": "port"}),
        finding=f'"{{text}}" in {said} encoding is {{value}}',
        naive="encode_text",
        robust="encode_text",
        fill={"compute": encode},
    )


def _decoder(scheme: str) -> Operation:
    _, said, mark, _, strict = _SCHEMES[scheme]
    return Operation(
        key=f"{scheme}_decode",
        description="{word} a text from " + said + " encoding.",
        inputs=(CODED,),
        output=DECODED,
        wordings=worded(
            (CODED, DECODED),
            ("convert", f"turn_{scheme}_into_text", "Decodes"),
            ("", f"decode_{scheme}_text", "Decodes"),
            ("", f"{scheme}_decode", "Decodes"),
        ),
        marks=(mark, "decodes"),
        example=Example(
            {"text": {"base64": "cG9ydA==", "hex": "706f7274", "url": "a%20port", "rot13": "cbeg"}[scheme]}
        ),
        finding=f'{{text}} from {said} encoding is "{{value}}"',
        naive="decode_text_naive",
        robust="decode_text_robust",
        fill={"compute": strict, "compute_any": _DECODE_ANY[scheme]},
    )


def _hasher(algorithm: str, of_file: bool) -> Operation:
    said = "CRC-32 checksum" if algorithm == "crc32" else f"{algorithm.upper()} hash"
    what, slot = ("file", PATH) if of_file else ("text", TEXT)
    compute = 'f"{zlib.crc32(data):08x}"' if algorithm == "crc32" else f"hashlib.{algorithm}(data).hexdigest()"
    return Operation(
        key=f"{algorithm}_of_{what}",
        description=f"{{word}} of {'the bytes of a file' if of_file else 'a text'}, {said}.",
        inputs=(slot,),
        output=DIGEST,
        wordings=worded(
            (slot, DIGEST),
            ("checksum", f"compute_{algorithm}_checksum_of_{what}", "Digest"),
            ("", f"hash_{what}_with_{algorithm}", "Digest"),
            ("", f"{algorithm}_digest_of_{what}", "Digest"),
        ),
        marks=(said.lower(), "of a text" if not of_file else "bytes of a file"),
        example=Example({"path": "small.txt"}, {"small.txt": "port"}) if of_file else Example({"text": "port"}),
        finding=f"the {said} of {{path}} is {{value}}" if of_file else f'the {said} of "{{text}}" is {{value}}',
        naive=f"hash_{what}",
        robust=f"hash_{what}",
        effects="reads" if of_file else "pure",
        fill={"compute": compute},
    )


ENCODERS = {scheme: _encoder(scheme) for scheme in _SCHEMES}
DECODERS = {scheme: _decoder(scheme) for scheme in _SCHEMES}
HASHERS = {(name, of_file): _hasher(name, of_file) for name in _ALGORITHMS for of_file in (False, True)}

_QUOTED = r"(?:\"(?P<a>[^\"]+)\"|'(?P<b>[^']+)'|`(?P<c>[^`]+)`)"
_NOUN = r"(?:(?:the )?(?:encoded |following )?(?:text|string|word|phrase|message|sentence|bytes|code) )?"
_VALUE = rf"{_NOUN}(?:{_QUOTED}|(?P<d>[^\s\"'`]+))"
_SAID = rf"{_NOUN}{_QUOTED}"
"""A value that must be quoted: without the name of a scheme right before it, a bare word could be anything."""

_NO_VALUE = r"it|this|that|them|these|those|text|string|word|phrase|message|sentence|bytes|code|file|content|contents"
"""Words that mean something else than themselves, unless they are quoted."""


class Codes:
    """Family of encodings and hashes. What is to be encoded stands in the question, quoted or as one word."""

    operations = (*ENCODERS.values(), *DECODERS.values(), *HASHERS.values())

    def read(self, phrase: str, world: World) -> Call | None:
        return _hash(phrase, world) or _decode(phrase) or _encode(phrase)


def _hash(phrase: str, world: World) -> Call | None:
    for name, said in _ALGORITHMS.items():
        kind = rf"{said}(?:[ -](?:hash|digest|checksum|check ?sum|sum|fingerprint|value))?"
        kind = rf"(?:{kind}|(?:hash|digest|checksum|fingerprint) \(?{said}\)?)"
        for form in (
            rf"(?:hex(?:adecimal)? )?{kind} (?:of|for) (?:the )?(?:contents? of |bytes of )?(?:file )?{_VALUE}",
            rf"(?:hash|digest) {_VALUE} (?:with|using|by) {kind}",
            rf"{_SAID} hashed (?:with|by|using) {kind}",
            rf"(?:hash|checksum|digest|fingerprint) of {_VALUE} (?:with|using|in|by) {kind}",
            rf"{kind} {_SAID}",
        ):
            match = re.fullmatch(form, phrase, re.I)
            if match and match.groupdict().get("d") and re.fullmatch(rf"{MARK}[0-9]+", match["d"]):
                return Call(HASHERS[name, True], {"path": world.mentioned(int(match["d"].removeprefix(MARK))).named})
            if match and MARK not in (value := _value(match)):
                return Call(HASHERS[name, False], {"text": value})
    return None


def _decode(phrase: str) -> Call | None:
    for scheme, (said, *_) in _SCHEMES.items():
        for form in (
            rf"{said}[ -]decode {_VALUE}",
            rf"decode (?:the )?{said}(?:[ -]encoded)? {_VALUE}",
            rf"decode {_VALUE},? (?:from|with|as|using|in|which is|that is) {said}(?: encod(?:ed|ing))?",
            rf"(?:plain )?(?:text|message|string|word) (?:behind|of|in|for) (?:the )?{said}(?:[ -]encoded)? {_VALUE}",
            rf"what does (?:the )?{said}(?:[ -]encoded)? {_VALUE} (?:decode to|say|mean|stand for|read)",
            rf"(?:the )?{said}(?:[ -]encoded)? {_SAID} decoded",
            rf"{_SAID} decoded from {said}",
            rf"convert (?:the )?{said}(?:[ -]encoded)? {_VALUE} (?:in)?to (?:plain )?text",
        ):
            match = re.fullmatch(form, phrase, re.I)
            if match and MARK not in (value := _value(match)):
                return Call(DECODERS[scheme], {"text": value})
    return None


def _encode(phrase: str) -> Call | None:
    for scheme, (said, *_) in _SCHEMES.items():
        for form in (
            rf"{said}[ -]encode {_VALUE}",
            rf"{said}[ -](?:encoding|encoded form|encoded version|form) of {_SAID}",
            rf"encode {_VALUE} (?:in|as|to|into|with|using|by) {said}(?: encoding)?",
            rf"(?:convert|turn|translate|write|express) {_SAID} (?:into|to|in|as) {said}(?: encoding)?",
            rf"{_SAID} (?:encoded )?(?:in|as|with) {said}(?: encoding)?",
            rf"{_SAID} {said}[ -]encoded",
            *((rf"(?:apply )?rot[ -]?13 (?:of|to|for) {_VALUE}",) if scheme == "rot13" else ()),
        ):
            match = re.fullmatch(form, phrase, re.I)
            bare_number = scheme == "hex" and match and re.fullmatch("[0-9]+", _value(match))
            if bare_number and not re.search(r"\b(?:encod|text|string|word)", phrase, re.I):
                continue  # more likely a number that is to be written in another base
            if match and MARK not in (value := _value(match)):
                return Call(ENCODERS[scheme], {"text": value})
    return None


def _value(match: re.Match[str]) -> str:
    """What is to be encoded; the mark of a file where the text does not stand in the question."""
    found = match.groupdict()
    value = next(found[key] for key in "abcd" if found.get(key))
    return MARK if found.get("d") and re.fullmatch(_NO_VALUE, value, re.I) else value
