"""`habilis completion SHELL`: completion written from the parser itself, so that it knows whatever the parser knows.

Commands, options and the values of choices stand in the script; names of tools are asked for when they are needed.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass

from habilis.cli.parser import build

TOOLS = ("TOOL", "NAME_OR_FILE")
"""What stands for the name of a tool in the help."""
PATHS = ("F", "FILE", "DIR", "D", "CONFIG", "PNG", "FILE_OR_RUN:TOOL", "NAME_OR_FILE")
"""What stands for a file or a folder."""


@dataclass(frozen=True)
class Command:
    """One command by its words. `values` are those of options, None for a file; `takes_tools` by its arguments."""

    path: str
    words: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    values: dict[str, tuple[str, ...] | None]
    takes_tools: bool
    takes_files: bool


def completion(args: Namespace) -> int:
    """Print the script for the shell."""
    print({"bash": bash, "zsh": zsh, "fish": fish}[args.shell](list(commands(build()))), end="")
    return 0


def commands(parser: argparse.ArgumentParser, path: str = "") -> Iterator[Command]:
    """All commands below `parser`, itself first."""
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    below = [action for action in actions if isinstance(action, argparse._SubParsersAction)]
    plain = [action for action in actions if not action.option_strings and action not in below]
    helps = {choice.dest: choice.help or "" for action in below for choice in action._choices_actions}
    options = [(option, action) for action in actions for option in action.option_strings]
    yield Command(
        path=path,
        words=(*helps, *(str(choice) for action in plain for choice in action.choices or ())),
        options=tuple((option, action.help or "") for option, action in options),
        values={option: _values(action) for option, action in options if action.nargs != 0},
        takes_tools=any(action.metavar in TOOLS for action in plain),
        takes_files=any(action.metavar in PATHS for action in plain),
    )
    for action in below:
        for name, sub in action.choices.items():
            yield from commands(sub, f"{path} {name}".strip())


def _values(action: argparse.Action) -> tuple[str, ...] | None:
    if action.choices:
        return tuple(map(str, action.choices))
    return None if action.metavar in PATHS else ()


def bash(known: list[Command]) -> str:
    """The script for bash."""
    return f"""\
# Completion of habilis for bash: source <(habilis completion bash)
_habilis_tools() {{
    local i library=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${{COMP_WORDS[i]}} == --library ]] && library=(--library "${{COMP_WORDS[i + 1]}}")
    done
    habilis library list --names "${{library[@]}}" 2>/dev/null
}}
_habilis() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD - 1]}}" at="" words="" files="" tools="" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$at ${{COMP_WORDS[i]}}" in
            {_joined(f'" {one.path}"' for one in known if one.path)}) at="$at ${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$at $prev" in
{"".join(_bash_values(known))}    esac
    case "$at" in
{"".join(_bash_command(one) for one in known)}    esac
    [[ -n $tools && $cur != -* ]] && words="$words $(_habilis_tools)"
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    [[ -n $files && $cur != -* ]] && COMPREPLY+=($(compgen -f -- "$cur"))
    return 0
}}
complete -o filenames -o bashdefault -F _habilis habilis
"""


def zsh(known: list[Command]) -> str:
    """The script for zsh, which runs bash's."""
    head = "# Completion of habilis for zsh, after compinit: source <(habilis completion zsh)\n"
    return f"{head}autoload -U +X bashcompinit && bashcompinit\n{bash(known).partition(chr(10))[2]}"


def fish(known: list[Command]) -> str:
    """The script for fish."""
    paths = " ".join(f"'{one.path}'" for one in known if one.path)
    lines = [
        "# Completion of habilis for fish: habilis completion fish > ~/.config/fish/completions/habilis.fish",
        f"set -g __habilis_paths {paths}",
        "function __habilis_at",
        "    set -l at",
        "    for word in (commandline -opc)[2..-1]",
        "        contains -- (string join ' ' -- $at $word) $__habilis_paths; and set at $at $word",
        "    end",
        '    test (string join " " -- $at) = "$argv[1]"',
        "end",
        "complete -c habilis -f",
    ]
    for one in known:
        here = f"complete -c habilis -n '__habilis_at \"{one.path}\"'"
        lines += [f"{here} -a '{' '.join(one.words)}'"] if one.words else []
        lines += [f"{here} -a '(habilis library list --names 2>/dev/null)'"] if one.takes_tools else []
        lines += [f"{here} -F"] if one.takes_files else []
        for option, help_ in one.options:
            form = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            value = one.values.get(option, ())
            more = "" if option not in one.values else " -r -F" if value is None else f" -x -a '{' '.join(value)}'"
            lines.append(f"{here} {form}{more} -d '{_quoted(help_)}'")
    return "\n".join(lines) + "\n"


def _bash_values(known: list[Command]) -> Iterator[str]:
    for one in known:
        at = f" {one.path}" if one.path else ""
        for option, values in one.values.items():
            what = 'compgen -f -- "$cur"' if values is None else f'compgen -W "{" ".join(values)}" -- "$cur"'
            yield f'        "{at} {option}") COMPREPLY=($({what})); return 0 ;;\n'


def _bash_command(one: Command) -> str:
    at = f" {one.path}" if one.path else ""
    words = " ".join((*one.words, *(option for option, _ in one.options)))
    more = ("; tools=1" if one.takes_tools else "") + ("; files=1" if one.takes_files else "")
    return f'        "{at}") words="{words}"{more} ;;\n'


def _joined(parts: Iterator[str]) -> str:
    return " | ".join(parts)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
