"""The pages in a real browser: nothing on the console, nothing asked elsewhere, everything reached by the keyboard."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from .conftest import course
from .test_hostile import SCRIPT, STEERING

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATHS = (
    "",
    "runs/one/",
    "runs/one/tasks/task/",
    "runs/hostile/tasks/task/",
    "runs/evolved/",
    "runs/evolved/steps/1/",
    "compare/",
    "compare/one/hostile/",
    "library/",
)
RATIOS = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour, below) => {
    canvas.fillStyle = `rgb(${below})`; canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (c) => c.map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (one) => {
    const above = one.parentElement ? behind(one.parentElement) : [255, 255, 255];
    return rgb(getComputedStyle(one).backgroundColor, above);
  };
  const poor = [];
  for (const one of document.querySelectorAll('body *')) {
    const says = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!says || one.closest('svg') || one.closest('option')) continue;
    const back = behind(one), front = rgb(getComputedStyle(one).color, back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(one.outerHTML.slice(0, 120));
  }
  return poor;
}"""
UNNAMED = """() => [...document.querySelectorAll('a, button, input:not([type=hidden]), select, nav, svg[role=img]')]
  .filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length))
  .map((one) => one.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser; skips where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def runs(written: Any) -> Any:
    """A run of each kind."""
    written.ended("one")
    written.ended("hostile", SCRIPT + STEERING.replace("\ud800", ""))
    written.training("evolved")
    return written


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
        self.page.goto(self.root + path)
        return self.page

    def elsewhere(self) -> list[str]:
        """Addresses that were asked for and are not ours."""
        here = urlsplit(self.root).netloc
        return [url for url in self.asked if urlsplit(url).netloc != here and not url.startswith("data:")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_silent_stays_at_home_and_can_be_read(chromium, runs, address, scheme):
    visitor = Visitor(chromium, address, color_scheme=scheme)
    for path in PATHS:
        page = visitor.go(path)
        assert page.locator("h1").count() == 1, path
        assert page.evaluate(RATIOS) == [], path
        assert page.evaluate(UNNAMED) == [], path
    assert visitor.said == []
    assert visitor.elsewhere() == []
    assert len(visitor.asked) > len(PATHS)


def test_no_page_is_wider_than_a_phone(chromium, runs, address):
    visitor = Visitor(chromium, address, viewport={"width": 360, "height": 740})
    for path in PATHS:
        page = visitor.go(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_pages_work_without_scripts(chromium, runs, address):
    visitor = Visitor(chromium, address, java_script_enabled=False)
    page = visitor.go("")
    page.fill("input[name=q]", "mean")
    page.click("button")
    page.click("tbody th a >> text=one")
    page.click("tbody th a >> text=task")
    assert "accepted" in page.inner_text("main")


def test_the_keyboard_alone_leads_from_the_list_to_a_call(chromium, runs, address):
    visitor = Visitor(chromium, address)
    page = visitor.go("")
    page.keyboard.press("/")
    page.keyboard.type("mean?")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=mean*")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "one":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/one/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_live_task_comes_to_its_end_on_the_page(chromium, runs, written, address):
    task = written.task("live")
    visitor = Visitor(chromium, address)
    with task.lock():
        page = visitor.go("runs/live/tasks/task/")
        for event in course("word"):
            written.happens(task, event)
        page.wait_for_selector("text=task ended")
        task.set_state("finished", status="answered")
        page.wait_for_selector("p[role=status] .badge.good")
    assert visitor.said == []
    assert visitor.elsewhere() == []


def test_static_pages_are_silent_too(chromium, runs, written, tmp_path):
    from habilis.view.export import export
    from habilis.view.runs import Runs

    export(Runs(written.root), written.root / "library", tmp_path / "out")
    page = chromium.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    for path in ("index.html", "runs/one/tasks/task/index.html", "runs/hostile/tasks/task/index.html"):
        page.goto((tmp_path / "out" / path).as_uri())
        assert page.evaluate("getComputedStyle(document.body).margin") == "0px", path
    assert said == []
