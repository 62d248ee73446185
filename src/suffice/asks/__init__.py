"""Every question a model is ever asked, one file a role."""

from suffice.asks.act import Act, ActResponse
from suffice.asks.base import Ask
from suffice.asks.compress import Compress, Compression
from suffice.asks.compute import Compute, ComputeResponse
from suffice.asks.curate import Curate, Curation, Kept
from suffice.asks.draft import Draft
from suffice.asks.evaluate import Evaluate, Evaluation, Issue
from suffice.asks.extract import Extract, Extraction, Finding
from suffice.asks.gap import Gap, GapResponse
from suffice.asks.hypotheses import Hypotheses, Hypothesis, Hypothesize
from suffice.asks.hypothetical import Hypothetical, HypotheticalResponse
from suffice.asks.judge import Judge, JudgeResponse
from suffice.asks.label import Label, LabelResponse
from suffice.asks.look import Look, LookResponse
from suffice.asks.novelty import Novelty, NoveltyResponse
from suffice.asks.outline import DraftOutline, OutlineResponse
from suffice.asks.plan import Plan, PlannedQuery, PlanResponse
from suffice.asks.reflect import Reflect, ReflectionResponse
from suffice.asks.revise import Revise
from suffice.asks.short_answer import ShortAnswer, ShortAnswerResponse
from suffice.asks.step import Step, StepResponse
from suffice.asks.support import GradedSupport, Support, SupportResponse
from suffice.asks.synthesis import SynthesisResponse
from suffice.asks.thought import Thought, ThoughtResponse

__all__ = [
    "Act",
    "ActResponse",
    "Ask",
    "Compress",
    "Compression",
    "Compute",
    "ComputeResponse",
    "Curate",
    "Curation",
    "Draft",
    "DraftOutline",
    "Evaluate",
    "Evaluation",
    "Extract",
    "Extraction",
    "Finding",
    "Gap",
    "GapResponse",
    "GradedSupport",
    "Hypotheses",
    "Hypothesis",
    "Hypothesize",
    "Hypothetical",
    "HypotheticalResponse",
    "Issue",
    "Judge",
    "JudgeResponse",
    "Kept",
    "Label",
    "LabelResponse",
    "Look",
    "LookResponse",
    "Novelty",
    "NoveltyResponse",
    "OutlineResponse",
    "Plan",
    "PlanResponse",
    "PlannedQuery",
    "Reflect",
    "ReflectionResponse",
    "Revise",
    "ShortAnswer",
    "ShortAnswerResponse",
    "Step",
    "StepResponse",
    "Support",
    "SupportResponse",
    "SynthesisResponse",
    "Thought",
    "ThoughtResponse",
]
