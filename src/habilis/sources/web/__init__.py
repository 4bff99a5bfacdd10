"""Reading the web within what is granted: `read_page` and `web_search`."""

from habilis.sources.web.source import READ_PAGE, WEB_SEARCH, Web

__all__ = ["READ_PAGE", "WEB_SEARCH", "Web"]
