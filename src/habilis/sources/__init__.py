"""Tools that are no modules of the library: operations of APIs, tools of MCP servers, LangChain tools, agents."""
