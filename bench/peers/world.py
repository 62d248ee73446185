"""The stub world: a scripted model, a search engine and pages on loopback, the same for every tool.

The search engine answers as SearXNG does (JSON and HTML) and as Tavily does; the pages are on a server of their own, because
one of the tools drops results that point to the search server itself. ``rich`` has 160 invented documents about one island,
``saturated`` has five. The index is BM25.

The model is a function of the prompt (``ScriptedModel``): it plans, asks new queries about aspects that the prompt does not
name yet, and writes reports from the sentences it was shown. Asked for a number of things it gives that number; free to
choose, it gives three. Its ``temper`` decides only one thing, whether more research is needed: ``eager`` always says yes, so
that the tool's own limits end the run, and ``content`` says no as soon as it is asked.
"""

import html
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from fake_llm import SENSIBLE, Body, FakeLlm, Say, role_of
from little_web import ISLAND, PAPER, build_index, page
from loopback import Answer, Request, serving

QUESTION = "How did the economy of Sorrel Island develop, and what drives it today?"
MODEL = "gpt-4.1"
LATENCY = 0.05
FREE_CHOICE = 3
RESULTS = 10
DIMENSIONS = 64
Temper = Literal["eager", "content"]
WorldName = Literal["rich", "saturated"]

ASPECTS = """salt trade, fishing fleet, ferry routes, lighthouse fees, granite quarries, sheep farming, harbour dues,
tourism, boat building, wool mill, kelp burning, wind power, storm petrels, island bank, land tenure, fish market, cider
orchards, post office, mining claims, oyster beds, rope works, weather station, school board, hospital, cable landing, tax
rules, emigration, housing, water supply, telephone exchange, census, music festival, museum, airstrip, customs house,
insurance club, cooperative store, peat cutting, beekeeping, seed bank""".replace("\n", " ").split(", ")
ANGLES = ("history", "figures", "people", "outlook")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_HANDLE = re.compile(r"\[(\d{1,3})\]")


def make_documents(world: WorldName) -> dict[str, tuple[str, list[str]]]:
    """Return the documents of a world: path, title and sentences."""
    if world == "saturated":
        documents = {f"/pages/{name}": (title, list(lines)) for name, (title, lines) in ISLAND.items()}
        return {**documents, "/pages/tides": (PAPER[0], list(PAPER[1]))}
    return {
        f"/pages/{aspect.replace(' ', '-')}-{angle}": (f"Sorrel Island: {aspect}, {angle}", _write(aspect, angle))
        for aspect in ASPECTS
        for angle in ANGLES
    }


def _write(aspect: str, angle: str) -> list[str]:
    """Return twelve sentences about an aspect, with numbers and names of their own."""
    random = Random(f"{aspect}/{angle}")
    people = [
        f"{first} {last}" for first in ("Ines", "Jon", "Ada", "Tomas", "Lena") for last in ("Oduya", "Pell", "Brill")
    ]
    patterns = (
        "In {year} the {aspect} of Sorrel Island employed {n} people, as {person} wrote in the {angle} of the trade.",
        "{person} raised {n} crowns for the {aspect} in {year}, which doubled what the island earned from it.",
        "The {aspect} brought {n} visitors and traders in {year}, most of them by the ferry from Port Marram.",
        "After the storm of {year} the {aspect} stood still for {n} days until {person} had the quay mended.",
        "{person} kept the accounts of the {aspect} from {year} on; they list {n} families that lived by it.",
        "A law of {year} taxed the {aspect} at {n} crowns a season, and {person} spoke against it.",
    )
    return [
        random.choice(patterns).format(
            aspect=aspect,
            angle=angle,
            year=random.randint(1640, 2024),
            n=random.randint(20, 9000),
            person=random.choice(people),
        )
        for _ in range(12)
    ]


@dataclass
class World:
    """The running servers and what they counted."""

    name: WorldName
    search_url: str = ""
    page_host: str = ""
    model_url: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    queries: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    """Documents of which at least one sentence stood in a prompt."""
    unknown_prompts: list[str] = field(default_factory=list)


@contextmanager
def running(name: WorldName, temper: Temper, *, latency: float = LATENCY) -> Iterator[World]:
    """Run the model, the search engine and the pages inside the block."""
    documents = make_documents(name)
    world = World(name)
    index = build_index(documents)
    model = ScriptedModel(world, temper, latency)

    def find(query: str, count: int) -> list[str]:
        world.counts["searches"] += 1
        world.queries.append(query)
        searcher = index.searcher()
        parsed, _ = index.parse_query_lenient(" ".join(re.findall(r"\w+", query)), ["title", "body"])
        return [searcher.doc(address)["path"][0] for _, address in searcher.search(parsed, count).hits]

    def answer_page(request: Request) -> Answer:
        if request.path == "/robots.txt":
            return Answer(b"User-agent: *\nDisallow:\n", headers={"content-type": "text/plain"})
        if request.path not in documents:
            return Answer(b"nothing here", status=404)
        world.counts["pages"] += 1
        return Answer(page(*documents[request.path]).encode(), headers={"content-type": "text/html; charset=utf-8"})

    def answer_search(request: Request) -> Answer:
        if request.path != "/search":
            return Answer(b"<html><body>a search engine</body></html>", headers={"content-type": "text/html"})
        if request.method == "POST":  # Tavily
            wanted = request.body
            results = [
                _make_result(path, with_text=bool(wanted.get("include_raw_content")))
                for path in find(wanted["query"], wanted.get("max_results") or 5)
            ]
            return Answer(
                {"query": wanted["query"], "results": results, "images": [], "response_time": 0.01},
                headers={"content-type": "application/json"},
            )
        results = [_make_result(path) for path in find(request.params.get("q", ""), RESULTS)]
        if request.params.get("format") == "json":
            return Answer(
                {"query": request.params.get("q"), "results": results}, headers={"content-type": "application/json"}
            )
        items = "".join(
            f'<article class="result"><h3><a class="url" href="{one["url"]}">{html.escape(one["title"])}</a></h3>'
            f'<p class="content">{html.escape(one["content"])}</p></article>'
            for one in results
        )
        return Answer(
            f"<html><body>{items}</body></html>".encode(), headers={"content-type": "text/html; charset=utf-8"}
        )

    def _make_result(path: str, *, with_text: bool = False) -> dict[str, Any]:
        title, lines = documents[path]
        result: dict[str, Any] = {
            "url": f"http://{world.page_host}{path}",
            "title": title,
            "content": " ".join(lines)[:300],
        }
        return {**result, "score": 0.9, **({"raw_content": " ".join(lines)} if with_text else {})}

    llm_server = FakeLlm(model, models=[MODEL], context=128_000)
    with serving(answer_page) as pages, serving(answer_search) as search, llm_server as llm:
        world.page_host = pages.url.removeprefix("http://")
        world.search_url, world.model_url = search.url, llm.url
        yield world


class ScriptedModel:
    """Answers every prompt of every tool in the shape it asks for."""

    def __init__(self, world: World, temper: Temper, latency: float = LATENCY) -> None:
        self._world, self._eager, self._latency = world, temper == "eager", latency
        self._sentences = {
            sentence: path
            for path, (_, lines) in make_documents(world.name).items()
            for line in lines
            for sentence in _SENTENCE_END.split(line)
        }
        self._asked = 0
        self._lock = Lock()

    def __call__(self, body: Body) -> Say:
        if "input" in body:
            self._world.counts["embedding calls"] += 1
            return Say(raw=_encode_embeddings(body), headers={"content-type": "application/json"})
        counts = self._world.counts
        counts["calls"] += 1
        counts["prompt characters"] += sum(len(text) for text in _list_texts(body))
        shown = self._find_sentences("\n".join(_list_texts(body)))
        self._world.seen.update(self._sentences[sentence] for sentence in shown)
        answer = self._answer(body)
        delay = self._latency
        if isinstance(answer, str):
            return Say(answer, delay=delay, usage=(_count_tokens(body), len(answer) // 4))
        return Say(raw=_encode_tool_calls(answer, body), delay=delay)

    def _answer(self, body: Body) -> str | list[tuple[str, dict[str, Any]]]:
        if (role := _find_role(body)) is not None:
            return self._answer_suffice(role, body)
        tools = [tool["function"]["name"] for tool in body.get("tools") or () if "function" in tool]
        if tools:
            return self._call_tools(tools, body)
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
        if schema:
            return json.dumps(self._fill(schema, body))
        return self._answer_text("\n".join(_list_texts(body)))

    # -- queries and reports -----------------------------------------------------------------------------------------------

    def _ask(self, count: int, text: str) -> list[str]:
        """Return queries about aspects that the text does not name."""
        with self._lock:
            fresh = [aspect for aspect in ASPECTS if aspect not in text]
            pool = fresh or list(ASPECTS)
            queries = []
            for _ in range(count):
                angle = ANGLES[(self._asked // len(pool)) % len(ANGLES)]
                queries.append(f"Sorrel Island {pool[self._asked % len(pool)]} {angle}")
                self._asked += 1
        return queries

    def _find_sentences(self, text: str, most: int | None = None) -> list[str]:
        """Return the world's sentences in a text, in its order."""
        plain = " ".join(text.split())
        found = sorted((place, sentence) for sentence in self._sentences if (place := plain.find(sentence)) >= 0)
        return [sentence for _, sentence in found[:most]]

    def _write_report(self, text: str) -> str:
        lines = self._find_sentences(text, 40) or ["The sources that were found do not say how the economy developed."]
        paragraphs = [" ".join(lines[start : start + 5]) for start in range(0, len(lines), 5)]
        return "# The economy of Sorrel Island\n\n" + "\n\n".join(paragraphs)

    # -- tools with structured answers and tool calls ------------------------------------------------------------------------

    def _fill(self, schema: Mapping[str, Any], body: Body) -> dict[str, Any]:
        text = "\n".join(_list_texts(body))
        known = {
            "need_clarification": False,
            "question": "",
            "verification": "The request is clear; the research starts now.",
            "research_brief": QUESTION,
            "summary": " ".join(self._find_sentences(text, 6)),
            "key_excerpts": " ".join(self._find_sentences(text, 2)),
        }
        missing = [name for name in schema.get("properties", {}) if name not in known]
        if missing:
            self._note_unknown(f"schema {sorted(schema['properties'])}")
        return {name: known.get(name, "") for name in schema.get("properties", {})}

    def _call_tools(self, tools: Sequence[str], body: Body) -> str | list[tuple[str, dict[str, Any]]]:
        text = "\n".join(_list_texts(body))
        researched = any(message.get("role") == "tool" for message in body["messages"])
        if len(tools) == 1 and (body.get("tool_choice") or "auto") != "auto":  # A structured answer as a forced call.
            schema = body["tools"][0]["function"].get("parameters", {})
            return [(tools[0], self._fill(schema, body))]
        is_done = researched and not self._eager
        if "ConductResearch" in tools:
            if is_done:
                return [("ResearchComplete", {})]
            return [
                ("ConductResearch", {"research_topic": f"{query}: how it shaped the economy of the island."})
                for query in self._ask(FREE_CHOICE, text)
            ]
        if "tavily_search" in tools:
            if is_done:
                return [("ResearchComplete", {})]
            return [("tavily_search", {"queries": self._ask(FREE_CHOICE, text)})]
        if "web_search" in tools:
            if is_done:
                return self._write_report(text)
            return [("web_search", {"query": query}) for query in self._ask(FREE_CHOICE, text)]
        self._note_unknown(f"tools {sorted(tools)}")
        return self._write_report(text)

    # -- tools with plain prompts --------------------------------------------------------------------------------------------

    def _answer_text(self, text: str) -> str:
        """Answer the plain prompts of gpt-researcher and local-deep-research, and all reports."""
        number = next(
            (int(found[1]) for found in re.finditer(r"(\d+) (?:unique|search|high-quality)", text)), FREE_CHOICE
        )
        if "agent_role_prompt" in text:
            return json.dumps(
                {"server": "Economics Agent", "agent_role_prompt": "You are an economic historian of islands."}
            )
        if "respond with a list of strings" in text:
            return json.dumps(self._ask(number, text))
        if "Query: <query>" in text:
            return "\n".join(
                f"Query: {query}\nGoal: Learn what it meant for the economy." for query in self._ask(number, text)
            )
        if "'Learning [source_url]: <insight>'" in text:
            urls = re.findall(r"http://[\w.:/-]+", text) or ["http://127.0.0.1/"]
            learnings = [f"Learning [{urls[0]}]: {line}" for line in self._find_sentences(text, FREE_CHOICE)]
            return "\n".join(
                [*learnings, *(f"Question: What about {query}?" for query in self._ask(FREE_CHOICE, text))]
            )
        if "starting with 'Question: '" in text:
            return "\n".join(f"Question: {query}?" for query in self._ask(number, text))
        if "One question per line" in text:
            return "\n".join(f"Q: {query}" for query in self._ask(number, text))
        if "JSON array of indices" in text:
            return json.dumps(sorted({int(found) for found in re.findall(r"^\[(\d+)\] Engine", text, re.MULTILINE)}))
        if any(phrase in text.lower() for phrase in _WRITING):
            return self._write_report(text)
        self._note_unknown(text[:200])
        return self._write_report(text)

    # -- suffice -------------------------------------------------------------------------------------------------------------

    def _answer_suffice(self, role: str, body: Body) -> str:
        text = "\n".join(_list_texts(body))
        if role == "plan":
            queries = [
                {"query": query, "intent": "what it meant for the economy"} for query in self._ask(FREE_CHOICE, text)
            ]
            return json.dumps({"queries": queries, "complexity": "standard", "task_type": "research", "notes": ""})
        if role == "reflect":
            gaps = [] if not self._eager else ["How the other trades developed is not known."]
            new = self._ask(FREE_CHOICE, text) if self._eager else []
            return json.dumps({"sufficient": not self._eager, "confidence": 0.6, "gaps": gaps, "new_queries": new})
        if role == "self_test":  # Whether the model can write from sources; this one can.
            return SENSIBLE[role]
        if role in ("draft", "revise", "answer", "short_answer"):
            return self._cite(text)
        if role == "evaluate":
            score = 7 if self._eager else 9
            names = ("relevance", "completeness", "depth", "grounded", "specificity", "structure")
            issue = {"dimension": "completeness", "section": "", "problem": "Other trades are missing."}
            return json.dumps({**dict.fromkeys(names, score), "issues": [issue] if self._eager else []})
        self._note_unknown(f"suffice {role}")
        return self._cite(text)

    def _cite(self, text: str) -> str:
        """Return sentences of the sources in a prompt, each with the id above it."""
        cited = []
        for part in text.split("\n<<<\n")[1:]:
            before = text[: text.index(part)]
            handles = _HANDLE.findall(before[-60:])
            lines = self._find_sentences(part.partition("\n>>>")[0], 2)
            cited += [f"{line} [{handles[-1]}]" for line in lines if handles]
        return " ".join(cited[:24]) or "The sources do not say how the economy developed."

    def _note_unknown(self, what: str) -> None:
        self._world.unknown_prompts.append(what)


_WRITING = (
    "write a report",
    "report",
    "clean up",
    "cleaned up",
    "answer the question",
    "factual consistency",
    "detailed answer",
)


def _find_role(body: Body) -> str | None:
    """Return suffice's name of the prompt; ``None`` if the prompt is another tool's."""
    try:
        return role_of(body)
    except (ValueError, KeyError, TypeError, IndexError):
        return None


def _list_texts(body: Body) -> list[str]:
    texts = []
    for message in body.get("messages", ()):
        content = message.get("content")
        if isinstance(content, str):
            texts.append(content)
        elif isinstance(content, list):
            texts += [
                part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)
            ]
    return texts


def _count_tokens(body: Body) -> int:
    return sum(len(text) for text in _list_texts(body)) // 4


def _encode_tool_calls(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> bytes:
    tool_calls = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": tool_calls}
    used = _count_tokens(body)
    return json.dumps(
        {
            "id": "chat-1",
            "object": "chat.completion",
            "created": 1,
            "model": "stub",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}],
            "usage": {"prompt_tokens": used, "completion_tokens": 40, "total_tokens": used + 40},
        }
    ).encode()


def _encode_embeddings(body: Body) -> bytes:
    """Return a bag-of-words vector for each input: nearer texts share more words."""
    inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = [{"object": "embedding", "index": number, "embedding": _embed(one)} for number, one in enumerate(inputs)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return json.dumps({"object": "list", "data": data, "model": "stub", "usage": usage}).encode()


def _embed(text: object) -> list[float]:
    words = re.findall(r"\w+", text.lower()) if isinstance(text, str) else [str(token) for token in text]  # type: ignore[attr-defined]
    vector = [0.01] * DIMENSIONS
    for word in words:
        vector[blake2b(word.encode(), digest_size=2).digest()[0] % DIMENSIONS] += 1.0
    norm = sum(value * value for value in vector) ** 0.5
    return [value / norm for value in vector]
