"""Tools that live in the caller's own Python: LangChain tools, graphs, teams."""
