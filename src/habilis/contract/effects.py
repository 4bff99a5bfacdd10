"""What a tool's source shows of its effects: `pure`, `reads` or `writes`. Read from the syntax tree, nothing is run.

Conservative on purpose: what cannot be told counts as the stronger effect, and a mere mention counts like a call. The
answer decides whether a call may be answered from the record instead of run (`pure` alone), run again after a kill or
a refusal, and beside others (all but `writes`). The clock, chance and the network are never pure.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence

from habilis.contract.bindings import Bindings, Code
from habilis.contract.inference import is_network
from habilis.contract.known_calls import known
from habilis.core.types import Effects

_ORDER: tuple[Effects, ...] = ("pure", "reads", "writes")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules whose use alone depends on nothing outside the arguments. A module that is not listed counts as `reads`.
# What is taken out of `os` is judged name by name.
_PURE_MODULES = _words(
    "__future__ abc array base64 binascii bisect calendar cmath collections colorsys contextlib copy csv dataclasses "
    "datetime decimal difflib enum fractions functools graphlib hashlib heapq html io ipaddress itertools json keyword "
    "logging math numbers operator pathlib pydantic re statistics string struct sys textwrap traceback types typing "
    "ast marshal numpy os pandas pickle sqlite3 typing_extensions unicodedata warnings zlib zoneinfo"
)
_PURE_SUBMODULES = _words("urllib.parse xml.sax.saxutils os.path")
_PLAIN_VALUES = _words("math cmath statistics operator decimal fractions string")
"""Modules of functions alone: whatever is taken from them by a name made at run time does nothing."""
# Modules that start programs, run code that cannot be seen here, write, or send.
_WRITING_MODULES = _words(
    "builtins cffi ctypes dbm fileinput ftplib imaplib importlib logging.config logging.handlers multiprocessing "
    "nntplib paramiko poplib pty runpy shelve shutil smtplib socket subprocess telnetlib tempfile websocket "
    "websockets code codeop "
    # the sandbox takes no locks on files, so what relies on them is used by one call at a time
    "aiosqlite apsw duckdb fcntl filelock peewee portalocker sqlalchemy "
    # clients of databases, queues and services, and makers of documents, whose verbs do not tell what they do
    "asyncpg boto3 botocore cassandra discord docker elasticsearch firebase_admin fpdf git github gitlab google.cloud "
    "googleapiclient kafka kubernetes mysql pika pymongo pymysql psycopg psycopg2 redis reportlab slack_sdk stripe "
    "telegram twilio webbrowser xlsxwriter"
)
_WRITING_VERB = re.compile(
    r"(?:write|save|dump|export|upload|publish)(?:_\w+|[A-Z]\w*)?|(?:put|delete|send)_\w+|savemat|to_file"
)
"""How methods of libraries that are not known here are called which write: `tree.write(path)`."""
_OF_TEXT = ("StringIO", "BytesIO")
_OS_PURE = _words(
    "path sep altsep extsep pathsep linesep curdir pardir devnull name fspath fsencode fsdecode PathLike strerror error"
)
_OS_READS = _words(
    "listdir scandir walk fwalk stat lstat fstat access getcwd environ getenv cpu_count process_cpu_count readlink "
    "getpid getuid uname times urandom stat_result DirEntry get_terminal_size sched_getaffinity statvfs R_OK W_OK X_OK "
    "F_OK SEEK_SET SEEK_CUR SEEK_END getlogin"
)
_WRITING_NAMES = _words(
    "eval exec compile __import__ globals __builtins__ breakpoint sys.modules sys.settrace sys.setprofile "
    "sys._getframe sys.meta_path sys.path_hooks sys.addaudithook operator.methodcaller types.FunctionType "
    "types.CodeType types.ModuleType pydantic.ImportString functools.singledispatch.register "
    "pickle.load pickle.loads pickle.Unpickler marshal.load marshal.loads pandas.HDFStore pandas.ExcelWriter"
)
_READING_NAMES = _words(
    "id sys.argv sys.stdin sys.executable sys.path sys.platform sys.version sys.version_info logging.LogRecord "
    "numpy.empty numpy.empty_like numpy.load numpy.loadtxt numpy.genfromtxt numpy.fromfile numpy.fromregex "
    "numpy.DataSource numpy.show_config numpy.show_runtime numpy.test pandas.ExcelFile pandas.show_versions pandas.test"
)
_INTERPRETER = _words(
    "__globals__ __subclasses__ __builtins__ __getattribute__ __loader__ __spec__ __dict__ __code__ __closure__ "
    "__mro__ __bases__ __reduce__ __reduce_ex__ tb_frame f_globals f_builtins f_back gi_frame cr_frame"
)
# Methods that write whatever they belong to; a mention is enough.
_WRITING_METHODS = _words(
    "chmod chown copy2 copyfile copytree execv execve extractall fork hardlink_to lchmod makedirs mkdir mkfifo posix_"
    "spawn removedirs rename_to rmdir rmtree savefig savez savez_compressed savetxt spawn symlink symlink_to system "
    "popen to_excel to_feather to_hdf to_parquet to_pickle to_sql to_stata tofile truncate unlink utime "
    "write_bytes write_text imsave imwrite sendall sendto sendfile sendmail send_message writestr write_image "
    "write_html urlretrieve ImportString FileHandler RotatingFileHandler TimedRotatingFileHandler WatchedFileHandler "
    "touch post patch put delete"
)
# Methods that write only when they are given somewhere to write to.
_WRITING_WITH_ARGUMENTS = _words("to_clipboard save dump_to")
_SENDING = _words("request stream send urlopen Request")
"""Methods of network clients that read or write, as their first argument or `data` says."""
_READING_METHODS = _words(
    "abspath absolute cwd exists expanduser expandvars getatime getctime getmtime getsize glob group home input is_dir "
    "is_file is_mount is_symlink isdir isfile islink iterdir lexists listdir lstat makeRecord now open_code owner "
    "read_bytes read_text "
    "readlink realpath resolve rglob samefile scandir stat today utcnow walk"
)
_OPENING = _words("open FileIO ZipFile TarFile GzipFile BZ2File LZMAFile open_memmap memmap File fdopen")
_READING_MODE = re.compile(r"[rbtU]{1,3}(?::(?:gz|bz2|xz|\*)?)?")


def stronger(one: Effects, other: Effects) -> Effects:
    """The stronger of two effects: `writes` over `reads` over `pure`."""
    return max(one, other, key=_ORDER.index)


def infer_effects(code: Code) -> Effects:
    """The strongest effect that the source of a tool shows or may have."""
    return _Reader(code).effects()


class _Reader:
    """One look through a module. Every expression is judged by what it names, called or not."""

    def __init__(self, code: Code) -> None:
        self._bindings, self._nodes = code.bindings, code.nodes
        self._called = {id(node.func): node for node in self._nodes if isinstance(node, ast.Call)}
        self._held = {id(n.value) for n in self._nodes if isinstance(n, ast.Attribute)}
        self._foreign = any(map(_is_foreign, self._bindings.modules))
        self._own = {n.name for n in self._nodes if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
        self._handles = _handles(self._nodes)
        self._getattr = {id(n.args[0]) for n in self._nodes if self._is_getattr(n) and isinstance(n, ast.Call)}

    def effects(self) -> Effects:
        found: Effects = "pure"
        for node in self._nodes:
            found = stronger(found, self._of(node))
            if found == "writes":
                break
        return found

    def _of(self, node: ast.AST) -> Effects:
        if isinstance(node, ast.Import):
            return max((_of_module(alias.name) for alias in node.names), key=_ORDER.index)
        if isinstance(node, ast.ImportFrom):
            return self._of_import_from(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._of_mention(node)
        if self._is_getattr(node) and isinstance(node, ast.Call):
            return self._of_getattr(node)
        return "pure"

    def _of_import_from(self, node: ast.ImportFrom) -> Effects:
        module = node.module or ""
        found = "pure" if module in _PURE_SUBMODULES else _of_module(module)
        for alias in node.names:
            if alias.name == "*" and (found != "pure" or module == "os"):
                return "writes"
            name = f"{module}.{alias.name}"
            if known(name, None, self._bindings, method=False) is None:  # else its uses tell
                found = stronger(found, self._of_dotted(name, None, mentioned=True))
        return found

    def _of_mention(self, node: ast.Name | ast.Attribute) -> Effects:
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                return "pure"
            if self._bindings.is_module(node) and id(node) not in self._held | self._getattr:
                return self._of_module_as_value(node)
        elif node.attr in _INTERPRETER:
            return "writes"
        call = self._called.get(id(node))
        if isinstance(node, ast.Attribute) and self._writes_by_name(node, call):
            return "writes"
        dotted = self._bindings.dotted(node)
        if dotted is None:  # a method of a value that has no name
            return self._of_method(getattr(node, "attr", ""), call, mentioned=call is None)
        return self._of_dotted(dotted, call, mentioned=call is None, method=isinstance(node, ast.Attribute))

    def _writes_by_name(self, node: ast.Attribute, call: ast.Call | None) -> bool:
        """Whether a method of a library that is not known here is called as those are which write."""
        if not self._foreign or node.attr in self._own or not _WRITING_VERB.fullmatch(node.attr):
            return False
        if isinstance(node.value, ast.Name) and node.value.id in self._handles:
            return False  # a text in memory, or a file whose opening has told
        if (self._bindings.dotted(node) or "").partition(".")[0] in ("sys", "json", "pickle", "csv"):
            return False
        return node.attr != "dump" or call is None or len(call.args) + len(call.keywords) > 1

    def _of_module_as_value(self, node: ast.Name) -> Effects:
        """A module that is put into a variable, passed on, looked into: nobody sees what becomes of it."""
        return "pure" if self._bindings.dotted(node) in _PLAIN_VALUES else "writes"

    def _of_dotted(self, name: str, call: ast.Call | None, *, mentioned: bool, method: bool = True) -> Effects:
        top, _, rest = name.partition(".")
        if name.startswith("numpy.random"):
            return "reads"
        told = known(name, call, self._bindings, method=False)
        if told is not None:
            return told
        if name in _WRITING_NAMES or (name == "vars" and call is not None and not call.args):
            return "writes"
        if name in _READING_NAMES:
            return "reads"
        if top == "os" and rest:
            # `from os.path import getsize as s` and, elsewhere, a value of the tool's own that is called s
            method_too = self._of_method(rest.rpartition(".")[2], call, mentioned=mentioned) if "." in rest else "pure"
            return stronger(_of_os(rest), method_too)
        if name in ("re.compile", "copy.copy", "copy.replace"):
            return "pure"
        if not rest and name not in _OPENING and name != "input":
            return "pure"  # a variable or a function of the tool's own
        if name == "logging.basicConfig" and (call is None or any(k.arg in (None, "filename") for k in call.keywords)):
            return "writes"
        return self._of_method(name.rpartition(".")[2], call, mentioned=mentioned and (not method or bool(rest)))

    def _of_method(self, name: str, call: ast.Call | None, *, mentioned: bool) -> Effects:
        told = known(name, call, self._bindings, method=True)
        if told is not None:
            return told
        if name in _OPENING:
            return "writes" if call is None else self._of_open(call)
        if name in _WRITING_METHODS:
            return "writes"
        if name in ("rename", "replace"):
            # Path.rename(target) takes one argument, str.replace two, DataFrame.rename keywords.
            moves = call is not None and len(call.args) == 1 and not call.keywords
            return "writes" if moves or (call is None and name == "rename") else "pure"
        if name in _WRITING_WITH_ARGUMENTS:
            return "writes" if call is None or call.args or call.keywords else "pure"
        if name in _SENDING:
            return self._of_sending(name, call)
        if name == "input" and call is None:
            return "pure"  # the argument of run
        return "reads" if name in _READING_METHODS or name.startswith("read_") else "pure"

    def _of_sending(self, name: str, call: ast.Call | None) -> Effects:
        if call is None:
            return "pure" if name in ("request", "send", "stream") else "writes"
        if any(k.arg in (None, "data", "json", "content", "files", "method") for k in call.keywords):
            return "writes"
        if name in ("urlopen", "Request"):
            return "writes" if len(call.args) > 1 else "reads"
        method = self._bindings.text(call.args[0]) if call.args else None
        if name == "send" and method is None:
            return "writes" if _is_online(self._bindings) else "pure"
        return "reads" if (method or "").upper() in ("GET", "HEAD", "OPTIONS") else "writes"

    def _of_getattr(self, node: ast.Call) -> Effects:
        """`getattr(x, "name")` is a mention of `x.name`; with a name made at run time it may be anything."""
        on = node.args[0]
        name = self._bindings.text(node.args[1]) if len(node.args) > 1 else None
        if name is None:
            known = isinstance(on, ast.Name) and on.id in ("input", "self", "cls")
            return "pure" if known or self._bindings.dotted(on) in _PLAIN_VALUES else "writes"
        if name in _INTERPRETER:
            return "writes"
        call = self._called.get(id(node))
        dotted = self._bindings.dotted(node)
        if dotted is None:
            return self._of_method(name, call, mentioned=call is None)
        return self._of_dotted(dotted, call, mentioned=call is None)

    def _of_open(self, call: ast.Call) -> Effects:
        """`open` with a mode that is not plainly for reading counts as writing."""
        if any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
            return "writes"
        on = call.func.value if isinstance(call.func, ast.Attribute) else None
        of_value = on is not None and not self._bindings.is_imported(on)
        given = [k.value for k in call.keywords if k.arg == "mode"] or call.args[0 if of_value else 1 : 2]
        modes = [self._bindings.text(value) for value in given]
        if of_value and len(modes) == 2:  # a member of an archive, and then how
            modes = modes[1:]
        elif of_value and modes and modes[0] is not None and not set(modes[0]) <= set("rwaxbt+U"):
            modes = []  # a name
        return "reads" if all(mode is not None and _READING_MODE.fullmatch(mode) for mode in modes) else "writes"

    @staticmethod
    def _is_getattr(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr"


def _of_module(name: str) -> Effects:
    top = name.split(".")[0]
    if top in _WRITING_MODULES or name in _WRITING_MODULES:
        return "writes"
    return "pure" if top in _PURE_MODULES or name in _PURE_SUBMODULES else "reads"


def _is_foreign(module: str) -> bool:
    """Whether a module is none that is known here; those for XML write by the same names."""
    top = module.partition(".")[0]
    return top == "xml" or (top not in sys.stdlib_module_names and top not in _PURE_MODULES)


def _handles(nodes: Sequence[ast.AST]) -> set[str]:
    """Names of texts in memory, and of files that are opened here."""
    bound: list[tuple[ast.AST | None, ast.AST]]
    bound = [(node.targets[0], node.value) for node in nodes if isinstance(node, ast.Assign)]
    bound += [(node.optional_vars, node.context_expr) for node in nodes if isinstance(node, ast.withitem)]
    found = set()
    for target, value in bound:
        made = value.func if isinstance(value, ast.Call) else None
        name = made.attr if isinstance(made, ast.Attribute) else made.id if isinstance(made, ast.Name) else ""
        if isinstance(target, ast.Name) and name in (*_OF_TEXT, *_OPENING):
            found.add(target.id)
    return found


def _of_os(rest: str) -> Effects:
    first, _, last = rest.partition(".")
    if first == "path":
        return "reads" if last in _READING_METHODS else "pure"
    if first in _OS_PURE:
        return "pure"
    return "reads" if first in _OS_READS else "writes"


def _is_online(bindings: Bindings) -> bool:
    return any(is_network(name) for name in bindings.modules)
