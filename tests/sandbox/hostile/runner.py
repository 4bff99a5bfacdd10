"""A host of its own, as whichever user: reads the names of attempts, one per line, and says what came of each.

python -m hostile.runner FOLDER      then lines of `level way name`, answered by lines of JSON

The way is `cold` (an interpreter and a host for each attempt) or `warm`: attempts with equal settings are calls of one
server, so that each finds what those before it left. The name `end` closes what is kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from hostile.attack import Attack
from hostile.beginning import CONTROLS, faults, marked
from hostile.beginning import HEAD as BEGINNING
from hostile.granted import granted, make_certificate
from hostile.many import many
from hostile.scene import SECRET, Scene, adopt_orphans, told_harms
from hostile.table import ATTACKS

from habilis.config import SandboxSettings
from habilis.contract.capabilities import Grant
from habilis.contract.runnable import Runnable
from habilis.core.ports import Sandbox, SandboxLimits
from habilis.core.types import CallOutcome
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import attacked, make

HEAD = '''
import ctypes, os, sys
from typing import Any
from pydantic import BaseModel

class InputModel(BaseModel):
    s: dict[str, Any] = {}

class OutputModel(BaseModel):
    value: Any = None

libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(15, b"hostile-tool", 0, 0, 0)  # what is left of it is found by this name
# numbers of the kernel's tables for x86-64 and arm64, of calls that have no function of their own in libc
NUMBERS = {"pivot_root": (155, 41), "keyctl": (250, 219), "request_key": (249, 218), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "init_module": (175, 105),
    "finit_module": (313, 273), "kexec_load": (246, 104), "clone": (56, 220), "clone3": (435, 435),
    "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "kcmp": (312, 272), "process_madvise": (440, 440),
    "seccomp": (317, 277), "exit": (60, 93), "ioprio_set": (251, 30), "memfd_secret": (447, 447),
    "move_mount": (429, 429), "fsopen": (430, 430), "open_tree": (428, 428), "mount_setattr": (442, 442),
    "socket": (41, 198), "tgkill": (234, 131), "sched_setattr": (314, 274), "getdents": (217, 61)}

def worked(got):
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got

def syscall(name, *arguments):
    number = NUMBERS[name][os.uname().machine != "x86_64"] if isinstance(name, str) else name
    return worked(libc.syscall(number, *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]))

def reply_pipe():
    """The descriptor of the way back, found by trying."""
    import stat
    for number in range(3, 1024):  # its number is the host's, which has many open
        try:
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                return number
        except OSError:
            pass

def reply(data):
    view = memoryview(data)
    while view:
        view = view[os.write(reply_pipe(), view):]

def say(data):
    """The first line that the proxy of a granted call answers to `data`."""
    import socket
    with socket.create_connection(("127.0.0.1", 3128), 15) as client:
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        return client.recv(4096).decode("latin-1").partition("\\r\\n")[0]
'''
REACH = Attack(
    "reach",
    "",
    "",
    """
import ssl, urllib.request
got = [urllib.request.urlopen(f"{kind}://localhost:{s[port]}/").read().decode()
       for kind, port in (("http", "granted"), ("https", "tls"))]
del os.environ["SSL_CERT_FILE"]
try:
    urllib.request.urlopen(f"https://localhost:{s['tls']}/")
except OSError as error:
    got.append(type(error.reason).__name__)
return OutputModel(value=got)
""",
    settings={"env_allow": ["SSL_CERT_FILE"]},
    granted=True,
)
"""Not an attempt: a tool that uses what it was granted, with and without the authority that it should trust."""


@cache
def module_of(source: str) -> str:
    """The tool whose `run` has the body `source`."""
    return HEAD + BEGINNING + marked(source)


def host_of(attack: Attack, sandbox: Sandbox) -> ToolHost:
    """A host with the settings and limits of `attack`."""
    settings = {name: value for name, value in attack.settings.items() if name in SandboxSettings.model_fields}
    limits = {name: value for name, value in attack.settings.items() if name not in settings}
    return ToolHost(SandboxSettings.model_validate(settings), sandbox=sandbox, limits=SandboxLimits(**limits))


async def attempt_granted(attack: Attack, level: str, folder: Path) -> dict[str, Any]:
    """Run one attempt whose call has a door, or, called `reach`, use what is granted."""
    certificate = make_certificate(folder) if attack.name == "reach" else None
    scene = Scene(folder, module_of(attack.source))
    files = scene.files
    if certificate is not None:
        os.environ["SSL_CERT_FILE"] = str(certificate)
        files.append(certificate)
    accidents: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: accidents.append(str(context)[:500]))
    try:
        async with granted(make(level), scene.port, certificate, any_host=attack.any_host) as (sandbox, behind):
            host = host_of(attack, sandbox)
            outcome = await host.call(
                CallSpec(
                    Runnable("hostile_tool", scene.module),
                    {"s": {**scene.facts, **behind.facts}},
                    workspace=scene.workspace,
                    files=files,
                    timeout_s=attack.timeout_s,
                    grant=variables(attack),
                )
            )
            await behind.ended()
        harms = scene.harms(outcome) + behind.harms() + accidents
        return answer_of(attack, level, scene, outcome, harms)
    finally:
        scene.close()
        os.environ.pop("SSL_CERT_FILE", None)


def answer_of(attack: Attack, level: str, scene: Scene, outcome: CallOutcome, harms: list[str]) -> dict[str, Any]:
    """What came of one attempt, as the test reads it."""
    level = "bubblewrap" if level == "zygote" else level
    if outcome.level != level:
        harms.append(f"held by {outcome.level!r}")
    own = faults(attack, level, scene.workspace, outcome.printed)
    return {"told": told(outcome)[:20_000], "made": outcome.made, "harms": harms, "faults": own}


def variables(attack: Attack) -> Grant:
    """A grant of the variables that the settings of `attack` allow, and of programs where it is about other walls."""
    return Grant(env=tuple(dict(attack.settings).get("env_allow", ())), subprocess=attack.programs)


def told(outcome: CallOutcome) -> str:
    """What the model is told, on one line."""
    if outcome.error is not None:
        return " ".join(f"{outcome.error.kind}: {outcome.error.message}".split())
    only = isinstance(outcome.output, dict) and set(outcome.output) == {"value"}
    return f"output: {json.dumps(outcome.output['value'] if only else outcome.output)}"


KEPT: dict[tuple[str, str], tuple[Scene, ToolHost]] = {}
"""By level and settings: the scene and the host of the attempts that are made warm."""


async def attempt_warm(attack: Attack, level: str, folder: Path) -> dict[str, Any]:
    """Run one attempt as a call among others."""
    key = (level, json.dumps(dict(attack.settings)))
    source = module_of(attack.source)
    if key in KEPT:
        KEPT[key][0].again(source)
    else:
        scene = Scene(folder, source, kept=True)
        KEPT[key] = (scene, host_of(attack, make(level)))
        KEPT[key][1].start(scene.workspace, scene.files)
        if level == "zygote":  # its server begins with the second call
            first = Runnable("first", scene.beside("first", module_of("return OutputModel(value='done')")))
            await KEPT[key][1].call(CallSpec(first, {}, workspace=scene.workspace, files=scene.files))
    answer = await (tried_among_others if attack.warm else tried)(attack, level, *KEPT[key])
    if answer["harms"] or attack.settings:
        answer["harms"] += await end(key)
    return answer


async def end(key: tuple[str, str]) -> list[str]:
    """Close a scene that was kept; what is found to be wrong then."""
    scene, host = KEPT.pop(key)
    await host.aclose()
    found = scene.left_behind()
    scene.close()
    return found


async def attempt(attack: Attack, level: str, folder: Path) -> dict[str, Any]:
    """Run one attempt against a host made for it."""
    scene = Scene(folder, module_of(attack.source))
    host = host_of(attack, make(level))
    try:
        return await tried(attack, level, scene, host)
    finally:
        scene.close()


async def tried(attack: Attack, level: str, scene: Scene, host: ToolHost, *, alone: bool = True) -> dict[str, Any]:
    """Make the call, and look at what came of it; at processes only where no call beside it has its own."""
    accidents: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: accidents.append(str(context)[:500]))
    harms: list[str] = []
    for number, source in enumerate((*attack.before, attack.source)):
        tool = scene.module if source == attack.source else scene.beside(f"earlier_{number}", module_of(source))
        outcome = await host.call(
            CallSpec(
                Runnable(tool.stem, tool),
                {"s": scene.facts},
                workspace=scene.workspace,
                files=scene.files,
                timeout_s=attack.timeout_s,
                grant=variables(attack),
            )
        )
        harms += scene.harms(outcome) if alone else told_harms(outcome)
        if tool != scene.module and told(outcome) != 'output: "done"':
            harms.append(f"a call before it: {told(outcome)}")
    harms += accidents
    return answer_of(attack, level, scene, outcome, harms)


async def tried_among_others(attack: Attack, level: str, scene: Scene, host: ToolHost) -> dict[str, Any]:
    """Make the call beside one that waits and before one that looks; what they tell must be what they are for."""

    sources = {"beside": attack.beside, "after": attack.after}
    tools = {name: scene.beside(name, module_of(text)) for name, text in sources.items()}

    async def other(name: str) -> CallOutcome:
        tool, files = Runnable(name, tools[name]), scene.files
        grant = Grant(subprocess=True)
        return await host.call(CallSpec(tool, {"s": scene.facts}, workspace=scene.workspace, files=files, grant=grant))

    waiting = asyncio.create_task(other("beside"))
    while not (scene.workspace / "sibling").exists() and not waiting.done():
        await asyncio.sleep(0.002)
    answer = await tried(attack, level, scene, host, alone=False)
    (scene.workspace / "go").touch()
    harms = [f"the call beside it: {said}" for said in [told(await waiting)] if said != 'output: "unharmed"']
    outcome = await other("after")
    harms += [f"the call after it: {said}" for said in [told(outcome)] if said != "output: []"]
    return {**answer, "harms": answer["harms"] + harms + scene.harms(outcome)}


async def main() -> None:
    """Answer until stdin ends."""
    top = Path(sys.argv[1])
    os.environ["SOME_API_KEY"] = SECRET
    os.environ.update(dict.fromkeys(("HTTP_PROXY", "ALL_PROXY"), "http://127.0.0.1:9"), NO_PROXY="localhost")
    adopt_orphans()
    warnings.simplefilter("ignore")
    attacks = {attack.name: attack for attack in (*ATTACKS, *CONTROLS, REACH)}
    for source in {
        text
        for attack in attacks.values()
        for text in (attack.source, *attack.before, attack.beside, attack.after)
        if text
    }:
        module_of(source)  # now: parsing beside a thread that parses fails at times in CPython 3.11
    count = 0
    while line := await asyncio.to_thread(sys.stdin.readline):
        level, way, times, name = line.strip().split(" ", 3)
        count += 1
        folder = top / str(count)
        folder.mkdir()
        try:
            if name == "probe":
                answer: dict[str, Any] = {"problem": await attacked(make(level))}
            elif way == "many":
                answer = await many(int(name), level, folder, module_of, tried)
            elif name == "end":
                answer = {"harms": [harm for key in list(KEPT) if key[0] == level for harm in await end(key)]}
            else:
                make_it = attempt_granted if attacks[name].granted else attempt_warm if way == "warm" else attempt
                attack = replace(attacks[name], timeout_s=attacks[name].timeout_s * int(times))
                answer = await make_it(attack, level, folder)
        except Exception as error:  # a host that raises for what a tool did is the worst finding
            answer = {"told": "", "harms": [f"the host raised {error!r:.500}"]}
        print(json.dumps(answer), flush=True)
        if way == "cold":
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    asyncio.run(main())
