"""Every question a model is ever asked, one file a role."""

from suffice.asks.base import Ask
from suffice.asks.draft import Draft, SynthesisResponse
from suffice.asks.judge import Judge, JudgeResponse
from suffice.asks.novelty import Novelty, NoveltyResponse
from suffice.asks.plan import Plan, PlannedQuery, PlanResponse
from suffice.asks.reflect import Reflect, ReflectionResponse

__all__ = [
    "Ask",
    "Draft",
    "Judge",
    "JudgeResponse",
    "Novelty",
    "NoveltyResponse",
    "Plan",
    "PlanResponse",
    "PlannedQuery",
    "Reflect",
    "ReflectionResponse",
    "SynthesisResponse",
]
