"""Tools of MCP servers (Model Context Protocol), by the official SDK: over standard streams or streamable HTTP."""

from habilis.sources.mcp.source import McpSource

__all__ = ["McpSource"]
