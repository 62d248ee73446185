"""Act on the top open question, observe, update the belief, again (S3).

The plan sets the open questions; the memory (or, for a memory that keeps no facts, the run) closes them. A question is asked
together with what was found so far on the way to it. When no question is left, or none can be put in new words, the run
follows its own leads, for gates that go on.
"""

from suffice.state.run import RunState
from suffice.text.entities import content_stems, extract_facets, extract_names
from suffice.text.tokens import tokenize
from suffice.types import BELIEF_KIND, Query

_MAX_BRIDGES = 2  # Names from the belief in one query; more of them ask for everything at once.
_BELIEF_TOKENS = 1_000  # Tokens of belief in which names are looked for.


class PredicatesStrategy:
    async def propose(self, run: RunState) -> list[Query]:
        if not run.records:
            await set_predicates(run)
            top = run.predicates.get_next()
            first = [Query(run.task, "the task itself")]
            if top is not None and not _is_task_facet(top, run.task):
                run.predicates.mark_tried(top)
                first.append(Query(top, "an open question"))
            return first
        for question in run.predicates.rank_by_tries():
            if _is_task_facet(question, run.task):
                # A bare part of the task asks for anything; the best lead asks the task along what was found.
                queries = run.filter_new_queries(run.follow_ups.propose(1))
            else:
                # A question that names nothing is asked with what was found, else with what the task names.
                found = find_bridge_names(run, question) or (
                    [] if extract_names(question) else list(extract_names(run.task))
                )
                queries = run.filter_new_queries([Query(" ".join([question, *found]), f"open: {question}")])
            if queries:
                run.predicates.mark_tried(question)
                return queries
        return run.follow_ups.propose(1)


async def set_predicates(run: RunState) -> None:
    """The plan's queries as open questions; a plan that only repeats the task leaves the task's own parts (once a run)."""
    if run.predicates.open_count is not None:
        return
    task = tokenize(run.task)
    planned = [query.query for query in (await run.plan()).queries if tokenize(query.query) != task]
    parts = planned if len(planned) > 1 else [facet.text for facet in extract_facets(run.task)]
    for question in parts or [run.task]:
        run.predicates.add(question)


def find_bridge_names(run: RunState, question: str) -> list[str]:
    """Names that the belief ties to the question and that neither the question nor the task has, newest first."""
    given = f"{run.task} {question}".lower()
    facts = [note.text for note in run.memory.render(_BELIEF_TOKENS) if note.kind == BELIEF_KIND]
    wanted = content_stems(f"{run.task} {question}")
    tied = [fact for fact in reversed(facts) if wanted & content_stems(fact)]
    found = dict.fromkeys(name for fact in tied for name in extract_names(fact) if name.lower() not in given)
    asked = " ".join(run.asked_queries).lower()
    # What no query has named yet comes first: it is the open end of the chain.
    return sorted(found, key=lambda name: name.lower() in asked)[:_MAX_BRIDGES]


def _is_task_facet(question: str, task: str) -> bool:
    """A part of the task, not a question of its own."""
    return any(question == facet.text for facet in extract_facets(task))
