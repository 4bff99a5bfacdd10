"""Take the pictures of `habilis view` for the documentation: `make pictures`.

It trains on the shipped benchmark with the offline model, asks two questions, opens the pages in Chromium and writes
`docs/pictures/`. It all happens in a folder of its own, so that no picture shows a path or a run of this machine.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
WIDTH, COLOURS, MAX_BYTES = 1200, 96, 150_000
QUESTIONS = ("How many days are between 2024-01-15 and 2024-03-01?", "Write 1987 as a Roman numeral.")
ENV = {**os.environ, "TZ": "UTC", "OPENAI_API_KEY": ""}


@dataclass(frozen=True)
class Shot:
    """A picture of the page at `path`: `height` pixels of it from the heading `begin` on, or from its top."""

    name: str
    path: str
    height: int
    begin: str = ""


def habilis(folder: Path, *words: str) -> None:
    """Run a command of Habilis in `folder`. Raises CalledProcessError."""
    subprocess.run(
        [sys.executable, "-m", "habilis", *words], cwd=folder, env=ENV, check=True, stdout=subprocess.DEVNULL
    )


def train(folder: Path) -> None:
    """What there is to look at: a training, two questions before it was there and after."""
    habilis(folder, "run", "-c", "offline", "--run-dir", "runs/days", "--", QUESTIONS[0])
    dataset = str(ROOT / "examples" / "benchmark" / "tasks.jsonl")
    words = ("--dataset", dataset, "--batch-size", "8", "--merge-policy", "model", "--run-name", "benchmark")
    habilis(folder, "evolve", "-c", "offline", *words)
    habilis(folder, "run", "-c", "offline", "--run-dir", "runs/numeral", "--", QUESTIONS[1])


@contextmanager
def viewed(folder: Path) -> Iterator[str]:
    """The address of `habilis view` on the runs in `folder`."""
    command = [sys.executable, "-m", "habilis", "view"]
    with subprocess.Popen(command, cwd=folder, env=ENV, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def shots(run: Path) -> list[Shot]:
    """The pictures; the task is one that mended a tool, the tool one that was merged and is called most."""
    tasks = sorted(path for path in (run / "tasks").iterdir() if "tool_enhanced" in (path / "events.jsonl").read_text())
    lookup = "runs/benchmark/library/"
    return [
        Shot("runs", "", 420),
        Shot("task", f"runs/benchmark/tasks/{tasks[0].name}/", 1500),
        Shot("training", "runs/benchmark/", 1340),
        Shot("tool", f"{lookup}?tag=merged&sort=calls", 1000),
        Shot("lineage", f"{lookup}?tag=merged&sort=calls", 780, "Lineage"),
    ]


def take(page: Page, root: str, shot: Shot) -> None:
    """Write one picture, in few colours. Raises ValueError when it is too large for a page."""
    page.goto(root + shot.path)
    if "tag=" in shot.path:
        page.click("tbody th a")
    top = 0.0
    if shot.begin:
        box = page.locator(f"h2:text-is('{shot.begin}')").bounding_box()
        top = box["y"] - 16 if box else 0.0
    tall = min(shot.height, page.evaluate("document.body.scrollHeight") - top)
    raw = page.screenshot(full_page=True, clip={"x": 0, "y": top, "width": WIDTH, "height": tall})
    path = PICTURES / f"{shot.name}.png"
    with Image.open(io.BytesIO(raw)) as picture:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}  {WIDTH} x {tall:.0f}, {size:,} bytes")
    if size > MAX_BYTES:
        raise ValueError(f"{path} has more than {MAX_BYTES:,} bytes")


def main() -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        sys.exit("The pictures need Chromium; see .ci/set-up-browser.")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        train(folder)
        with viewed(folder) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
            page.goto(address)
            for shot in shots(folder / "runs" / "benchmark"):
                take(page, address.partition("?")[0], shot)
            browser.close()


if __name__ == "__main__":
    main()
