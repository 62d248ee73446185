"""Cover the topics of an outline, the least covered first (S5).

The plan's queries boot the search; what they bring becomes an outline. Every later round asks for the topic that the
evidence covers least and keeps the chunks that are near to it and say something new. Passages that belong together but to
no topic may become one; a changed outline begins the gain history anew.
"""

import asyncio
from collections.abc import Sequence

from suffice.asks import DraftOutline, Gap, Hypothetical, Label
from suffice.outline import Outline, distinct
from suffice.run import Run
from suffice.types import Hits, Note, Passage, Query

TOPICS = 5  # An outline begins with four or five topics …
MOST_TOPICS = 8  # … and never grows beyond this.
_BOOT_TOKENS = 2500  # What the outline is drawn from: about 10,000 characters (S5).
_KNOWN_TOKENS = 1000
_LEAST_CHUNKS = 8  # With fewer chunks than groups there is nothing latent in them (S5).
_SHOWN, _SHOWN_CHARS = 5, 600  # Passages of a group that its label is made from: about 3,000 characters (S5).


class OutlineStrategy:
    def __init__(self) -> None:
        self._aim: dict[str, int] = {}
        self._labelled: set[frozenset[str]] = set()

    async def propose(self, run: Run) -> list[Query]:
        if not run.records:
            return [Query(planned.query, planned.intent) for planned in (await run.plan()).queries]
        outline = run.outline = run.outline or await _drafted(run)
        await asyncio.to_thread(outline.take, run.evidence.since(outline.taken))
        await self._look_for_latent(run, outline)
        topics = outline.open_topics()
        queries = await self._queries(run, outline, topics[0])
        # A topic that was asked for in every way makes room for the next.
        queries = queries or run.fresh([Query(outline.topics[number], "an open topic") for number in topics])[:1]
        number = {outline.topics[number]: number for number in topics}
        self._aim = {query.text: number.get(query.text, topics[0]) for query in queries}
        return queries

    async def choose(self, run: Run, unseen: Sequence[Hits]) -> list[Passage]:
        """Before there is an outline the search's own scores decide."""
        if run.outline is None:
            passages = [passage for hits in unseen for passage in hits.passages]
            return sorted(passages, key=lambda passage: -(passage.score or 0.0))
        aimed = [(self._aim.get(hits.query.text, 0), hits) for hits in unseen]
        return await asyncio.to_thread(run.outline.choose, aimed)

    async def _queries(self, run: Run, outline: Outline, number: int) -> list[Query]:
        """What the model asks about the topic; without that, the topic itself or an open lead."""
        leads = run.leads.propose(3)
        known = run.memory.render(_KNOWN_TOKENS)
        topic = outline.topics[number]
        gap = await run.attempt(Gap(run.task, topic, known, tuple(run.asked[-30:]), tuple(lead.text for lead in leads)))
        wanted = [Query(gap.query, f"about {topic!r}")] if gap is not None else []
        return run.fresh([*wanted, Query(topic, f"about {topic!r}"), *leads])[:1]

    async def _look_for_latent(self, run: Run, outline: Outline) -> None:
        """One group a round is labelled: the largest that was not labelled before."""
        if not outline.latent or outline.taken < _LEAST_CHUNKS or len(outline.topics) >= MOST_TOPICS:
            return
        for group in await asyncio.to_thread(outline.groups, run.seed):
            key = frozenset(passage.id for passage in group)
            if key in self._labelled:
                continue
            self._labelled.add(key)
            shown = tuple(Note(passage.text[:_SHOWN_CHARS], (), passage.title) for passage in group[:_SHOWN])
            answer = await run.attempt(Label(run.task, tuple(outline.topics), shown))
            label = distinct([answer.label], 1) if answer is not None else []
            if label and not await asyncio.to_thread(outline.knows, label[0]):
                await _add(run, outline, label)
            return


async def _drafted(run: Run) -> Outline:
    """The outline after the first round; the question is its only topic when the model finds none."""
    outline = Outline(run.embed)
    answer = await run.attempt(DraftOutline(run.task, run.memory.render(_BOOT_TOKENS), TOPICS))
    await _add(run, outline, distinct(answer.topics if answer is not None else (), TOPICS) or [run.task])
    return outline


async def _add(run: Run, outline: Outline, topics: list[str]) -> None:
    """Each topic's hypothetical answer is asked for here and nowhere else: once a topic."""
    texts = await asyncio.gather(*(_imagined(run, topic) for topic in topics))
    await asyncio.to_thread(outline.add, topics, texts)


async def _imagined(run: Run, topic: str) -> str:
    """What an answer to the topic might read like; the topic itself where there is none."""
    answer = await run.attempt(Hypothetical(run.task, topic))
    return (answer.text.strip() if answer is not None else "") or topic
