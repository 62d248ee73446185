"""Every question a model is ever asked, one file a role."""

from suffice.asks.base import Ask
from suffice.asks.draft import Draft, SynthesisResponse
from suffice.asks.plan import Plan, PlannedQuery, PlanResponse
from suffice.asks.reflect import Reflect, ReflectionResponse

__all__ = ["Ask", "Draft", "Plan", "PlanResponse", "PlannedQuery", "Reflect", "ReflectionResponse", "SynthesisResponse"]
