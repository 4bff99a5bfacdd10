"""Attempts to leave something for the call after, in the same server: processes, files, state."""

from __future__ import annotations

import textwrap

from hostile.attack import Attack
from hostile.neighbours import ANY, NOTHING, REFUSED, warm

LIVING = """
import time
left = []
for text in open("pids").read().split():
    try:
        os.kill(int(text), 0)
        left.append(text)
    except ProcessLookupError:
        pass
    except PermissionError:
        left.append(text)
return OutputModel(value=left)
"""
"""Run afterwards: which of the processes that were noted still live, seen or not."""
NOTE = """
import time
def note():
    with open("pids", "a") as pids:
        pids.write(f"{os.getpid()} ")
def noted(count=1):
    while not os.path.exists("pids") or len(open("pids").read().split()) < count:
        time.sleep(0.001)
"""


def stays(name: str, source: str, told: str = NOTHING, **more: object) -> Attack:
    """A process that means to outlive its call."""
    text = textwrap.dedent(source).strip("\n")
    return warm(name, "the next call has company", told, f"{NOTE}\n{text}", after=LIVING, **more)  # type: ignore[arg-type]


JOIN = """
try:
    os.setpgid(0, os.getpgid(os.getppid()))
except OSError:
    pass
note()
"""
DEAF = """
import signal
os.setsid()
for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
note()
"""
STAYING = (
    stays(
        "a daemon for the next call",
        """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                note()
                for n in range(64):
                    try: os.close(n)
                    except OSError: pass
                time.sleep(60)
            os._exit(0)
        noted()
        """,
    ),
    *(
        stays(
            f"a process that {does}", f"if os.fork() == 0:\n{textwrap.indent(how, '    ')}\n    time.sleep(60)\nnoted()"
        )
        for does, how in {
            "left its group": "os.setpgid(0, 0)\nnote()",
            "left its session": "os.setsid()\nnote()",
            "joined the group of the server": JOIN,
            "is deaf to signals, in a group of its own": DEAF,
            "is stopped": "os.setsid()\nnote()\nos.kill(os.getpid(), 19)",
        }.items()
    ),
    stays(
        "a process that adopts what others leave",
        """
        if os.fork() == 0:
            libc.prctl(36, 1, 0, 0, 0)
            os.setsid()
            if os.fork() == 0:
                if os.fork() == 0:
                    note()
                    time.sleep(60)
                os._exit(0)
            note()
            time.sleep(60)
        noted(2)
        """,
    ),
    stays(
        "many processes in a tree",
        """
        first = os.getpid()
        for _ in range(3):
            if os.fork() == 0: os.setsid()
        note()
        if os.getpid() != first: time.sleep(60)
        noted(8)
        """,
    ),
    stays(
        "a process that sees its parent die",
        """
        if os.fork() == 0:
            os.setsid()
            libc.prctl(1, 0, 0, 0, 0)
            parent = os.getppid()
            note()
            while os.getppid() == parent: time.sleep(0.0005)
            open("survived", "w").close()
            os.fork()
            note()
            time.sleep(60)
        noted()
        os._exit(0)
        """,
        "crashed: ",
    ),
    stays(
        "a call that forgets whose death ends it",
        "libc.prctl(1, 0, 0, 0, 0)\nos.setpgid(0, 0) if os.getpgid(0) != os.getpid() else None\nnote()\ntime.sleep(60)",
        "timeout: ",
        timeout_s=0.5,
    ),
    stays(
        "a program started with a session of its own",
        """
        import subprocess
        left = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True, close_fds=True)
        open("pids", "w").write(str(left.pid))
        """,
    ),
)


def leaves(name: str, source: str, after: str, told: str = NOTHING) -> Attack:
    """Something that the next call must not find."""
    return warm(name, "one call tells, or changes, another what it must not", told, source, after=after)


FOLDERS = "places = [os.environ['TMPDIR'], '/dev/shm']\n"
LOOK_FOR_FILES = (
    FOLDERS
    + """
found = []
for place in places:
    try:
        found += [n for n in os.listdir(place) if "left" in n or n.startswith(".")]
    except OSError:
        pass
return OutputModel(value=found)
"""
)


def leaves_in_folders(name: str, source: str) -> Attack:
    body = textwrap.indent(textwrap.dedent(source).strip("\n"), "        ")
    return leaves(
        name, f"{FOLDERS}for place in places:\n    try:\n{body}\n    except OSError:\n        pass", LOOK_FOR_FILES
    )


LEAVING = (
    leaves_in_folders("a file for the next call", "open(place + '/left', 'w').write('x')"),
    leaves_in_folders("a hidden file for the next call", "open(place + '/.left', 'w').write('x')"),
    leaves_in_folders(
        "a folder that nobody may enter",
        """
        os.makedirs(place + '/left/deep')
        open(place + '/left/deep/file', 'w').close()
        os.chmod(place + '/left/deep', 0)
        os.chmod(place + '/left', 0)
        """,
    ),
    leaves_in_folders("a link for the next call", "os.symlink(s['canary'], place + '/left')"),
    leaves_in_folders("a pipe for the next call", "os.mkfifo(place + '/left')"),
    leaves_in_folders(
        "names that are none, for the next call",
        "open(place.encode() + b'/left\\xff\\n', 'w').close()\nopen(place + '/left' + '\\u0301' * 80, 'w').close()",
    ),
    leaves_in_folders(
        "a second name of a file of the workspace",
        "open('mine', 'w').close()\nos.link('mine', place + '/left')",
    ),
    leaves(
        "the temporary folder's own mode",
        f"{FOLDERS}for place in places:\n    try: os.chmod(place, 0o500)\n    except OSError: pass",
        f"{FOLDERS}open(places[0] + '/mine', 'w').close()",
        ANY,
    ),
    *(
        leaves(
            f"the way to the workspace, {how}",
            "way = '/'.join(s['workspace'].split('/')[:3])\n" + source,
            "open('own', 'w').close()",
            rf"output: |{REFUSED}",
        )
        for how, source in {
            "moved": "os.rename(way, way + '2')",
            "closed": "os.chmod(way, 0)",
            "taken": "os.makedirs(way + '2')\nworked(libc.renameat2(-100, way.encode(), -100, f'{way}2'.encode(), 2))",
        }.items()
    ),
    leaves(
        "a module's attribute",
        "import json, pydantic\njson.left = pydantic.left = json.dumps = True",
        "import json, pydantic\nreturn OutputModel(value=[json.dumps([])][1:] if json.dumps([]) == '[]' and "
        "not hasattr(json, 'left') and not hasattr(pydantic, 'left') else ['left'])",
        r"crashed: |bad_output: |output: ",
    ),
    leaves(
        "a builtin",
        "import builtins\nbuiltins.left = 1\nbuiltins.len = lambda thing: 7",
        "import builtins\nreturn OutputModel(value=['left'] if hasattr(builtins, 'left') or len('') else [])",
        ANY,
    ),
    leaves(
        "a module of its own in place of another",
        "sys.modules['json'] = sys.modules['left'] = sys",
        "import json\nreturn OutputModel(value=[n for n in ('left',) if n in sys.modules] + [json.dumps(1)][1:])",
        ANY,
    ),
    leaves(
        "a finder of modules",
        "class Finder:\n    def find_spec(self, name, *more): raise ImportError('left')\n"
        "sys.meta_path.insert(0, Finder())",
        "import colorsys, wave\nreturn OutputModel(value=[f for f in sys.meta_path if 'Finder' == type(f).__name__])",
        ANY,
    ),
    leaves(
        "the search path of modules",
        "sys.path.insert(0, os.getcwd())\nopen('sched.py', 'w').write('raise ValueError')",
        "import sched\nreturn OutputModel(value=[p for p in sys.path if p == os.getcwd()])",
        ANY,
    ),
    leaves(
        "a class of Pydantic, changed",
        "BaseModel.model_validate = classmethod(lambda cls, *more: 'left')\n"
        "BaseModel.model_dump = lambda self, **k: {}",
        "same = OutputModel.model_validate({'value': 1}).model_dump() == {'value': 1}\n"
        "return OutputModel(value=[] if same else [1])",
        ANY,
    ),
    leaves(
        "the guest, changed",
        "guest = sys.modules['_habilis_guest']\n"
        "guest.output = guest.call = guest.work = lambda *more: {'value': 'left'}",
        "",
        ANY,
    ),
    leaves(
        "variables for the next call",
        "os.environ['LEFT'] = '1'\nos.putenv('LEFT', '1')",
        "return OutputModel(value=[name for name in os.environ if name == 'LEFT'])",
    ),
    leaves(
        "a mask and a folder for the next call",
        "os.makedirs('deep')\nos.chdir('deep')\nos.umask(0o777)",
        "return OutputModel(value=[] if os.umask(0o22) != 0o777 and os.path.exists('deep') else ['left'])",
    ),
    leaves(
        "limits for the next call",
        "import resource\nfor n in (3, 7): resource.setrlimit(n, (64, 64))",
        "import resource\nreturn OutputModel(value=[n for n in (3, 7) if resource.getrlimit(n) == (64, 64)])",
        ANY,
    ),
    leaves(
        "signal handlers for the next call",
        "import signal\nfor n in (2, 15, 17, 10): signal.signal(n, signal.SIG_IGN)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {15, 10})",
        "import signal\nreturn OutputModel(value=[n for n in (15, 10) if signal.getsignal(n) == signal.SIG_IGN]\n"
        "    + sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())))",
    ),
    leaves(
        "hooks of the interpreter",
        "import atexit, threading\nsys.addaudithook(lambda *more: None)\nsys.excepthook = sys.displayhook = print\n"
        "atexit.register(print, 'left')\nthreading.setprofile(print)",
        "return OutputModel(value=[] if sys.excepthook is sys.__excepthook__ else ['left'])",
    ),
    leaves(
        "what was read before it",
        "sys.secret = [''.join(['left', 'over'])]",
        "import gc\ngc.unfreeze()\nwanted = ''.join(['left', 'over'])\n"
        "return OutputModel(value=[thing for thing in gc.get_objects() if type(thing) is list and wanted in thing])",
    ),
    leaves(
        "a lock that is never let go",
        "import fcntl\nheld = open('lock', 'w')\nfcntl.flock(held, fcntl.LOCK_EX)\n"
        "if os.fork() == 0:\n    import time\n    os.setsid()\n    time.sleep(60)",
        "import fcntl\nfcntl.flock(open('lock', 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)",
    ),
)
ATTACKS: tuple[Attack, ...] = (*STAYING, *LEAVING)
