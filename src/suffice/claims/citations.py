"""Check the citations of a written answer before its claims are verified.

A citation that names no passage of the run is dropped and recorded as a failure. Links that lead anywhere but to a source
become plain text. This module does not judge whether a cited source supports a claim; ``verify`` does.
"""

import re

from suffice.claims.split import drop_unknown_citations
from suffice.prompts import SynthesisResponse
from suffice.state.run import RunState
from suffice.text.markdown import CITATION, MULTI_CITATION, neutralize_links
from suffice.types import Failure


def check_citations(run: RunState, written: SynthesisResponse) -> SynthesisResponse:
    """Return the text with only valid citations and links.

    Findings, recommendations and risks that cite nothing are removed, because they can only come from the evidence.
    """
    answer = _check_text(run, written.answer)
    findings, recommendations, risks = (
        tuple(line for line in (_check_text(run, line) for line in lines) if CITATION.search(line))
        for lines in (written.key_findings, written.recommendations, written.risks)
    )
    return SynthesisResponse(
        answer=answer,
        summary=_check_text(run, written.summary),
        key_findings=findings,
        recommendations=recommendations,
        risks=risks,
        open_questions=tuple(_check_text(run, line) for line in written.open_questions),
    )


def _check_text(run: RunState, text: str) -> str:
    text = neutralize_links(text, {passage.url for passage in run.evidence if passage.url})
    checked, unknown = drop_unknown_citations(_split_citation_groups(text), run.evidence.resolve_citation)
    for handle in unknown:
        run.record_failure(
            Failure("citations", "InventedCitation", f"the draft cited {handle}, which is not a source of this run")
        )
    return checked


def _split_citation_groups(text: str) -> str:
    """Rewrite ``[1, 2]`` as ``[1] [2]``, so that each handle is checked and numbered on its own."""
    return MULTI_CITATION.sub(
        lambda match: " ".join(f"[{handle.strip()}]" for handle in re.split("[,;]", match.group()[1:-1])), text
    )
