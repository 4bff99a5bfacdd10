"""The dependencies that a tool of others forgot to name, inferred from what it imports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from habilis.contract.contract import ContractError, read_contract
from habilis.contract.examples import with_meta
from habilis.core.parsing import tree_of
from habilis.exchange.surveying import ImportCandidate, Unfit

_AT_HAND = frozenset({"pydantic", "pydantic_core", "typing_extensions", "annotated_types", "typing_inspection"})
"""What every environment of tools holds."""
DISTRIBUTIONS = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "Levenshtein": "levenshtein",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "git": "gitpython",
    "github": "pygithub",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "nacl": "pynacl",
    "pdfminer": "pdfminer.six",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "ruamel": "ruamel.yaml",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "speech_recognition": "speechrecognition",
    "usb": "pyusb",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
"""Distributions by the name that is imported, where the two differ."""


def with_dependencies(thing: ImportCandidate | Unfit) -> ImportCandidate | Unfit:
    """`thing` with the dependencies that its imports ask for and it does not name, and a note of them. One of ours,
    with a manifest of its own, stays as it is; so does what cannot be read."""
    if isinstance(thing, Unfit) or thing.manifest is not None:
        return thing
    try:
        source = thing.source.decode("utf-8")
        named = read_contract(source).requirements
    except (UnicodeDecodeError, ContractError):
        return thing
    missing = missing_from(source, named)
    if not missing:
        return thing
    whole = with_meta(source, "dependencies", repr([*named, *missing]))
    notes = (*thing.notes, f"dependencies inferred from its imports: {', '.join(missing)}")
    return replace(thing, source=whole.encode("utf-8"), notes=notes)


def missing_from(source: str, named: tuple[str, ...]) -> list[str]:
    """Distributions that `source` imports from and `named` requirements do not hold. An import that the tool can do
    without (within a `try` that catches its failure) is none."""
    known = {canonicalize_name(Requirement(text).name) for text in named}
    found: dict[str, None] = {}
    for module in sorted(set(_imported(tree_of(source)))):
        name = canonicalize_name(DISTRIBUTIONS.get(module, module))
        if module not in sys.stdlib_module_names and module not in _AT_HAND and name not in known:
            found[name] = None
    return list(found)


def _imported(node: ast.AST | None) -> Iterator[str]:
    """The first words of all modules that are imported by name."""
    if isinstance(node, ast.Import):
        yield from (one.name.partition(".")[0] for one in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
        yield node.module.partition(".")[0]
    children = list(ast.iter_child_nodes(node)) if node is not None else []
    if isinstance(node, ast.Try) and any(_catches(handler) for handler in node.handlers):
        children = [one for one in children if one not in node.body]
    for child in children:
        yield from _imported(child)


def _catches(handler: ast.ExceptHandler) -> bool:
    """Whether a failed import ends here."""
    said = {word.id for word in ast.walk(handler.type) if isinstance(word, ast.Name)} if handler.type else {"Exception"}
    return bool(said & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
