"""Where `read_page` and `web_search` come from: settings offer them, grants let them reach something."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from habilis.config import SandboxSettings, WebSettings
from habilis.contract.hosts import BadHost
from habilis.core.errors import UserError
from habilis.core.ports import ExternalTool
from habilis.runtime.egress.addresses import Dial, Resolve, Resolver, connect
from habilis.runtime.egress.wayout import Upstream, WayOut
from habilis.runtime.grants import Grants
from habilis.sources.documents import Extractor
from habilis.sources.web.fetching import LIMITS, Limits
from habilis.sources.web.page import DESCRIPTION as PAGE_DESCRIPTION
from habilis.sources.web.page import READ_PAGE, ReadPage
from habilis.sources.web.policy import Policy
from habilis.sources.web.search import DESCRIPTION as SEARCH_DESCRIPTION
from habilis.sources.web.search import WEB_SEARCH, WebSearch

__all__ = ["READ_PAGE", "WEB_SEARCH", "Web"]


class Web:
    """The tools of the web for one task. Implements `ToolSource`. `resolve` and `dial` are the machine's own unless
    doubles stand in."""

    def __init__(
        self,
        settings: WebSettings,
        grants: Grants,
        sandbox: SandboxSettings,
        notice: Callable[[str], None],
        *,
        resolve: Resolve | None = None,
        dial: Dial = connect,
        extractor: Extractor | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self._settings, self._grants, self._limits = settings, grants, limits
        self._extractor = extractor or Extractor(sandbox, notice)
        self._resolve, self._dial = resolve, dial
        self._resolver: Resolver | None = None

    async def open(self) -> Sequence[ExternalTool]:
        """The tools that settings offer. Raises `UserError` for an address in the settings that is none."""
        tools: list[ExternalTool] = []
        if self._settings.search.service:
            policy = Policy(WEB_SEARCH, SEARCH_DESCRIPTION, self._grants, own=True)
            tools.append(WebSearch(self._settings, policy, self._way_out()))
        if self._settings.read_page:
            policy = Policy(READ_PAGE, PAGE_DESCRIPTION, self._grants)
            tools.append(ReadPage(policy, self._way_out(), self._extractor, self._limits))
        return tools

    async def aclose(self) -> None:
        if self._resolver is not None:
            self._resolver.close()
            self._resolver = None

    def _way_out(self) -> WayOut:
        if self._resolve is None and self._resolver is None:
            self._resolver = Resolver()
        proxy = self._grants.settings.proxy
        try:
            upstream = Upstream.read(proxy) if proxy else None
        except BadHost as error:
            raise UserError(f"capabilities.proxy: {error}") from None
        resolve = self._resolve or self._resolver
        assert resolve is not None
        return WayOut(resolve, self._dial, upstream)
