"""The HTTP service with its web page, and the MCP server. Both only pass requests on to durable runs or the pipeline."""
