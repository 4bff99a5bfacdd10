"""The pages in a real browser: nothing on the console, nothing asked elsewhere, all to be read, reached and heard."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from habilis.core import events as ev
from habilis.library import Library
from habilis.library.generations import Generations
from habilis.view.export import export
from habilis.view.runs import Runs

from .conftest import Written, course
from .test_hostile import BROKEN, SCRIPT, STEERING

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = {"width": 390, "height": 844}
HOSTILE = SCRIPT + STEERING.replace("\ud800", "")
AXE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
USED = "a, button, input:not([type=hidden]), select, summary, [tabindex]"
UNREACHED = """(used) => [...document.querySelectorAll(used)]
  .filter((one) => one.tabIndex >= 0 && one.checkVisibility() && !one.dataset.met)
  .map((one) => one.outerHTML.slice(0, 120))"""
MEET = """() => { const one = document.activeElement; one.dataset.met = 1;
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  return [one.tagName, style.outlineStyle, box.bottom > 0 && box.top < innerHeight]; }"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser; skips where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make test-browser")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, which finds what people with other senses could not use."""
    module = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: make test-browser")
    return (Path(module.__file__).parent / "axe.min.js").read_text("utf-8")


@pytest.fixture
def runs(written: Written, put_tool: Any, source_of: Any) -> Written:
    """Finished runs: two of one task, and a training whose library has two generations."""
    written.ended("one")
    written.ended("other", "again")
    run = written.training("evolved")
    ends = [
        {"kind": "step_task_ended", "at": 10.0 + number, "step": 1, "task_id": f"t{number}", "seconds": 5.0}
        for number in range(4)
    ]
    rows = [*ends, {"kind": "step_ended", "at": 20.0, "step": 1}]
    (run.path / "events.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    training = run.training
    assert training is not None
    for step, names in enumerate((["column_mean", "count_words"], ["rows_matching"]), 1):
        with ThreadPoolExecutor(1) as thread:  # the browser's own loop runs in this one
            thread.submit(asyncio.run, publish(training.library, step, names, put_tool, source_of)).result()
    return written


async def publish(path: Path, step: int, names: list[str], put_tool: Any, source_of: Any) -> None:
    """One more generation of the library at `path`; its last tool was made from a stranger's and from one before."""
    generations = Generations(path)
    with generations.draft() as draft:
        for name in names:
            parents = ("column_mean@0", "their_mean@1") if step > 1 else ()
            await put_tool(Library(draft), source_of(name), name, how="merged" if parents else "built", parents=parents)
        lineage = [{"tool": "column_mean@0"}] if step == 1 else []
        evidence = [f"{names[0]} and count_words differ on 3 calls"]
        generations.publish(draft, {"tools": step + 1, "step": step, "lineage": lineage, "evidence": evidence})


class Visitor:
    """One page of a browser that was let in, with all that it said and asked for."""

    def __init__(self, chromium: Any, address: str, **context: Any) -> None:
        self.root = address.partition("?")[0]
        self.context = chromium.new_context(**context)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)

    def go(self, path: str) -> Any:
        """The page at `path`, which is there."""
        reply = self.page.goto(self.root + path)
        assert reply is None or reply.ok, path
        return self.page

    def every_page(self, *begins: str) -> Iterator[tuple[str, Any]]:
        """All pages to which links lead from `begins`, each once whatever it is sorted by."""
        queue = [self.root + path for path in begins or ("",)]
        known = {url.partition("?")[0] for url in queue}
        for url in queue:
            page = self.go(url.removeprefix(self.root))
            yield urlsplit(url).path, page
            for href in page.eval_on_selector_all("a[href]:not([download])", "all => all.map((a) => a.href)"):
                plain = urljoin(url, href).partition("#")[0].partition("?")[0]
                if plain.startswith(self.root) and plain not in known:
                    known.add(plain)
                    queue.append(plain)

    def is_quiet_at_home(self) -> None:
        """Nothing was said on the console, no script of others ran, and nothing was asked for elsewhere."""
        here = urlsplit(self.root).netloc
        assert self.said == []
        assert [url for url in self.asked if urlsplit(url).netloc != here and not url.startswith("data:")] == []
        assert self.asked


def faults(page: Any, axe: str, wanted: list[str] = AXE) -> list[str]:
    """What axe-core finds on the page: contrast, labels, names, roles, headings, landmarks."""
    page.evaluate(axe)
    found = page.evaluate("(tags) => axe.run({runOnly: tags, preload: false})", wanted)
    assert found["passes"], "nothing was looked at"
    return [f"{one['id']}: {node['html'][:150]}" for one in found["violations"] for node in one["nodes"][:3]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_of_finished_runs_is_quiet_and_open_to_everybody(chromium, axe, runs, address, scheme):
    visitor = Visitor(chromium, address, color_scheme=scheme)
    begins = ("", "compare/", "compare/one/other/", "runs/evolved/library/generations/1/2/")
    seen = {}
    for path, page in visitor.every_page(*begins):
        assert page.locator("h1").count() == 1, path
        assert faults(page, axe, AXE if scheme == "light" else ["color-contrast"]) == [], path
        seen[path] = page.title()
    for path in ("/runs/one/tasks/task/", "/runs/evolved/steps/1/", "/runs/evolved/library/tools/rows_matching/"):
        assert path in seen
    assert "/compare/one/other/task/task/" in seen
    assert visitor.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")
    visitor.is_quiet_at_home()


def test_no_page_is_wider_than_a_phone(chromium, axe, runs, address):
    visitor = Visitor(chromium, address, viewport=PHONE, is_mobile=True, has_touch=True)
    begins = ("", "compare/one/other/", "runs/evolved/library/generations/1/2/", "runs/evolved/library/?q=mean")
    for path, page in visitor.every_page(*begins):
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        assert page.evaluate("document.body.scrollWidth") <= PHONE["width"], path
    assert faults(visitor.go("runs/one/tasks/task/"), axe) == []


def test_a_hostile_run_does_nothing_but_be_read(chromium, axe, written, address):
    """Scripts, characters that steer, a result of 8 MB, 10,000 events, broken lines."""
    task = written.ended("hostile", HOSTILE)
    written.happens(task, ev.ToolCallEnded(call_id="big", tool="t", seconds=0.1, text=f"{HOSTILE}{'ä' * (8 << 20)}"))
    many = "".join(f'{{"at": {number}, "kind": "notice", "text": {json.dumps(HOSTILE)}}}\n' for number in range(10_000))
    with task.events.open("ab") as log:
        log.write("".join(f"{line}\n" for line in BROKEN).encode("latin-1"))
        log.write(many.encode())
    visitor = Visitor(chromium, address, viewport=PHONE)
    page = visitor.go("runs/hostile/tasks/task/")
    assert faults(page, axe) == []
    assert len(page.content()) < 4 << 20
    assert "8,388," in page.inner_text("main")
    assert page.locator("main img, main script, main [onload], main [onerror]").count() == 0
    assert "[U+202E]" in page.inner_text("h1")
    for path in (
        "",
        "runs/hostile/",
        "runs/hostile/tasks/task/",
        "runs/hostile/tasks/task/from/501/",
        "?q=%3Cscript%3E",
    ):
        page = visitor.go(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
    page = visitor.go("runs/hostile/tasks/task/")
    with page.expect_download() as whole:
        page.click("a[download]")
    kept = Path(whole.value.path())
    assert kept.stat().st_size > 16 << 20
    visitor.is_quiet_at_home()


def test_pages_work_without_scripts(chromium, runs, address):
    visitor = Visitor(chromium, address, java_script_enabled=False)
    page = visitor.go("")
    page.fill("input[name=q]", "again")
    page.click("button")
    page.click("tbody th a >> text=other")
    page.click("tbody th a >> text=task")
    assert "accepted" in page.inner_text("main")


def test_the_keyboard_alone_leads_from_the_list_to_a_call(chromium, runs, address):
    visitor = Visitor(chromium, address)
    page = visitor.go("")
    page.keyboard.press("/")
    page.keyboard.type("again")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=again*")
    tab_to(page, "other")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/other/")
    tab_to(page, "task")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/task/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    tab_to(page, "How it was found")
    page.keyboard.press("Enter")
    assert "by counting" in page.inner_text("details[open]")


def tab_to(page: Any, text: str) -> None:
    """Press Tab until what has this text is in focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == text:
            return
    raise AssertionError(f"the keyboard does not lead to {text}")


@pytest.mark.parametrize("path", ["", "runs/one/tasks/task/", "runs/evolved/library/tools/column_mean/"])
def test_whatever_can_be_used_is_reached_by_the_keyboard_and_seen(chromium, runs, address, path):
    page = Visitor(chromium, address, reduced_motion="reduce").go(path)
    met = []
    while not met or met[-1][0] != "BODY":
        page.keyboard.press("Tab")
        met.append(page.evaluate(MEET))
        assert len(met) < 200
    assert page.evaluate(UNREACHED, USED) == []
    assert [one for one in met[:-1] if one[1] == "none" or not one[2]] == []


def test_a_live_task_comes_to_its_end_on_the_page(chromium, axe, runs, written, address):
    task = written.task("live")
    visitor = Visitor(chromium, address)
    with task.lock():
        page = visitor.go("runs/live/tasks/task/")
        assert "It runs" in page.inner_text("p[role=status]")
        for number, event in enumerate(course("word")):
            written.happens(task, event)
            if event.kind == "tool_call_started":
                page.wait_for_selector("article.call .badge.busy")
                page.focus("article.call pre")
                assert faults(page, axe) == []
            elif event.kind == "judged":
                page.wait_for_selector("article.call .badge.good")
                assert page.evaluate("document.activeElement.closest('article')?.className") == "call", number
        page.wait_for_selector("text=task ended")
        task.set_state("finished", status="answered")
        page.wait_for_selector("p[role=status] .badge.good")
    visitor.is_quiet_at_home()


def test_a_live_training_shows_its_steps_as_they_come(chromium, written, address):
    run = written.training("evolved", 1)
    training = run.training
    assert training is not None
    training.set_state("running")
    visitor = Visitor(chromium, address)
    with training.lock():
        page = visitor.go("runs/evolved/")
        assert page.locator("#steps ~ table tbody tr").count() == 1
        with training.metrics.open("a") as file:
            file.write('{"step": 2, "tasks": 1, "accuracy": 1.0}\n')
        page.wait_for_selector("th >> text=Step 2")
        training.set_state("finished")
        page.wait_for_selector("p[role=status] .badge.good")
    visitor.is_quiet_at_home()


def test_static_pages_are_quiet_too(chromium, axe, runs, tmp_path):
    export(Runs(runs.root), runs.root / "library", tmp_path / "out")
    page = chromium.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    for path in ("index.html", "runs/one/tasks/task/index.html", "runs/evolved/library/tools/rows_matching/index.html"):
        page.goto((tmp_path / "out" / path).as_uri())
        assert page.evaluate("getComputedStyle(document.body).margin") == "0px", path
        assert faults(page, axe) == [], path
    assert said == []
