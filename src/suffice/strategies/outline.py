"""Cover the topics of an outline, the least covered first (S5).

The plan's queries boot the search; what they bring becomes an outline. Every later round asks for the topic that the
evidence covers least and keeps the chunks that are near to it and say something new. Passages that belong together but to
no topic may become one; a changed outline begins the gain history anew.
"""

import asyncio
from collections.abc import Sequence

from suffice.prompts import DraftOutline, HypotheticalDocument, LabelCluster, ProposeQuery
from suffice.state.outline import TopicOutline, normalize_topics
from suffice.state.run import RunState
from suffice.types import Hits, Note, Passage, Query

INITIAL_TOPICS = 5  # An outline begins with four or five topics …
MAX_TOPICS = 8  # … and never grows beyond this.
_OUTLINE_TOKENS = 2500  # What the outline is drawn from: about 10,000 characters (S5).
_KNOWN_TOKENS = 1000
_MIN_CHUNKS = 8  # With fewer chunks than groups there is nothing latent in them (S5).
_LABEL_PASSAGES, _LABEL_PASSAGE_CHARS = (
    5,
    600,
)  # Passages of a group that its label is made from: about 3,000 characters (S5).


class OutlineStrategy:
    def __init__(self) -> None:
        self._topic_by_query: dict[str, int] = {}
        self._labelled_groups: set[frozenset[str]] = set()

    async def propose(self, run: RunState) -> list[Query]:
        if not run.records:
            return [Query(planned.query, planned.intent) for planned in (await run.plan()).queries]
        outline = run.outline = run.outline or await _draft_outline(run)
        await asyncio.to_thread(outline.add_passages, run.evidence.get_passages_after(outline.passage_count))
        await self._add_latent_topic(run, outline)
        topics = outline.rank_open_topics()
        queries = await self._propose_for_topic(run, outline, topics[0])
        # A topic that was asked for in every way makes room for the next.
        queries = (
            queries or run.filter_new_queries([Query(outline.topics[number], "an open topic") for number in topics])[:1]
        )
        number = {outline.topics[number]: number for number in topics}
        self._topic_by_query = {query.text: number.get(query.text, topics[0]) for query in queries}
        return queries

    async def choose(self, run: RunState, unseen: Sequence[Hits]) -> list[Passage]:
        """Before there is an outline the search's own scores decide."""
        if run.outline is None:
            passages = [passage for hits in unseen for passage in hits.passages]
            return sorted(passages, key=lambda passage: -(passage.score or 0.0))
        aimed = [(self._topic_by_query.get(hits.query.text, 0), hits) for hits in unseen]
        return await asyncio.to_thread(run.outline.select_passages, aimed)

    async def _propose_for_topic(self, run: RunState, outline: TopicOutline, number: int) -> list[Query]:
        """What the model asks about the topic; without that, the topic itself or an open lead."""
        leads = run.follow_ups.propose(3)
        known = run.memory.render(_KNOWN_TOKENS)
        topic = outline.topics[number]
        gap = await run.try_ask(
            ProposeQuery(run.task, topic, known, tuple(run.asked_queries[-30:]), tuple(lead.text for lead in leads))
        )
        wanted = [Query(gap.query, f"about {topic!r}")] if gap is not None else []
        return run.filter_new_queries([*wanted, Query(topic, f"about {topic!r}"), *leads])[:1]

    async def _add_latent_topic(self, run: RunState, outline: TopicOutline) -> None:
        """One group a round is labelled: the largest that was not labelled before."""
        if (
            not outline.supports_latent_topics
            or outline.passage_count < _MIN_CHUNKS
            or len(outline.topics) >= MAX_TOPICS
        ):
            return
        for group in await asyncio.to_thread(outline.find_latent_groups, run.seed):
            key = frozenset(passage.id for passage in group)
            if key in self._labelled_groups:
                continue
            self._labelled_groups.add(key)
            shown = tuple(
                Note(passage.text[:_LABEL_PASSAGE_CHARS], (), passage.title) for passage in group[:_LABEL_PASSAGES]
            )
            answer = await run.try_ask(LabelCluster(run.task, tuple(outline.topics), shown))
            label = normalize_topics([answer.label], 1) if answer is not None else []
            if label and not await asyncio.to_thread(outline.has_topic, label[0]):
                await _add_topics(run, outline, label)
            return


async def _draft_outline(run: RunState) -> TopicOutline:
    """The outline after the first round; the question is its only topic when the model finds none."""
    outline = TopicOutline(run.embed)
    answer = await run.try_ask(DraftOutline(run.task, run.memory.render(_OUTLINE_TOKENS), INITIAL_TOPICS))
    await _add_topics(
        run, outline, normalize_topics(answer.topics if answer is not None else (), INITIAL_TOPICS) or [run.task]
    )
    return outline


async def _add_topics(run: RunState, outline: TopicOutline, topics: list[str]) -> None:
    """Each topic's hypothetical answer is asked for here and nowhere else: once a topic."""
    texts = await asyncio.gather(*(_write_hypothetical_answer(run, topic) for topic in topics))
    await asyncio.to_thread(outline.add_topics, topics, texts)


async def _write_hypothetical_answer(run: RunState, topic: str) -> str:
    """What an answer to the topic might read like; the topic itself where there is none."""
    answer = await run.try_ask(HypotheticalDocument(run.task, topic))
    return (answer.text.strip() if answer is not None else "") or topic
