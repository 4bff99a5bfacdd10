"""What a tool needs, read from its source, and from what its first run was refused. It asks for no more than it sees:
a host that nothing names is asked for by nobody, and said to be unknown."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator

from habilis.contract.bindings import Bindings, Code
from habilis.contract.capabilities import OURS, Capabilities, inside
from habilis.contract.hosts import HostGrant
from habilis.core.types import CallOutcome


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NETWORK_MODULES = _words(
    "requests httpx aiohttp urllib3 urllib.request http.client socket ssl ftplib smtplib imaplib poplib telnetlib "
    "nntplib xmlrpc.client websocket websockets paramiko pycurl treq grpc boto3 botocore feedparser wikipedia "
    "yfinance arxiv openai anthropic selenium playwright scrapy mechanize cloudscraper requests_html "
    "googleapiclient tweepy praw pytube yt_dlp"
)
OF_OTHER_USE = _words("socket ssl")
"""Those that are of use without one as well."""
_SOCKETS = _words("socket.socket socket.create_connection socket.getaddrinfo socket.gethostbyname")
_FETCHING = _words(
    "read_csv read_html read_json read_table read_excel read_parquet read_xml read_fwf urlopen urlretrieve"
)
_CONNECTING = _words("create_connection connect HTTPConnection HTTPSConnection SMTP SMTP_SSL FTP IMAP4_SSL")
_READING = _words(
    "open Path PurePath listdir scandir walk exists isfile isdir getsize stat glob iglob ZipFile read_text "
    "read_bytes read_csv read_json read_table read_excel read_parquet loadtxt genfromtxt"
)
_PROGRAMS = re.compile(
    r"(?:subprocess|pty|pexpect|sh|plumbum|pytesseract|pdf2image|tabula|pydub|moviepy|ffmpeg|git)(?:\..*)?|os\.(?:system|popen|exec\w+|spawn\w+|posix_spawnp?|startfile)"
    r"|asyncio\.create_subprocess_\w+"
)
NO_PROGRAM = "a tool starts programs only with the capability subprocess"
"""What a call is told that tried to start one (see `sandbox/guest.py`)."""
_ADDRESS = re.compile(r"(?:https?|wss?|ftps?)://[^\s/?#\"'<>{}]+", re.IGNORECASE)
_NAMESPACES = ("w3.org", "schemas.xmlsoap.org", "schemas.openxmlformats.org", "json-schema.org", "purl.org")
"""Hosts whose addresses are names of vocabularies, which nobody fetches."""
_GIVEN_NAMES = _words("PATH HOME TMPDIR USER LOGNAME LANG")
_ASKING = ("os.getenv", "os.environ.get", "os.environ.pop")
_GIVEN_PATHS = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/tmp", "/dev", "/proc", "/sys")
_MISSING_NAME = re.compile(r"^KeyError: '([A-Z][A-Z0-9_]{1,99})'")


def inferred(code: Code) -> Capabilities:
    """The needs that a tool's source shows."""
    found, nodes = code.bindings, code.nodes
    names = {*found.modules, *_dotted(nodes, found)}
    online = any(is_network(name) for name in found.modules if name not in OF_OTHER_USE) or bool(_SOCKETS & names)
    hosts = tuple(dict.fromkeys([*(_addresses(nodes) if online else ()), *_hosts_of_calls(nodes, found)]))
    needed, optional = _variables(nodes, found)
    return Capabilities(
        network=hosts,
        read=tuple(dict.fromkeys(_paths(nodes, found))),
        env=tuple(dict.fromkeys([*needed, *optional])),
        subprocess=any(_PROGRAMS.fullmatch(name) for name in names),
        unknown_host=online and not hosts,
        optional=tuple(name for name in dict.fromkeys(optional) if name not in needed),
    )


def refused_in(outcome: CallOutcome, arguments: object) -> Capabilities:
    """The needs that a run shows by what it was refused: hosts that the door named, a missing variable, a path,
    programs.

    A path that its arguments name is no need of the tool, but a file that the call should have been given.
    """
    refused = [reason.partition(": ")[0] for reason in outcome.refused]
    hosts = [name.removeprefix("network ") for name in refused if name.startswith("network ")]
    names, paths = [], []
    error = outcome.error
    if error is not None and error.exception == "KeyError" and "environ" in error.message:
        names = [name for name in _MISSING_NAME.findall(error.message) if _is_askable(name)]
    if error is not None and error.kind == "denied" and error.missing_file and _is_foreign(error.missing_file):
        paths = [error.missing_file] if error.missing_file not in str(arguments) else []
    programs = error is not None and error.kind == "denied" and error.message.startswith(NO_PROGRAM)
    return Capabilities(
        network=tuple(_known(hosts)),
        env=tuple(names),
        read=tuple(map(os.path.normpath, paths)),
        subprocess=programs,
    )


def is_network(module: str) -> bool:
    """Whether a module is of use with a network alone."""
    return module in NETWORK_MODULES or module.split(".")[0] in NETWORK_MODULES


def _dotted(nodes: Iterable[ast.AST], found: Bindings) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and (name := found.dotted(node)):
            yield name


def _addresses(nodes: Iterable[ast.AST]) -> list[str]:
    """Hosts of the addresses that stand in texts, those with holes in them (f-strings) too."""
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    found = [match for text in texts for match in _ADDRESS.findall(text)]
    return _known(
        address for address in found if not address.endswith(":")
    )  # a port that is filled in: not all is known


def _hosts_of_calls(nodes: Iterable[ast.AST], found: Bindings) -> list[str]:
    """Hosts that calls are given: the address of a table to read, the name to connect to."""
    names: list[str] = []
    for node in nodes:
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = _called(node, found)
        first = node.args[0]
        if called in _CONNECTING and isinstance(first, ast.Tuple) and first.elts:
            first = first.elts[0]
        text = found.text(first)
        if text and (called in _CONNECTING or (called in _FETCHING and _ADDRESS.match(text))):
            names.append(text)
    return _known(names)


def _known(hosts: Iterable[str]) -> list[str]:
    """Hosts in normal form, without those that cannot be any and those that are only names."""
    good = []
    for host in hosts:
        try:
            pattern = str(HostGrant.meant(host.rstrip(".,;:)")))
        except ValueError:
            continue
        name = pattern.partition(":")[0]
        vocabulary = any(name == known or name.endswith(f".{known}") for known in _NAMESPACES)
        if "." in name and not vocabulary:
            good.append(pattern)
    return good


def _variables(nodes: Iterable[ast.AST], found: Bindings) -> tuple[list[str], list[str]]:
    """Names of environment variables: those it fails without, and those it asks for politely."""
    needed, optional = [], []
    for node in nodes:
        if isinstance(node, ast.Subscript) and found.dotted(node.value) == "os.environ":
            needed.append(found.text(node.slice))
        elif isinstance(node, ast.Call) and node.args and found.dotted(node.func) in _ASKING:
            optional.append(found.text(node.args[0]))
    return [n for n in needed if n and _is_askable(n)], [n for n in optional if n and _is_askable(n)]


def _is_askable(name: str) -> bool:
    return name.isidentifier() and name.isascii() and name not in _GIVEN_NAMES and not OURS.match(name)


def _paths(nodes: Iterable[ast.AST], found: Bindings) -> Iterator[str]:
    """Absolute paths that calls which read are given as they stand."""
    for node in nodes:
        if isinstance(node, ast.Call) and node.args:
            called = _called(node, found)
            text = found.text(node.args[0])
            if called in _READING and text and _is_foreign(text) and not _writes(node, found):
                yield os.path.normpath(text)


def _is_foreign(path: str) -> bool:
    """Whether a path is absolute, whole, and none that every tool may read."""
    plain = path.startswith("/") and "\0" not in path and not set("*?{}") & set(path) and len(path) < 4_096
    normal = os.path.normpath(path)
    return plain and normal.strip("/") != "" and not any(inside(normal, folder) for folder in _GIVEN_PATHS)


def _called(call: ast.Call, found: Bindings) -> str:
    """The last part of the name that is called."""
    name = found.dotted(call.func) or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
    return name.rpartition(".")[2]


def _writes(call: ast.Call, found: Bindings) -> bool:
    modes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    return any(set(found.text(mode) or "") & set("wax+") for mode in modes)
