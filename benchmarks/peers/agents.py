"""One question to one peer, in the interpreter that has it: agents.py NAME QUESTION, with QUESTION as JSON.

QUESTION has base_url, model, text and steps. What is written last is a mark and the answer as JSON: `status` and
`text`. Standard library and the peer alone: nothing of Habilis is needed here, nor imported.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

MARK = "\x1e"
TOOL_LIMIT_S, MOST_PRINTED = 120, 8_000
MODULES = ("csv", "json", "hashlib", "datetime", "io", "pathlib", "posixpath", "os", "math", "statistics")
PACKAGES = ("pandas", "numpy", "scipy", "sklearn")
ANSWERED, GAVE_UP = "answered", "gave_up"


def smolagents(asked: dict[str, Any]) -> tuple[str, str]:
    """smolagents' CodeAgent: it writes Python, and runs it in its own interpreter."""
    from smolagents import CodeAgent, OpenAIServerModel

    model = OpenAIServerModel(model_id=asked["model"], api_base=asked["base_url"], api_key="none", temperature=0)
    imports = [*MODULES, *(f"{name}.*" for name in PACKAGES if find_spec(name))]
    agent = CodeAgent(
        tools=[], model=model, max_steps=asked["steps"], verbosity_level=0, additional_authorized_imports=imports
    )
    agent.python_executor.send_variables({"open": open})
    result = agent.run(asked["text"], return_full_result=True)
    return ANSWERED if result.state == "success" and result.output is not None else GAVE_UP, str(result.output)


def langgraph(asked: dict[str, Any]) -> tuple[str, str]:
    """LangGraph's ReAct loop with one tool, which runs Python."""
    from langgraph.prebuilt import create_react_agent

    return _asked(create_react_agent(_model(asked), [run_python]), asked)


def deepagents(asked: dict[str, Any]) -> tuple[str, str]:
    """A deep agent with the same tool beside its own."""
    from deepagents import create_deep_agent

    return _asked(create_deep_agent(_model(asked), [run_python]), asked)


def run_python(code: str) -> str:
    """Run a Python program in a process of its own. Returns what it prints; print what you want to know."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=TOOL_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end in {TOOL_LIMIT_S} s"
    return (done.stdout + done.stderr)[-MOST_PRINTED:] or "it printed nothing"


def _model(asked: dict[str, Any]) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=asked["model"], base_url=asked["base_url"], api_key="none", temperature=0)


def _asked(graph: Any, asked: dict[str, Any]) -> tuple[str, str]:
    from langgraph.errors import GraphRecursionError

    try:
        said = graph.invoke({"messages": [("user", asked["text"])]}, {"recursion_limit": 2 * asked["steps"] + 1})
    except GraphRecursionError as error:
        return GAVE_UP, str(error)
    text = said["messages"][-1].text
    text = text() if callable(text) else str(text)
    return (ANSWERED if text.strip() else GAVE_UP), text


AGENTS = {"smolagents": smolagents, "langgraph": langgraph, "deepagents": deepagents}


def main() -> None:
    status, text = AGENTS[sys.argv[1]](json.loads(sys.argv[2]))
    print(MARK + json.dumps({"status": status, "text": text}))


if __name__ == "__main__":
    main()
