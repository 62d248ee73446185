"""Cover the topics of an outline, the least covered first.

The queries of the plan make the first round; its results become an outline. Every later round asks for the topic that the
evidence covers least, and keeps passages that are near to it and new. Passages that are similar to each other but to no topic
may become a topic; after that the history of gains starts again. Source: docs/sources.md.
"""

import asyncio
from collections.abc import Sequence

from suffice.prompts.outline import DraftOutline, HypotheticalDocument, LabelCluster
from suffice.state.outline import MAX_CHUNKS, normalize_topics
from suffice.strategies.base import RunView, ask_for_query, list_first_queries
from suffice.types import Hits, Note, Passage, Query

INITIAL_TOPICS = 5  # Topics of the first outline.
MAX_TOPICS = 8
# Tokens that the outline is drafted from, about 10,000 characters. Value of the source system, see docs/sources.md.
_OUTLINE_TOKENS = 2500
# With fewer passages, no latent topics are looked for. Value of the source system, see docs/sources.md.
_MIN_PASSAGES = 8
# What a label is derived from, about 3,000 characters. Values of the source system.
_LABEL_PASSAGES, _LABEL_PASSAGE_CHARS = 5, 600


class OutlineStrategy:
    def __init__(self) -> None:
        self._topic_by_query: dict[str, int] = {}
        self._labelled_groups: set[frozenset[str]] = set()
        self.candidates_per_query = 0
        """Passages of a query that are chosen from: more than are kept once hypothetical answers tell them apart."""

    async def propose(self, run: RunView) -> list[Query]:
        if not run.records:
            return run.filter_new_queries(list_first_queries(run.task, await run.plan()))
        outline = run.outline
        if not outline.topics:
            await _draft_outline(run)
        await asyncio.to_thread(outline.add_passages, [*run.evidence][outline.passage_count :])
        await self._add_latent_topic(run)
        ranked = outline.rank_open_topics()
        queries = await _propose_for_topic(run, ranked[0])
        if not queries:  # Nothing new can be asked about the first topic: take the next.
            queries = run.filter_new_queries([Query(outline.topics[topic], "an open topic") for topic in ranked])[:1]
        topic_by_title = {outline.topics[topic]: topic for topic in ranked}
        self.candidates_per_query = MAX_CHUNKS if outline.has_hypothetical_answers else 0
        self._topic_by_query = {query.text: topic_by_title.get(query.text, ranked[0]) for query in queries}
        return queries

    async def choose(self, run: RunView, unseen: Sequence[Hits]) -> list[Passage]:
        """Return the passages that suit their topic; before there is an outline, those with the best scores."""
        if not run.outline.topics:
            passages = [passage for hits in unseen for passage in hits.passages]
            return sorted(passages, key=lambda passage: -(passage.score or 0.0))
        found = [(self._topic_by_query.get(hits.query.text, 0), hits) for hits in unseen]
        return await asyncio.to_thread(run.outline.select_passages, found)

    async def _add_latent_topic(self, run: RunView) -> None:
        """Label the largest group of passages without a label; add it as a topic if it is new. One group a round."""
        outline = run.outline
        is_early, is_full = outline.passage_count < _MIN_PASSAGES, len(outline.topics) >= MAX_TOPICS
        if not outline.supports_latent_topics or is_early or is_full:
            return
        for group in await asyncio.to_thread(outline.find_latent_groups, run.seed):
            key = frozenset(passage.id for passage in group)
            if key in self._labelled_groups:
                continue
            self._labelled_groups.add(key)
            notes = tuple(
                Note(passage.text[:_LABEL_PASSAGE_CHARS], (), passage.title) for passage in group[:_LABEL_PASSAGES]
            )
            answer = await run.try_ask(LabelCluster(run.task, tuple(outline.topics), notes))
            label = normalize_topics([answer.text], 1) if answer is not None else []
            if label and not await asyncio.to_thread(outline.has_topic, label[0]):
                await _add_topics(run, label)
            return


async def _propose_for_topic(run: RunView, topic: int) -> list[Query]:
    """Return the model's query about a topic; if it is not new, the topic itself or a follow-up."""
    title = run.outline.topics[topic]
    intent = f"about {title!r}"
    covered = Note(run.outline.describe_coverage(), (), "How well each topic is covered, from 0 to 1")
    gap = await ask_for_query(run, title, intent, [covered])
    return run.filter_new_queries([*gap, Query(title, intent), *run.propose_follow_ups(3)])[:1]


async def _draft_outline(run: RunView) -> None:
    """Draft the outline from the first round; the task is its only topic if the model proposes none."""
    answer = await run.try_ask(DraftOutline(run.task, run.render_memory(_OUTLINE_TOKENS), INITIAL_TOPICS))
    topics = normalize_topics(answer.topics if answer is not None else (), INITIAL_TOPICS)
    await _add_topics(run, topics or [run.task])


async def _add_topics(run: RunView, topics: list[str]) -> None:
    """Add topics with their hypothetical answers, each of which is asked for once."""
    answers = await asyncio.gather(*(_write_hypothetical_answer(run, topic) for topic in topics))
    await asyncio.to_thread(run.outline.add_topics, topics, answers)


async def _write_hypothetical_answer(run: RunView, topic: str) -> str:
    """Return what an answer about the topic might read like; the topic itself if the model has none."""
    answer = await run.try_ask(HypotheticalDocument(run.task, topic))
    return (answer.text.strip() if answer is not None else "") or topic
