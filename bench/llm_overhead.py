"""Measure the CPU time of a model call against the plain ``openai`` client: ``python -m bench.llm_overhead``.

Both call the same server on loopback in turns within one run, so that a busy machine affects both alike. The server runs in
its own process, so its work is not counted.
"""

import asyncio
import json
import multiprocessing
import socketserver
import statistics
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler
from multiprocessing.queues import Queue

from suffice.models.llm.endpoint import Endpoint
from suffice.models.llm.messages import response_schema
from suffice.models.llm.model import LanguageModel
from suffice.prompts.planning import Plan

CALLS = 200
TURNS = 5
ANSWER = '{"queries": [{"query": "forth bridge opened", "intent": "when"}], "complexity": "simple"}'


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        completion = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
        body = json.dumps(completion).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)


def _serve(ports: "Queue[int]") -> None:
    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), _Handler) as server:
        ports.put(server.server_address[1])
        server.serve_forever()


async def _measure_cpu(call: Callable[[], Awaitable[object]]) -> float:
    """Return the CPU milliseconds per call."""
    began = time.process_time()
    for _ in range(CALLS):
        await call()
    return 1000 * (time.process_time() - began) / CALLS


async def measure(url: str) -> dict[str, list[float]]:
    import msgspec
    from openai import AsyncOpenAI

    prompt = Plan("When was the Forth Bridge opened?", 3)
    model = LanguageModel(Endpoint("openai", "m", url))
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    shape = {"type": "json_schema", "json_schema": {"name": "plan", "schema": response_schema(prompt)}}

    async def direct() -> object:
        completion = await client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": prompt.render()}],
            response_format=shape,  # type: ignore[arg-type]
            temperature=0,
            max_tokens=800,
        )
        return msgspec.json.decode(completion.choices[0].message.content or "", type=prompt.response_type)

    async def ours() -> object:
        return await model(prompt)

    times: dict[str, list[float]] = {"`openai` client": [], "suffice": []}
    for call in (direct, ours):  # Warm up: the first call imports and connects.
        await call()
    for _ in range(TURNS):
        times["`openai` client"].append(await _measure_cpu(direct))
        times["suffice"].append(await _measure_cpu(ours))
    return times


def main() -> None:
    ports: Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=_serve, args=(ports,), daemon=True)
    server.start()
    times = asyncio.run(measure(f"http://127.0.0.1:{ports.get()}/v1"))
    server.terminate()
    server.join()
    print("| caller | CPU ms per call (median) | best | worst |")
    print("|---|--:|--:|--:|")
    for name, each in times.items():
        print(f"| {name} | {statistics.median(each):.2f} | {min(each):.2f} | {max(each):.2f} |")
    overhead = [ours - direct for direct, ours in zip(*times.values(), strict=True)]
    print(f"| above the client | {statistics.median(overhead):.2f} | {min(overhead):.2f} | {max(overhead):.2f} |")


if __name__ == "__main__":
    main()
