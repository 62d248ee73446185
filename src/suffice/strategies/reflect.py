"""Plan, search, reflect, repeat.

The question itself and the queries of the plan make the first round: neither finds as much alone. Every later round asks the
queries that the reflection on the round before proposes; the reflection also rewords thin queries. The plan is never made
again.
"""

from suffice.strategies.base import RunView, list_first_queries
from suffice.types import Query


class ReflectStrategy:
    async def propose(self, run: RunView) -> list[Query]:
        if not run.records:
            return run.filter_new_queries(list_first_queries(run.task, await run.plan()))
        reflection = await run.reflect()
        queries = reflection.list_queries() if reflection is not None else []
        # If the reflection failed or has nothing new, follow what was found.
        return run.filter_new_queries(queries) or run.propose_follow_ups(1)
