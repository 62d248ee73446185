"""Every question a model is ever asked, one file a role."""

from suffice.asks.act import ReActStep, ReActStepResponse
from suffice.asks.base import Prompt
from suffice.asks.compress import Compress, Compression
from suffice.asks.compute import Compute, ComputeResponse
from suffice.asks.curate import Curate, CuratedFact, Curation
from suffice.asks.draft import Draft
from suffice.asks.evaluate import Evaluate, Evaluation, EvaluationIssue
from suffice.asks.extract import Extract, ExtractedFact, Extraction
from suffice.asks.gap import ProposeQuery, ProposeQueryResponse
from suffice.asks.hypotheses import HypothesesResponse, Hypothesis, Hypothesize
from suffice.asks.hypothetical import HypotheticalDocument, HypotheticalDocumentResponse
from suffice.asks.judge import JudgeProgress, JudgeProgressResponse
from suffice.asks.label import LabelCluster, LabelClusterResponse
from suffice.asks.look import DescribeImage, DescribeImageResponse
from suffice.asks.novelty import NoveltyResponse, RateNovelty
from suffice.asks.outline import DraftOutline, OutlineResponse
from suffice.asks.plan import Plan, PlannedQuery, PlanResponse
from suffice.asks.reflect import Reflect, ReflectionResponse
from suffice.asks.revise import Revise
from suffice.asks.short_answer import ShortAnswer, ShortAnswerResponse
from suffice.asks.step import MemGPTStep, MemGPTStepResponse
from suffice.asks.support import CheckSupport, GradeSupport, SupportResponse
from suffice.asks.synthesis import SynthesisResponse
from suffice.asks.thought import IRCoTStep, IRCoTStepResponse

__all__ = [
    "CheckSupport",
    "Compress",
    "Compression",
    "Compute",
    "ComputeResponse",
    "Curate",
    "CuratedFact",
    "Curation",
    "DescribeImage",
    "DescribeImageResponse",
    "Draft",
    "DraftOutline",
    "Evaluate",
    "Evaluation",
    "EvaluationIssue",
    "Extract",
    "ExtractedFact",
    "Extraction",
    "GradeSupport",
    "HypothesesResponse",
    "Hypothesis",
    "Hypothesize",
    "HypotheticalDocument",
    "HypotheticalDocumentResponse",
    "IRCoTStep",
    "IRCoTStepResponse",
    "JudgeProgress",
    "JudgeProgressResponse",
    "LabelCluster",
    "LabelClusterResponse",
    "MemGPTStep",
    "MemGPTStepResponse",
    "NoveltyResponse",
    "OutlineResponse",
    "Plan",
    "PlanResponse",
    "PlannedQuery",
    "Prompt",
    "ProposeQuery",
    "ProposeQueryResponse",
    "RateNovelty",
    "ReActStep",
    "ReActStepResponse",
    "Reflect",
    "ReflectionResponse",
    "Revise",
    "ShortAnswer",
    "ShortAnswerResponse",
    "SupportResponse",
    "SynthesisResponse",
]
