"""Shipped doubles, for our tests and for those of users.

`ScriptedServer` speaks chat completions on loopback and fails on demand, `ScriptedModel` is a chat model that plays
given replies in process, `in_plain_text` turns an answerer into one that cannot call functions, `RecordingSink` keeps
events, `ScriptedGranter` says what tools may have, `FakeClock` makes waiting free. `ScriptedService` is any HTTP
service on loopback, for tests of tools that ask one. `python -m habilis.testing` serves the offline demonstration model
until stopped.
"""

from habilis.testing.doubles import FakeClock, RecordingSink, ScriptedGranter, ScriptedModel
from habilis.testing.faults import TRANSIENT, Fault, FaultKind, SeenRequest, seeded, when
from habilis.testing.reacting import in_plain_text
from habilis.testing.server import ScriptedServer
from habilis.testing.service import Said, ScriptedService, SeenCall

__all__ = [
    "TRANSIENT",
    "FakeClock",
    "Fault",
    "FaultKind",
    "RecordingSink",
    "Said",
    "ScriptedGranter",
    "ScriptedModel",
    "ScriptedServer",
    "ScriptedService",
    "SeenCall",
    "SeenRequest",
    "in_plain_text",
    "seeded",
    "when",
]
