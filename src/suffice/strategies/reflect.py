"""Plan, search, reflect, again (S1).

The plan's queries make the first round; every later round asks what the reflection on the round before wants to know. That
reflection has seen the thin queries and words them differently. Its queries are never replaced by a new plan.
"""

from suffice.state.run import RunState
from suffice.types import Query


class ReflectStrategy:
    async def propose(self, run: RunState) -> list[Query]:
        if not run.records:
            return [Query(planned.query, planned.intent) for planned in (await run.plan()).queries]
        reflection = await run.reflect()
        wanted = reflection.new_queries if reflection is not None else ()
        # Without a reflection, or with one that asks nothing new, the run is not lost: it follows its own leads.
        return run.filter_new_queries([Query(text, "close a gap") for text in wanted]) or run.follow_ups.propose(1)
