"""Act on the top open question, observe, update the belief, again (S3).

The plan sets the open questions; the memory (or, for a memory that keeps no facts, the run) closes them. A question is asked
together with what was found so far on the way to it. When no question is left, or none can be put in new words, the run
follows its own leads, for gates that go on.
"""

from suffice.run import Run
from suffice.text.entities import content_stems, facets, names
from suffice.text.tokens import words
from suffice.types import BELIEF, Query

_BRIDGES = 2  # Names from the belief in one query; more of them ask for everything at once.
_LOOKED_AT = 1_000  # Tokens of belief in which names are looked for.


class PredicatesStrategy:
    async def propose(self, run: Run) -> list[Query]:
        if not run.records:
            await set_predicates(run)
            top = run.predicates.top()
            first = [Query(run.task, "the task itself")]
            if top is not None and not _bare(top, run.task):
                run.predicates.tried(top)
                first.append(Query(top, "an open question"))
            return first
        for question in run.predicates.ranked():
            if _bare(question, run.task):
                # A bare part of the task asks for anything; the best lead asks the task along what was found.
                queries = run.fresh(run.leads.propose(1))
            else:
                # A question that names nothing is asked with what was found, else with what the task names.
                found = bridges(run, question) or ([] if names(question) else list(names(run.task)))
                queries = run.fresh([Query(" ".join([question, *found]), f"open: {question}")])
            if queries:
                run.predicates.tried(question)
                return queries
        return run.leads.propose(1)


async def set_predicates(run: Run) -> None:
    """The plan's queries as open questions; a plan that only repeats the task leaves the task's own parts (once a run)."""
    if run.predicates.reading is not None:
        return
    task = words(run.task)
    planned = [query.query for query in (await run.plan()).queries if words(query.query) != task]
    parts = planned if len(planned) > 1 else [facet.text for facet in facets(run.task)]
    for question in parts or [run.task]:
        run.predicates.add(question)


def bridges(run: Run, question: str) -> list[str]:
    """Names that the belief ties to the question and that neither the question nor the task has, newest first."""
    given = f"{run.task} {question}".lower()
    facts = [note.text for note in run.memory.render(_LOOKED_AT) if note.kind == BELIEF]
    wanted = content_stems(f"{run.task} {question}")
    tied = [fact for fact in reversed(facts) if wanted & content_stems(fact)]
    found = dict.fromkeys(name for fact in tied for name in names(fact) if name.lower() not in given)
    asked = " ".join(run.asked).lower()
    # What no query has named yet comes first: it is the open end of the chain.
    return sorted(found, key=lambda name: name.lower() in asked)[:_BRIDGES]


def _bare(question: str, task: str) -> bool:
    """A part of the task, not a question of its own."""
    return any(question == facet.text for facet in facets(task))
