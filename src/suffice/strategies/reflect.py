"""Plan, search, reflect, repeat.

The queries of the plan make the first round. Every later round asks the queries that the reflection on the round before
proposes; the reflection also rewords thin queries. The plan is never made again.
"""

from suffice.strategies.base import RunView
from suffice.types import Query


class ReflectStrategy:
    async def propose(self, run: RunView) -> list[Query]:
        if not run.records:
            return [Query(planned.query, planned.intent) for planned in (await run.plan()).queries]
        reflection = await run.reflect()
        proposed = reflection.new_queries if reflection is not None else ()
        # If the reflection failed or has nothing new, follow what was found.
        return run.filter_new_queries([Query(text, "close a gap") for text in proposed]) or run.propose_follow_ups(1)
