"""Runs one tool in the sandbox: one request in, one line of JSON out per step, over private descriptors.

Imports the standard library and Pydantic alone. The descriptors' numbers stand in HABILIS_IN and HABILIS_OUT, so the
tool may print, log and read stdin as it likes. Request: `{name, source, packages, steps, arguments, files, workspace,
sealed}` with steps out of `describe` and `call`; `files` are pairs, the path as the task has it and where this machine
has it; `sealed` is a seccomp program in base64 that keeps the tool from starting programs, empty for one that may.
Replies: `{"step": "ready"}` once the sandbox let us start, then per step `{"step", "result"}` or `{"step", "error":
{kind, message, exception, missing_file}}`, the last of a call with `opened` and `written`.
"""

import gc

gc.disable()  # until the tool itself runs: collecting while Pydantic loads finds nothing and takes a tenth of the time

import atexit  # noqa: E402
import importlib  # noqa: E402
import io  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import types  # noqa: E402
from typing import Any  # noqa: E402

MESSAGE_CHARACTERS = 2_000
FRAMES = 6
NAMES, ITEMS, VALUE_CHARACTERS = 4, 8, 120
DEPTH = 100
PROBLEMS = 20
LIMITS = {
    11: " (the limit of processes of a call is reached)",
    12: " (the memory limit of a call is reached)",
    24: " (the limit of open files of a call is reached)",
    27: " (the size limit of one file is reached)",
    28: " (the space that a call may use is full)",
}
NETWORK = ("gaierror", "herror")
NETWORK_NUMBERS = {97, 100, 101, 110, 111, 113}  # no family, network down or unreachable, timed out, refused, no route
NO_DOOR = "no network in the sandbox"
WITH_DOOR = "a tool reaches granted hosts alone, through the HTTP proxy that HTTPS_PROXY names"
NO_PROGRAM = "a tool starts programs only with the capability subprocess"
REFUSED_BY_PROXY = "refused by the sandbox"


class Refusal(Exception):
    """A step's failure, ready to be sent."""

    def __init__(self, kind: str, message: str, exception: "str | None" = None, missing: "str | None" = None) -> None:
        super().__init__(message)
        self.error = {"kind": kind, "message": message, "exception": exception, "missing_file": missing}


class Opened:
    """Notes which task files and workspace files are opened; stands in the interpreter's audit hook."""

    def __init__(self, files: "list[list[str]]", workspace: str) -> None:
        self.read: set[str] = set()
        self.written: set[str] = set()
        roots = [(named, os.path.realpath(place), False) for named, at in files for place in {named, at}]
        roots.append(("", os.path.realpath(workspace), True))
        self._roots = sorted(roots, key=lambda root: len(root[1]), reverse=True)
        self.on = False

    def __call__(self, event: str, arguments: "tuple[Any, ...]") -> None:
        if not self.on or event not in ("open", "sqlite3.connect"):
            return
        self.on = False
        try:
            self._note(event, arguments)
        except Exception:  # what a tool passes to open() is its own affair
            return
        finally:
            self.on = True

    def _note(self, event: str, arguments: "tuple[Any, ...]") -> None:
        path = arguments[0]
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.fsdecode(path)
        if event == "sqlite3.connect" and name.startswith("file:"):
            from urllib.parse import unquote

            name = unquote(name.removeprefix("file:").partition("?")[0])
        real = os.path.realpath(name)
        mode, flags = (arguments[1], arguments[2]) if event == "open" else ("r+", os.O_RDWR)
        writing = any(c in mode for c in "wax+") if isinstance(mode, str) else bool(flags & (os.O_WRONLY | os.O_RDWR))
        reading = not writing or "+" in str(mode)
        for shown, target, ours in self._roots:
            if real != target and not real.startswith(target.rstrip("/") + "/"):
                continue
            name = (shown + real[len(target) :]).removeprefix("" if shown else "/")
            if reading and name not in self.written and (not ours or os.path.exists(real)):  # noqa: PTH110
                self.read.add(name)
            if writing and ours:
                self.written.add(name)
            return


def main() -> None:
    """Read the request and do it, in an interpreter of its own."""
    with os.fdopen(int(os.environ.pop("HABILIS_IN")), "rb") as pipe:
        request = json.loads(pipe.read())
    reply = Reply(int(os.environ.pop("HABILIS_OUT")))
    for path in request["packages"]:
        add_packages(path)
    load_pydantic()
    reply.send({"step": "ready"})  # what fails up to here is no tool's fault
    gc.freeze()
    gc.enable()
    work(request, reply)


def work(request: "dict[str, Any]", reply: "Reply", later: Any = None) -> None:
    """Do the steps of `request`, reply to each, end this process. `later`, if given, is called once the tool is loaded:
    it returns, in the process that is to make the call, its arguments and its own way back."""
    opened = Opened(request.get("files", []), request["workspace"])
    seal(request.get("sealed", ""))
    tool: Any = None
    for step in request["steps"]:
        try:
            if tool is None:
                tool = load(request["name"], request["source"], opened)
                if later is not None:
                    gc.collect()  # now, and not in each process that is split off from this one
                    reply.send({"step": "loaded"})
                    request["arguments"], reply = later()
            result = describe(tool) if step == "describe" else call(tool, request["arguments"], opened)
            frame: dict[str, Any] = {"step": step, "result": result}
        except Refusal as refusal:
            frame = {"step": step, "error": refusal.error}
        opened.on = False
        frame["opened"], frame["written"] = names(opened.read), names(opened.written)
        reply.send(frame)
        if "error" in frame:
            break
    finish(bool(opened.written))


SEALED: "list[bool]" = []
"""Not empty once no program can be started."""


def seal(program: str) -> None:
    """From here on this process, and whatever it makes, starts no program. Raises OSError. Source: seccomp(2)."""
    if not program:
        return
    import binascii
    import ctypes

    code = binascii.a2b_base64(program)
    held = ctypes.create_string_buffer(code, len(code))
    filled = (ctypes.c_uint64 * 2)(len(code) // 8, ctypes.addressof(held))  # a short number, and where they lie
    libc = ctypes.CDLL(None, use_errno=True)
    nothing = [ctypes.c_ulong(0)] * 2
    for option, *values in ((38, 1, 0), (22, 2, ctypes.addressof(filled))):  # no new rights; a filter
        if libc.prctl(option, *map(ctypes.c_ulong, values), *nothing) != 0:
            raise OSError(ctypes.get_errno(), "seccomp")
    SEALED.append(True)


def load_pydantic() -> None:
    """Import Pydantic, but not `importlib.metadata` (a sixth of the time), which it wants to look for plug-ins with.

    Plug-ins are switched off here, so a stand-in that finds none serves it; the tool itself gets the real module.
    """
    if "pydantic" in sys.modules:
        return
    name = "importlib.metadata"
    stand_in = types.ModuleType(name)
    stand_in.entry_points = stand_in.distributions = lambda *_, **__: ()  # type: ignore[attr-defined]
    sys.modules[name] = importlib.metadata = stand_in
    try:
        import pydantic.plugin._loader
    except ImportError:  # a version that is laid out otherwise: it loads what it needs when it needs it
        pass
    finally:
        del sys.modules[name], importlib.metadata
    import pydantic

    pydantic.BaseModel  # noqa: B018 - loaded at its first use


def names(paths: "set[str]") -> "list[str]":
    """File names as text that any JSON reader takes, sorted."""
    return sorted(path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for path in paths)


class Reply:
    """The private way back. A process that the tool forks loses it, so that it cannot answer twice."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor
        os.register_at_fork(after_in_child=self._leave)

    def _leave(self) -> None:
        os.close(self._descriptor)
        self._descriptor = -1

    def send(self, frame: "dict[str, Any]") -> None:
        if self._descriptor < 0:
            os._exit(1)
        view = memoryview(json.dumps(frame, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n")
        while view:
            view = view[os.write(self._descriptor, view) :]


def finish(wrote: bool) -> None:
    """End without the interpreter's slow farewell, but with the tool's exit functions run and its files written."""
    try:
        atexit._run_exitfuncs()
        if wrote:
            for thing in gc.get_objects():
                if isinstance(thing, io.IOBase) and not thing.closed:
                    flush(thing)
        flush(sys.stdout)
        flush(sys.stderr)
    finally:
        os._exit(0)


def flush(stream: Any) -> None:
    try:
        stream.flush()
    except (OSError, ValueError):
        return


def add_packages(path: str) -> None:
    """Make the packages of an environment importable, its .pth files honoured where there are any."""
    if any(name.endswith(".pth") for name in os.listdir(path)):  # noqa: PTH208
        import site

        site.addsitedir(path)
    else:
        sys.path.append(path)


def load(name: str, source: str, opened: Opened) -> Any:
    """The tool's module, executed under a private name: a tool called `json` hides no standard module."""
    private = f"_habilis_tool_{name}"
    filename = f"<{name}>"
    module = types.ModuleType(private)
    module.__file__ = f"{name}.py"
    import linecache

    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    sys.modules[private] = module
    sys.addaudithook(opened)
    opened.on = True
    with failures(filename):
        exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
    from pydantic import BaseModel

    for wanted in ("InputModel", "OutputModel"):
        model = getattr(module, wanted, None)
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise Refusal("crashed", f"the module has no Pydantic model called {wanted}")
    if not callable(getattr(module, "run", None)):
        raise Refusal("crashed", "the module has no function called run")
    return module


def describe(tool: Any) -> Any:
    """What the tool says of itself, and its input and output as JSON schema."""
    with failures(f"<{tool.__name__.removeprefix('_habilis_tool_')}>"):
        meta = getattr(tool, "__TOOL_META__", None)
        about = meta.get("description") if isinstance(meta, dict) else None
        found = {
            "description": about if isinstance(about, str) else "",
            "input_schema": tool.InputModel.model_json_schema(),
            "output_schema": tool.OutputModel.model_json_schema(mode="serialization"),
        }
        return clean(found, 0)


def call(tool: Any, arguments: "dict[str, Any]", opened: Opened) -> Any:
    """One run of the tool: arguments in, plain JSON values out."""
    from pydantic import ValidationError

    filename = f"<{tool.__name__.removeprefix('_habilis_tool_')}>"
    with failures(filename):
        try:
            checked = tool.InputModel.model_validate(arguments)
        except ValidationError as error:
            raise Refusal("invalid_arguments", f"the arguments do not fit: {problems(error)}") from None
    opened.on = True
    with failures(filename):
        result = tool.run(checked)
        if hasattr(result, "__await__"):
            import asyncio

            result = asyncio.run(as_coroutine(result))
    opened.on = False
    with failures(filename):
        return output(tool, result)


async def as_coroutine(awaitable: Any) -> Any:
    return await awaitable


def output(tool: Any, result: Any) -> Any:
    """The result as plain JSON values. Raises `Refusal` of kind bad_output when it is not the tool's OutputModel."""
    from pydantic import BaseModel, ValidationError
    from pydantic_core import PydanticSerializationError

    if not isinstance(result, (tool.OutputModel, BaseModel, dict)):
        raise Refusal("bad_output", f"run returned {shown_type(result)}, not an OutputModel")
    try:
        if not isinstance(result, tool.OutputModel):
            fields = result if isinstance(result, dict) else result.model_dump()
            result = tool.OutputModel.model_validate(fields)
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                plain = result.model_dump(mode="json")
            except (PydanticSerializationError, UnicodeError):
                plain = result.model_dump(mode="python")
        return clean(plain, 0)
    except ValidationError as error:
        raise Refusal("bad_output", f"what run returned does not fit OutputModel: {problems(error)}") from None
    except (ValueError, RecursionError, TypeError) as error:
        raise Refusal("bad_output", f"what run returned cannot be written as JSON: {error}") from None


def shown_type(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def clean(value: Any, depth: int) -> Any:
    """`value` as JSON knows it: sets sorted where they can be, bytes as text, NaN and infinity as null."""
    if depth > DEPTH:
        raise ValueError(f"nested more than {DEPTH} levels deep")
    if isinstance(value, (bool, type(None))):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, int):
        if value.bit_length() > 10_000:
            raise ValueError("a whole number of more than 3,000 digits")
        return int(value)
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(clean(k, depth + 1)): clean(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [clean(item, depth + 1) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    from pydantic_core import to_jsonable_python

    again = to_jsonable_python(value, bytes_mode="base64", serialize_unknown=True)
    return clean(again, depth + 1) if type(again) is not type(value) else str(value)


def problems(error: Any) -> str:
    """All that a ValidationError says, one clause per field."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    parts = []
    for problem in found[:PROBLEMS]:
        where = ".".join(str(part) for part in problem["loc"]) or "(whole)"
        parts.append(f"{where}: {problem['msg']}")
    if len(found) > PROBLEMS:
        parts.append(f"and {len(found) - PROBLEMS} more")
    return "; ".join(parts)


class failures:
    """Turns whatever the tool's code raises into a `Refusal` that names the tool's own lines."""

    def __init__(self, filename: str) -> None:
        self._filename = filename

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: "BaseException | None", trace: Any) -> None:
        if error is None or isinstance(error, Refusal):
            return
        raise refusal_of(error, self._filename) from None


def refusal_of(error: BaseException, filename: str) -> Refusal:
    """Which kind of failure `error` is, and what a reader needs to know of it."""
    name = type(error).__name__
    if isinstance(error, MemoryError):
        return Refusal("crashed", f"MemoryError: out of memory{lines(error, filename)}", name)
    if isinstance(error, SystemExit):
        return Refusal("crashed", f"the tool ended the interpreter: sys.exit({error.code!r})", name)
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        text = f"no package {package} in the tool's environment; name it in the tool's dependencies"
        return Refusal("unavailable", text + lines(error, filename), name)
    limit = next(
        (LIMITS[link.errno] for link in chain(error) if isinstance(link, OSError) and link.errno in LIMITS), ""
    )
    text = f"{name}: {said(error)}{limit}{lines(error, filename)}"
    network = next((link for link in chain(error) if is_network(link)), None)
    if network is not None:
        return Refusal("denied", f"{WITH_DOOR if 'HTTPS_PROXY' in os.environ else NO_DOOR}; {text}", name)
    if any(isinstance(link, OSError) and REFUSED_BY_PROXY in said(link) for link in chain(error)):
        return Refusal("denied", text, name)
    if any(is_program(link) for link in chain(error)):
        return Refusal("denied", f"{NO_PROGRAM}; {text}", name)
    refused = next((link for link in chain(error) if is_refused(link)), None)
    if refused is not None:
        hint = "the sandbox refused it: a tool may read its task's files and write in its working folder, no more"
        return Refusal("denied", f"{hint}; {text}", name, path_of(refused))
    missing = next((link for link in chain(error) if isinstance(link, FileNotFoundError)), None)
    if missing is not None and raised_in(missing, "subprocess.py"):
        return Refusal("unavailable", f"there is no such program in the sandbox; {text}", name)
    return Refusal("crashed", text, name, path_of(missing))


def path_of(error: "BaseException | None") -> "str | None":
    """The path that a file error is about."""
    path = getattr(error, "filename", None)
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) and path else None


def chain(error: BaseException) -> "list[BaseException]":
    """`error`, what it wraps and what it was raised from."""
    found: list[BaseException] = []
    pending: list[Any] = [error]
    while pending and len(found) < 20:
        link = pending.pop(0)
        if isinstance(link, BaseException) and link not in found:
            found.append(link)
            suppressed = link.__suppress_context__
            pending += [link.__cause__, None if suppressed else link.__context__, getattr(link, "reason", None)]
            pending += list(link.args)
    return found


def is_network(error: BaseException) -> bool:
    if not isinstance(error, OSError):
        return False
    if type(error).__name__ in NETWORK or isinstance(error, ConnectionRefusedError):
        return True
    if error.errno in NETWORK_NUMBERS:
        return True
    return error.errno == 13 and error.filename is None and raised_in(error, "socket.py")


def is_program(error: BaseException) -> bool:
    """Whether `error` says that a program could not be started, which is refused to this tool."""
    if not SEALED or not isinstance(error, OSError) or error.errno != 1:
        return False
    frames = frames_of(error)
    where = f"{frames[-1].name} {frames[-1].line}" if frames else ""
    return "exec" in where or "spawn" in where


def raised_in(error: BaseException, script: str) -> bool:
    frames = frames_of(error)
    return bool(frames) and frames[-1].filename.rpartition("/")[2] == script


def frames_of(error: BaseException) -> "list[Any]":
    """Where `error` passed through; nothing when the tool left no descriptor to load the module with."""
    try:
        import traceback
    except OSError:
        return []
    return traceback.extract_tb(error.__traceback__)


def is_refused(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (1, 13, 30)  # not permitted, no access, read-only


def said(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # a tool's own exception class may not even print
        text = "(its text cannot be shown)"
    text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate would not get out
    return text if len(text) <= MESSAGE_CHARACTERS else text[:MESSAGE_CHARACTERS] + " …"


def lines(error: BaseException, filename: str) -> str:
    """The last lines of the tool's own source that `error` passed through, and what the names in the last one held."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        return f"\n  line {error.lineno}: {(error.text or '').strip()}"
    frames = [f for f in frames_of(error) if f.filename == filename]
    if not frames:
        return ""
    told = "".join(f"\n  line {f.lineno}, in {f.name}: {f.line}" for f in frames[-FRAMES:])
    return told + held(error, filename, frames[-1].line or "")


def held(error: BaseException, filename: str, line: str) -> str:
    """The plain values of the names in `line`, where `error` left the tool's own source."""
    inner, frame = error.__traceback__, None
    while inner is not None:
        frame = inner.tb_frame if inner.tb_frame.f_code.co_filename == filename else frame
        inner = inner.tb_next
    names = "".join(sign if sign.isalnum() or sign == "_" else " " for sign in line).split()
    known = frame.f_locals if frame is not None else {}
    values = ((name, plain(known[name])) for name in dict.fromkeys(names) if name in known)
    shown = [f"{name} = {value}" for name, value in values if value]
    return f"\n  where {', '.join(shown[:NAMES])}" if shown else ""


def plain(value: Any) -> str:
    """A value of Python's own types as Python writes it, cut; nothing for others, whose word may run code or change."""
    kind = type(value)
    if kind in (list, tuple):
        value = inner = value[:ITEMS]
    elif kind is dict:
        value = dict(list(value.items())[:ITEMS])
        inner = [*value, *value.values()]
    else:
        value = value[:VALUE_CHARACTERS] if kind is str else value
        inner = [value]
    if any(type(one) not in (str, int, float, bool, type(None)) for one in inner):
        return ""
    text = repr(value)
    return text if len(text) <= VALUE_CHARACTERS else text[:VALUE_CHARACTERS] + "…"


if __name__ == "__main__":
    main()
