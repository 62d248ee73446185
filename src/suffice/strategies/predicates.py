"""Search for the first open question, update the belief, repeat.

The plan sets the open questions; the memory closes them (or the run, for a memory without facts). A question is asked together
with names that were found on the way to it. When no question is left, or none can be put in new words, the strategy follows
what was found, for gates that continue.
"""

from suffice.strategies.base import RunView
from suffice.text.entities import content_stems, extract_facets, extract_names
from suffice.text.tokens import tokenize
from suffice.types import BELIEF_KIND, Query

_MAX_BRIDGES = 2  # Names from the belief in one query; with more, the query asks for everything at once.
_BELIEF_TOKENS = 1_000  # Tokens of belief in which names are looked for.


class PredicatesStrategy:
    async def propose(self, run: RunView) -> list[Query]:
        if not run.records:
            await set_open_questions(run)
            return self._propose_first(run)
        for question in run.open_questions.rank_by_tries():
            queries = run.filter_new_queries(_build_queries(run, question))
            if queries:
                run.open_questions.mark_tried(question)
                return queries
        return run.propose_follow_ups(1)

    def _propose_first(self, run: RunView) -> list[Query]:
        queries = [Query(run.task, "the task itself")]
        question = run.open_questions.get_next()
        if question is not None and not _is_task_facet(question, run.task):
            run.open_questions.mark_tried(question)
            queries.append(Query(question, "an open question"))
        return queries


async def set_open_questions(run: RunView) -> None:
    """Set the open questions once: the queries of the plan, or the parts of the task if the plan only repeats it."""
    if run.open_questions.open_count is not None:
        return
    task = tokenize(run.task)
    planned = [query.query for query in (await run.plan()).queries if tokenize(query.query) != task]
    questions = planned if len(planned) > 1 else [facet.text for facet in extract_facets(run.task)]
    for question in questions or [run.task]:
        run.open_questions.add(question)


def _build_queries(run: RunView, question: str) -> list[Query]:
    if _is_task_facet(question, run.task):  # Alone it is too vague; the best follow-up has the whole task.
        return run.propose_follow_ups(1)
    names = find_bridge_names(run, question)
    if not names and not extract_names(question):
        names = list(extract_names(run.task))
    return [Query(" ".join([question, *names]), f"open: {question}")]


def find_bridge_names(run: RunView, question: str) -> list[str]:
    """Return names that facts about the question introduce, newest first; names not yet in a query come first."""
    given = f"{run.task} {question}".lower()
    facts = [note.text for note in run.render_memory(_BELIEF_TOKENS) if note.kind == BELIEF_KIND]
    stems = content_stems(f"{run.task} {question}")
    related = [fact for fact in reversed(facts) if stems & content_stems(fact)]
    names = dict.fromkeys(name for fact in related for name in extract_names(fact) if name.lower() not in given)
    asked = " ".join(run.asked_queries).lower()
    return sorted(names, key=lambda name: name.lower() in asked)[:_MAX_BRIDGES]


def _is_task_facet(question: str, task: str) -> bool:
    """Return whether the question is only a part of the task."""
    return any(question == facet.text for facet in extract_facets(task))
