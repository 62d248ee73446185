"""Clients of one MCP server over HTTP do not see what others found: other keys, and other sessions where there are sessions."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from suffice import settings
from suffice.jobs import database
from suffice.jobs.api_keys import ApiKeyStore, Quota
from suffice.options import RunOptions
from suffice.server.mcp import build_http_app, build_server

URL = "http://127.0.0.1:8090"


class McpClient:
    """A client that speaks JSON-RPC over HTTP with the protocol that has sessions."""

    def __init__(self, http: httpx2.AsyncClient, key: str) -> None:
        self._http = http
        self._headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}

    async def connect(self) -> None:
        about = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        response = await self._send("initialize", {"protocolVersion": "2025-06-18", **about})
        self._headers["mcp-session-id"] = response.headers["mcp-session-id"]

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        response = await self._send("tools/call", {"name": tool, "arguments": arguments})
        [line] = [line for line in response.text.splitlines() if line.startswith("data: {")]
        result: dict[str, Any] = json.loads(line[6:])["result"]
        return result

    async def _send(self, method: str, params: dict[str, Any]) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return (await self._http.post("/mcp", json=body, headers=self._headers)).raise_for_status()


@pytest.mark.attack("keys and quotas")
def test_each_client_sees_only_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "mill.txt").write_text("The paper mill was founded in 1581.\n")
    keys = ApiKeyStore(database.open_engine(database.database_url(None, settings.load().data_dir)))
    first, second = (keys.create(name, Quota())[1] for name in ("ann", "ben"))

    async def work() -> list[bool]:
        options = RunOptions(docs=[tmp_path / "mill.txt"], model="extractive", alpha=1.0)
        app = build_http_app(build_server(options), keys)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=URL) as http,
        ):
            clients = [McpClient(http, key) for key in (first, first, second)]
            for client in clients:
                await client.connect()
            found = await clients[0].call("search", query="paper mill")
            location = json.loads(found["content"][0]["text"])["results"][0]["id"]
            return [bool((await client.call("fetch", id=location)).get("isError")) for client in clients]

    assert asyncio.run(work()) == [False, True, True]
