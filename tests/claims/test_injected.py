"""A false sentence that the model's check doubts is never shown as true, whatever the writer makes of it."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from bridge_story import ENOUGH, model, outcome, setup

from suffice.answers import Draft
from suffice.claims.checker import Checker
from suffice.claims.split import CONTRADICTED_MARK, UNSUPPORTED_MARK
from suffice.claims.verify import ClaimVerifier
from suffice.claims.whole import check_draft
from suffice.errors import ModelError, ModelOutputError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts.judging import CheckDraftResponse, CheckedStatement
from suffice.prompts.writing import MendedSentence, MendResponse, SynthesisResponse
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, WordSearch, make_passage
from suffice.text.parts import parse_parts, render_parts
from suffice.types import Bounds

DRAFTS = Path(__file__).parents[3] / "shared" / "data" / "strong-drafts"
BUILT = "The Meridian bridge was built by Halloran Works in 1887 [1]."
FALSE = {
    "figure": "The Meridian bridge was built by Halloran Works in 1890",
    "name": "The Meridian bridge was built by Ida Halloran in 1887",
    "negation": "The Meridian bridge was not built by Halloran Works in 1887",
    "role": "Ida Halloran was founded by Halloran Works",
}
MARKED = re.compile(r"(?: \[\d+\])*\.?(?: \[\d+\])* \*?\((?:unsupported|contradicted)\)")


def find_unmarked(false: str, text: str) -> list[str]:
    """Return the places where a text has the false words without a mark behind them."""
    return [
        text[at.start() : at.end() + 40]
        for at in re.finditer(re.escape(false), text)
        if not MARKED.match(text, at.end())
    ]


def make_check(false: str, role: str):
    """Return the answer of a model that calls every statement true but the false one and what has no source at all."""

    def check(prompt) -> CheckDraftResponse:
        judged = []
        for number, statement in enumerate(prompt.statements, 1):
            is_true = "[" in statement and false not in statement and "lorem" not in statement
            words = "built by Halloran Works in 1887"
            judged.append(
                CheckedStatement(number, "stated", "[1]", words) if is_true else CheckedStatement(number, role)
            )
        return CheckDraftResponse(tuple(judged))

    return check


def make_mends(false: str) -> dict:
    return {
        "garbage": MendResponse((MendedSentence(1, "lorem ]( ipsum **"), MendedSentence(9, "lorem"))),
        "empty": MendResponse((MendedSentence(1, ""),)),
        "nothing": MendResponse(()),
        "repeated": MendResponse((MendedSentence(1, f"{false} [1]."),)),
        "cited otherwise": MendResponse((MendedSentence(1, f"{false} [2] [3]."),)),
        "without a citation": MendResponse((MendedSentence(1, f"{false}."),)),
        "beside a true one": MendResponse((MendedSentence(1, f"{BUILT} {false} [1]."),)),
        "failed": ModelError("out of order"),
        "unreadable": ModelOutputError("no JSON"),
    }


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
@pytest.mark.parametrize("role", ["not_supported", "contradicted"])
@pytest.mark.parametrize("mend", make_mends(""))
@pytest.mark.parametrize("kind", FALSE)
def test_a_false_sentence_is_never_shown_unmarked(kind: str, mend: str, role: str, strict: bool) -> None:
    false = FALSE[kind]
    draft = SynthesisResponse(f"{BUILT} {false} [1].", f"{false} [1].", (f"{false} [1].", BUILT), (f"{false} [1].",))
    script = model(reflects=[ENOUGH], drafts=[draft])
    script._script |= {"check_draft": [make_check(false, role)], "mend": [make_mends(false)[mend]]}
    report = outcome(setup(script, strict=strict))
    assert "check_draft" in [prompt.role for prompt in script.prompts], "the model checked"
    shown = (report.final_answer, report.summary, *report.key_findings, *report.recommendations, *report.risks)
    answer = report.final_answer.partition("Removed by the check")[0]
    assert [place for text in (answer, *shown[1:]) for place in find_unmarked(false, text)] == []
    assert not [claim for claim in report.claims if false in claim.text and claim.support == "supported"]
    assert BUILT.removesuffix(" [1].") in report.final_answer


def test_a_lenient_run_marks_the_summary_and_takes_no_short_answer_from_a_marked_sentence() -> None:
    false = FALSE["figure"]
    script = model(reflects=[ENOUGH], drafts=[SynthesisResponse(f"{false} [1]. {BUILT}", short_answer="1890")])
    script._script |= {"check_draft": [make_check(false, "contradicted")], "mend": [MendResponse(())]}
    report = outcome(setup(script, strict=False))
    assert report.summary.endswith("(contradicted)")
    assert report.short_answer is None


def load_twins() -> list[dict]:
    rows = map(json.loads, (DRAFTS / "drafts.jsonl").read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row["label"] == "corrupted"]


@pytest.mark.skipif(not DRAFTS.exists(), reason="needs the shared data")
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
def test_no_false_twin_of_a_real_draft_is_shown_unmarked(strict: bool) -> None:
    """Also where a search for support brings passages that have most of its words."""
    evidence: dict[str, list] = {}
    for line in (DRAFTS / "evidence.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        passage = make_passage(f"{row['run']}{row['id']}", row["text"], row["title"], path=row["location"])
        evidence.setdefault(row["run"], []).append(passage)

    async def verify(twin: dict) -> str:
        run = RunState("What?", ScriptedModel({}), TrajectoryMemory, run_id="r", bounds=Bounds())
        for number, cited in enumerate(twin["cited"], 1):
            run.evidence.add(make_passage(f"c{number}", cited["text"], cited["title"], path=cited["location"]))

        async def ask(prompt) -> CheckDraftResponse:
            return CheckDraftResponse(
                tuple(CheckedStatement(number, "not_supported") for number, _ in enumerate(prompt.statements, 1))
            )

        async def judge(statements, draft):
            handles = {
                f"[{number}]": run.evidence.find_passage(f"[{number}]") for number in range(1, len(run.evidence) + 1)
            }
            return await check_draft(statements, handles, ask, 10_000)

        verifier = ClaimVerifier(run, WordSearch(evidence[twin["run"]]), Checker(), strict=strict, judge_draft=judge)
        checked = await verifier(Draft(parse_parts(re.sub(r" *\[\d+\]", "", twin["text"]) + " [1]")))
        assert not [verdict for verdict in checked.verdicts if verdict.support == "supported"], twin["text"]
        return render_parts(checked.draft.parts, str)

    for twin in load_twins():
        text = asyncio.run(verify(twin))
        assert not text if strict else (UNSUPPORTED_MARK in text or CONTRADICTED_MARK in text), twin["text"]
