"""Strict rendering of the reviewed prompt files in `prompts/`.

A prompt is one Markdown file: YAML front matter (`role`, `output`, `inputs`), then a system part and a user part
divided by a line `=== user ===`. Templates are Jinja2; a missing value is an error that names it, and so is
a value that the front matter does not list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml

from habilis.config import ROLES, shipped
from habilis.core.errors import UserError
from habilis.core.types import Role

if TYPE_CHECKING:
    from jinja2 import Template
    from langchain_core.messages import BaseMessage

_OUR_TAGS = re.compile(
    r"<(?=/?(?:question|files|missing_files|candidates|failure_report|build_failures|missing_capabilities|guidance"
    r"|answer|invocations|findings|tool_request|tool_code|failures|failure|calls|records|previous_summary|work"
    r"|tool_result|sources|remarks|reference|response|rubric|tools|conversation|earlier_turns|tested_tool|known_calls|disputed)\b)"
)
DIVIDER = "\n=== user ===\n"


@dataclass(frozen=True)
class Rendered:
    """A prompt ready to send: `system` and `user` text, the role that answers it, the name of its output type."""

    name: str
    role: Role
    output: str
    system: str
    user: str

    def messages(self) -> list[BaseMessage]:
        """As a model is asked."""
        from langchain_core.messages import HumanMessage, SystemMessage

        return [SystemMessage(self.system), HumanMessage(self.user)]


@dataclass(frozen=True)
class Prompt:
    """One prompt file, parsed."""

    name: str
    role: Role
    output: str
    inputs: tuple[str, ...]
    system: Template
    user: Template

    def render(self, /, **values: Any) -> Rendered:
        """The prompt with `values` filled in. Raises `UserError` naming a missing or unknown value."""
        missing = [name for name in self.inputs if name not in values]
        unknown = [name for name in values if name not in self.inputs]
        if missing:
            raise UserError(f"prompt {self.name}: no value for {', '.join(missing)}")
        if unknown:
            raise UserError(f"prompt {self.name}: unknown value {', '.join(unknown)}")
        import jinja2

        try:
            system, user = self.system.render(values).strip(), self.user.render(values).strip()
        except jinja2.UndefinedError as error:
            raise UserError(f"prompt {self.name}: {error.message}") from None
        return Rendered(self.name, self.role, self.output, system, user)


class Prompts:
    """The prompts of one run: shipped files, any of them replaced by a file of the same name in `override`."""

    def __init__(self, override: Path | str | None = None) -> None:
        self._override = Path(override) if override else None

    def render(self, name: str, /, **values: Any) -> Rendered:
        """Prompt `name` with `values` filled in. Raises `UserError` for a missing file, value or front matter."""
        path = shipped("prompts") / f"{name}.md"
        if self._override and (self._override / f"{name}.md").is_file():
            path = self._override / f"{name}.md"
        return load_prompt(path).render(**values)


@lru_cache(maxsize=64)
def load_prompt(path: Path) -> Prompt:
    """Parse one prompt file. Raises `UserError` naming the file and what is wrong with it."""
    import jinja2

    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"prompt file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"prompt file {path}: not UTF-8 text") from None
    if not text.startswith("---\n") or "\n---\n" not in text:
        raise UserError(f"prompt file {path}: no front matter between '---' lines")
    head, body = text.removeprefix("---\n").split("\n---\n", 1)
    system, divider, user = body.partition(DIVIDER)
    if not divider:
        raise UserError(f"prompt file {path}: no line '{DIVIDER.strip()}'")
    role, output, inputs = _front_matter(path, head)
    env = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False, finalize=_inert
    )
    try:
        return Prompt(path.stem, role, output, inputs, env.from_string(system), env.from_string(user))
    except jinja2.TemplateSyntaxError as error:
        raise UserError(f"prompt file {path}: {error}") from None


def _inert(value: Any) -> Any:
    """`value` with the tags that our prompts are built of made harmless: what a user, a file or a tool says must not
    end its own section or open another."""
    return _OUR_TAGS.sub("‹", value) if isinstance(value, str) and "<" in value else value


def _front_matter(path: Path, head: str) -> tuple[Role, str, tuple[str, ...]]:
    """Role, output type and input names. Raises `UserError` naming what is wrong."""
    try:
        meta = yaml.safe_load(head)
        role, output, inputs = meta["role"], str(meta["output"]), tuple(map(str, meta["inputs"]))
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise UserError(f"prompt file {path}: front matter: {' '.join(str(error).split())}") from None
    if role not in ROLES:
        raise UserError(f"prompt file {path}: role {role} is none of {', '.join(ROLES)}")
    return cast(Role, role), output, inputs
