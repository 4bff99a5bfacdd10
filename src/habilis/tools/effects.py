"""What a tool's source shows of its effects: `pure`, `reads` or `writes`. Read from the syntax tree, nothing is run.

Conservative on purpose: what cannot be told counts as the stronger effect. The answer decides whether a repeated
call may be answered from the record (`pure` alone), and whether calls may run side by side (all but `writes`).
"""

from __future__ import annotations

import ast

from habilis.core.types import Effects

_ORDER: tuple[Effects, ...] = ("pure", "reads", "writes")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules whose use alone depends on nothing outside the arguments. A module that is not listed counts as `reads`.
_PURE_MODULES = _words(
    "__future__ abc array base64 binascii bisect calendar cmath collections colorsys contextlib copy csv dataclasses "
    "datetime decimal difflib enum fractions functools graphlib hashlib heapq html io ipaddress itertools json keyword "
    "logging math numbers operator pathlib pydantic re statistics string struct sys textwrap traceback types typing "
    "ast typing_extensions unicodedata warnings zlib zoneinfo"
)
_PURE_SUBMODULES = frozenset({"urllib.parse", "xml.sax.saxutils", "os.path"})
# Modules that start programs, run code that cannot be seen here, or send.
_WRITING_MODULES = _words(
    "ctypes dbm ftplib importlib multiprocessing pty runpy shelve shutil smtplib sqlite3 subprocess tempfile"
)
_WRITING_CALLS = _words(
    "chmod chown copy2 copyfile copytree exec eval compile __import__ execv execve extractall fork hardlink_to "
    "makedirs mkdir mkfifo move patch post put remove removedirs rename_to rmdir rmtree savefig spawn symlink "
    "symlink_to system popen to_excel to_json to_parquet to_sql touch truncate unlink utime write_bytes write_text "
    "imsave sendall delete"
)
# Methods that write only when they are given somewhere to write to (`DataFrame.to_csv()` returns text).
_WRITING_WITH_ARGUMENTS = frozenset({"to_csv", "to_html", "to_markdown", "save"})
_READING_CALLS = _words(
    "exists glob input is_dir is_file iterdir listdir lstat now read_bytes read_text rglob scandir stat today urlopen "
    "urlretrieve utcnow walk"
)
# Names that look like one of the above but are methods of plain values when called on them.
_HARMLESS_RECEIVERS = frozenset({"re", "copy"})


def stronger(one: Effects, other: Effects) -> Effects:
    """The stronger of two effects: `writes` over `reads` over `pure`."""
    return max(one, other, key=_ORDER.index)


def infer_effects(tree: ast.Module) -> Effects:
    """The strongest effect that the source of a tool shows or may have."""
    found: Effects = "pure"
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found = stronger(found, _of_module(alias.name))
        elif isinstance(node, ast.ImportFrom):
            found = stronger(found, _of_import_from(node))
        elif isinstance(node, ast.Call):
            found = stronger(found, _of_call(node))
    return found


def _of_module(name: str) -> Effects:
    top = name.split(".")[0]
    if top in _WRITING_MODULES:
        return "writes"
    return "pure" if top in _PURE_MODULES or name in _PURE_SUBMODULES else "reads"


def _of_import_from(node: ast.ImportFrom) -> Effects:
    module = node.module or ""
    if module in _PURE_SUBMODULES:
        return "pure"
    effects = _of_module(module)
    if any(alias.name in _WRITING_CALLS for alias in node.names) and effects != "pure":
        return "writes"
    return effects


def _of_call(node: ast.Call) -> Effects:
    if isinstance(node.func, ast.Name):
        name, receiver = node.func.id, None
    elif isinstance(node.func, ast.Attribute):
        name, receiver = node.func.attr, node.func.value
    else:
        return "pure"
    if name == "open":
        return _of_open(node, is_method=receiver is not None)
    if isinstance(receiver, ast.Name) and receiver.id in _HARMLESS_RECEIVERS:
        return "pure"
    if name in ("rename", "replace") and receiver is not None:
        # Path.rename(target) takes one argument, str.replace two, DataFrame.rename keywords.
        return "writes" if len(node.args) == 1 and not node.keywords else "pure"
    if name in ("remove", "delete", "put", "touch", "move", "post", "patch", "exec", "compile"):
        return _of_ambiguous(name, receiver)
    if name in _WRITING_CALLS:
        return "writes"
    if name in _WRITING_WITH_ARGUMENTS and (node.args or node.keywords):
        return "writes"
    if name in _READING_CALLS or name.startswith("read_"):
        return "reads"
    return "pure"


def _of_ambiguous(name: str, receiver: ast.expr | None) -> Effects:
    """`items.remove(x)` is a list's method, `os.remove(x)` and `requests.post(x)` are not."""
    if receiver is None:
        return "writes"
    if name in ("remove", "move"):
        return "writes" if isinstance(receiver, ast.Name) and receiver.id in ("os", "shutil") else "pure"
    return "writes"


def _of_open(node: ast.Call, *, is_method: bool) -> Effects:
    """`open` with a mode that is not plainly for reading counts as writing."""
    keyword = next((k.value for k in node.keywords if k.arg == "mode"), None)
    candidates = [keyword] if keyword is not None else list(node.args[:2] if is_method else node.args[1:2])
    if any(k.arg is None for k in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
        return "writes"
    for position, value in enumerate(candidates):
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            if set(value.value) <= set("rwaxbt+U") and set(value.value) & set("wax+"):
                return "writes"
        elif keyword is not None or not is_method or position == 1:
            return "writes"
    return "reads"
