"""What the documentation says must be what the program does, and every page must be found and built.

The reference pages are written from the code by `docs/generate.py`; here they are held against it. `make docs` checks
the links; that it does is shown on a small page with a wrong one.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from habilis.config import all_keys

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = _generator()


# ---- pages written from the code


@pytest.mark.parametrize("name", sorted(GENERATOR.PAGES))
def test_a_reference_page_says_what_the_code_says(name: str) -> None:
    written = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert written == GENERATOR.PAGES[name](), "run: make docs"


def test_every_setting_stands_in_its_page() -> None:
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    of_roles = (
        "models.builder.",
        "models.vision.",
        "models.summarise.",
        "models.cluster.",
        "models.judge.",
        "models.eval.",
    )
    missing = [key for key in all_keys() if f"`{key}`" not in page and not key.startswith(of_roles)]
    assert [key for key in missing if key not in ("sources",)] == []


def test_every_command_stands_in_its_page() -> None:
    from habilis.cli.completion import commands
    from habilis.cli.parser import build

    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    known = list(commands(build()))
    found = [command for command in known if not any(one.path.startswith(command.path + " ") for one in known)]
    assert len(found) > 40
    for command in found[1:]:
        section = page.partition(f"## habilis {command.path}\n")[2].partition("\n## ")[0]
        assert section, command.path
        unsaid = [option for option, _ in command.options if option not in ("-h", "--help") and option not in section]
        assert unsaid == [], command.path


# ---- README


def test_the_readme_begins_with_two_commands_and_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line.split("=")[0] for line in lines[2:6]] == ["```sh", "make run Q", "make test", "```"]
    assert len(lines) <= 150


def test_the_tutorial_and_the_readme_name_commands_that_exist() -> None:
    """Each `habilis WORD …` of a shell sample, over all pages, is a command or a verb of one."""
    from habilis.cli.completion import commands
    from habilis.cli.parser import build

    known = {command.path for command in commands(build())}
    wrong = []
    for path in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        for sample in re.findall(r"```(?:sh|console)\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            for first, second in re.findall(r"(?:bin/|^|\$ |\| )habilis ([a-z]+)(?: ([a-z]+))?", sample, re.MULTILINE):
                one_word = not any(name.startswith(f"{first} ") for name in known)
                if first not in known or (not one_word and f"{first} {second}" not in known):
                    wrong.append(f"{path.name}: habilis {first} {second}")
    assert wrong == []


# ---- the site


def _site(folder: Path, **pages: str) -> subprocess.CompletedProcess[str]:
    """The site of a tree with an index and these pages, built as `make docs` does."""
    shutil.copytree(DOCS / "front", folder / "docs" / "front")
    shutil.copy(DOCS / "conf.py", folder / "docs")
    for name, text in ({"index": "# Index\n\n```{toctree}\npage\n```\n"} | pages).items():
        (folder / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    command = next(line for line in (ROOT / "Makefile").read_text().splitlines() if " -m sphinx " in line)
    words = command.split(" -m sphinx ")[1].split()
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *words], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.promise
def test_each_wrong_link_and_a_page_that_nothing_leads_to_end_the_build(tmp_path: Path) -> None:
    wrong = "# Page\n\n[a](gone.md) [b](index.md#elsewhere) [c](#nowhere)\n"
    done = _site(tmp_path, page=wrong, lost="# Lost\n")
    assert done.returncode != 0
    for said in ("gone.md", "elsewhere", "nowhere", "lost.md"):
        assert [line for line in done.stderr.splitlines() if said in line and "WARNING" in line], said


@pytest.mark.slow
@pytest.mark.promise
def test_right_links_build_a_site_whose_reader_asks_no_other_server_for_anything(tmp_path: Path) -> None:
    right = "# Page\n\n[there](index.md), [here](#page), [out](https://example.org)\n\n"
    done = _site(tmp_path, page=right + "```mermaid\nflowchart LR\n```\n")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "site" / "docs" / "page.html").read_text(encoding="utf-8")
    loaded = re.findall(r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"]+)"', text)
    assert loaded
    assert [address for address in loaded if "//" in address] == []


# ---- habits


def test_the_hooks_run_programs_of_the_lock() -> None:
    """A hook that needs anything else would fetch it, or fail on every machine but one."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    hooks = [hook for repo in repos for hook in repo["hooks"]]
    assert {repo["repo"] for repo in repos} == {"local"}
    assert hooks
    for hook in hooks:
        words = hook["entry"].split()
        assert (hook["language"], words[:2]) == ("system", [".venv/bin/python", "-m"])
        assert re.search(rf"^{words[2]}==", lock, re.MULTILINE), words[2]
        assert [word for word in words if word.startswith("tests/") and not (ROOT / word).is_file()] == []
    assert re.search(r"^pre-commit==", lock, re.MULTILINE)


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *DOCS.rglob("*.md")]
    named = {
        name for page in pages for name in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text("utf-8"), re.MULTILINE)
    }
    assert {"run", "test", "docs"} <= named <= targets


MAPS = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", MAPS)
def test_a_page_names_only_files_that_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    homes = [ROOT, ROOT / "src" / "habilis", ROOT / "tests", ROOT / "tests" / "sandbox"]
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+\.(?:py|md))(?:::\w+)?`", text))
    assert [name for name in sorted(named) if not any((home / name).exists() for home in homes)] == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "docs/reference/where-to-find-a-line.md"])
def test_a_file_that_a_row_names_without_its_folder_lies_in_one_of_that_row(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    lost = []
    for row in [line for line in text.splitlines() if line.startswith("|")]:
        folders = {
            folder for name in re.findall(r"`([a-z_/]+/)[a-z_]*(?:\.py)?(?:::\w+)?`", row) for folder in _upwards(name)
        }
        for name in re.findall(r"`([a-z_]+\.py)(?:::\w+)?`", row):
            homes = [ROOT / "src" / "habilis" / folder for folder in folders]
            if not any((home / name).exists() for home in [*homes, ROOT, ROOT / "src" / "habilis"]):
                lost.append((name, row[:60]))
    assert lost == []


def _upwards(folder: str) -> list[str]:
    parts = folder.strip("/").split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
