"""Templates to HTML: everything escaped, what hides written out, links relative to the page that holds them."""

from __future__ import annotations

import functools
import posixpath
import time
from collections.abc import Callable, Hashable
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup

from habilis.view.code import highlighted
from habilis.view.visible import cut, short, visible

if TYPE_CHECKING:
    from habilis.view.story import Happening


def _finalize(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


MOST_PAGES = 8


@functools.cache
def environment() -> Environment:
    """The templates with their filters; made once."""
    made = Environment(
        loader=PackageLoader("habilis.view", "templates"),
        autoescape=True,
        undefined=ChainableUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "seconds": seconds,
        "when": when,
        "count": count,
        "short": short,
        "cut": cut,
        "code": highlighted,
        "segment": segment,
    }
    return made


def render(template: str, page: str, *, static: bool, linked: Callable[[str], None], **values: Any) -> str:
    """The page at path `page` (`runs/one/`). `linked` hears of each path that it leads to."""

    def to(path: str, query: str = "") -> str:
        linked(path)
        return relative(page, path, static=static) + query

    now = time.time()
    return environment().get_template(template).render(page=page, static=static, to=to, now=now, **values)


class Parts:
    """What happened before stays as it was: a page that is asked for again renders only what is new, or went on."""

    def __init__(self) -> None:
        self._pages: dict[str, dict[Hashable, str]] = {}

    def of(self, page: str) -> Callable[[Happening, Callable[[], str]], str]:
        """For the page at path `page`: gives what `caller` renders of something that happened, or what it rendered
        the last time. Only what the page has now is kept, and the pages that were asked for last."""
        before, now = self._pages.pop(page, {}), dict[Hashable, str]()
        self._pages[page] = now
        for oldest in list(self._pages)[:-MOST_PAGES]:
            self._pages.pop(oldest, None)

        def once(entry: Happening, caller: Callable[[], str]) -> str:
            part = now[entry.mark] = before[entry.mark] if entry.mark in before else caller()
            return part

        return once


def relative(page: str, path: str, *, static: bool) -> str:
    """The way from `page` to `path`; both count from the root, and end in a slash unless they are files."""
    target = f"{path}index.html" if static and (not path or path.endswith("/")) else path
    way = posixpath.relpath(f"/{target}", posixpath.dirname(f"/{page}") or "/")
    way = "./" if way == "." else f"{way}/" if target.endswith("/") or not target else way
    return way if "/" in way or not way.startswith(".") else f"./{way}"


def segment(name: object) -> str:
    """A name as one part of a path."""
    return quote(str(name).encode("utf-8", "replace"), safe="")


def seconds(value: object) -> str:
    """A duration for people."""
    if not isinstance(value, int | float):
        return "–"
    if value < 10:
        return f"{value:.2f} s"
    return f"{value:.0f} s" if value < 120 else f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def count(value: object) -> str:
    """A number with its thousands apart; a dash for none."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if isinstance(value, float) else "–"


def when(value: object) -> str:
    """A time since the epoch as date and time here; empty for none."""
    if not isinstance(value, int | float) or not 0 < value < 1e11:
        return ""
    return datetime.fromtimestamp(value).astimezone().strftime("%Y-%m-%d %H:%M:%S")
