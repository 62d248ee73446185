"""Read everything in scope in the order of its relevance, a batch a round, until the gate has enough.

The ranking of all passages is the run's ``survey``; the search of such a run returns its next batch.
"""

from suffice.strategies.base import RunView
from suffice.types import Query


class SurveyStrategy:
    async def propose(self, run: RunView) -> list[Query]:
        survey = run.survey
        if survey is None or not survey.left:
            return []
        if not run.records:
            return [Query(run.task, "the question itself, compared with everything in scope")]
        first, last = survey.next_rows
        return [Query(f"passages {first:,} to {last:,} of {survey.size:,} by relevance", "the next most relevant ones")]
