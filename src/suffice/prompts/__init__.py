"""Every prompt that a model gets: typed inputs and response here, the wording in the Markdown file of its role.

=================  =====================================================================================
``planning``       what to search for: plan, reflect, next query, rival hypotheses
``outline``        the outline strategy: topics, hypothetical document, cluster label
``agents``         steps of the IRCoT, ReAct and MemGPT agents, and a short answer
``belief``         what is known: extract, curate and compress facts
``judging``        novelty and progress of a round, quality of an answer, support of a claim
``writing``        draft and revise an answer, compute what it needs
``vision``         describe an image
``lab``            notes in free text, the answer and the grade of an experiment
=================  =====================================================================================

``base`` has the ``Prompt`` class and the templates; ``truncate`` cuts a prompt to a token budget. The folders ``writing``,
``criteria`` and ``readers`` hold snippets that are inputs of the drafting and evaluating prompts.
"""

from suffice.prompts.agents import (
    IRCoTStep,
    IRCoTStepResponse,
    MemGPTStep,
    MemGPTStepResponse,
    ReActStep,
    ReActStepResponse,
    ShortAnswer,
    ShortAnswerResponse,
)
from suffice.prompts.base import Prompt
from suffice.prompts.belief import (
    Compress,
    Compression,
    Curate,
    CuratedFact,
    Curation,
    Extract,
    ExtractedFact,
    Extraction,
)
from suffice.prompts.judging import (
    CheckDraft,
    CheckDraftResponse,
    CheckedStatement,
    Evaluate,
    Evaluation,
    EvaluationIssue,
    GradePaper,
    GradePaperResponse,
    JudgeNeutrally,
    JudgeProgress,
    JudgeProgressResponse,
    NoveltyResponse,
    RateNovelty,
)
from suffice.prompts.lab import (
    AnswerFromMemory,
    GradeAnswer,
    GradeResponse,
    MemoryAnswerResponse,
    NotesResponse,
    ProposeChange,
    ProposeChangeResponse,
    RewriteNotes,
    TrialAnswer,
)
from suffice.prompts.outline import (
    DraftOutline,
    HypotheticalDocument,
    HypotheticalDocumentResponse,
    LabelCluster,
    LabelClusterResponse,
    OutlineResponse,
)
from suffice.prompts.planning import (
    HypothesesResponse,
    Hypothesis,
    Hypothesize,
    KeptNote,
    Plan,
    PlannedQuery,
    PlanResponse,
    ProposeQuery,
    ProposeQueryResponse,
    Reflect,
    ReflectionResponse,
)
from suffice.prompts.vision import DescribeImage, DescribeImageResponse
from suffice.prompts.writing import (
    AnswerSentence,
    Compute,
    ComputeResponse,
    DraftAnswer,
    Mend,
    MendedSentence,
    MendResponse,
    Revise,
    Rewrite,
    SelfTest,
    SelfTestResponse,
    SynthesisResponse,
)

__all__ = [
    "AnswerFromMemory",
    "AnswerSentence",
    "CheckDraft",
    "CheckDraftResponse",
    "CheckedStatement",
    "Compress",
    "Compression",
    "Compute",
    "ComputeResponse",
    "Curate",
    "CuratedFact",
    "Curation",
    "DescribeImage",
    "DescribeImageResponse",
    "DraftAnswer",
    "DraftOutline",
    "Evaluate",
    "Evaluation",
    "EvaluationIssue",
    "Extract",
    "ExtractedFact",
    "Extraction",
    "GradeAnswer",
    "GradePaper",
    "GradePaperResponse",
    "GradeResponse",
    "HypothesesResponse",
    "Hypothesis",
    "Hypothesize",
    "HypotheticalDocument",
    "HypotheticalDocumentResponse",
    "IRCoTStep",
    "IRCoTStepResponse",
    "JudgeNeutrally",
    "JudgeProgress",
    "JudgeProgressResponse",
    "KeptNote",
    "LabelCluster",
    "LabelClusterResponse",
    "MemGPTStep",
    "MemGPTStepResponse",
    "MemoryAnswerResponse",
    "Mend",
    "MendResponse",
    "MendedSentence",
    "NotesResponse",
    "NoveltyResponse",
    "OutlineResponse",
    "Plan",
    "PlanResponse",
    "PlannedQuery",
    "Prompt",
    "ProposeChange",
    "ProposeChangeResponse",
    "ProposeQuery",
    "ProposeQueryResponse",
    "RateNovelty",
    "ReActStep",
    "ReActStepResponse",
    "Reflect",
    "ReflectionResponse",
    "Revise",
    "Rewrite",
    "RewriteNotes",
    "SelfTest",
    "SelfTestResponse",
    "ShortAnswer",
    "ShortAnswerResponse",
    "SynthesisResponse",
    "TrialAnswer",
]
