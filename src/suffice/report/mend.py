"""Hand the sentences that the claim check doubts back to the writer, once, with the reason and the passage."""

from collections.abc import Mapping, Sequence

from suffice.answers import Draft, Statement
from suffice.claims.reasons import explain_doubt
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.whole import add_nearest
from suffice.memory.evidence import drop_repeated_titles
from suffice.prompts.writing import Mend
from suffice.report.draft import check_citations, render_with_lists
from suffice.state.run import RunState
from suffice.text.parts import build_statement, split_statements
from suffice.types import Note

_TOKENS_OF_ANSWER = 120  # For each sentence.


async def mend_statements(
    run: RunState, doubtful: Sequence[ClaimVerdict], draft: Draft
) -> Mapping[Statement, tuple[Statement, ...]]:
    """Return what the writer makes of doubtful statements; nothing for one that it takes out or does not mention.

    It sees the parts of the draft that they are in, what they and their paragraphs cite, and the nearest of what
    else it was written from.
    """
    if run.budget.is_spent():
        run.refused[Mend.role] += 1
        return {}
    doubts, handles, beside = [], dict[str, None](), draft.handles_beside
    for number, verdict in enumerate(doubtful, 1):
        quote = verdict.deciding_quote or verdict.nearest
        doubts.append(f"{number}. {explain_doubt(verdict)}")
        handles.update(dict.fromkeys((*verdict.claim.handles, *beside.get(verdict.claim, ()))))
        handles.update({run.evidence.get_handle(quote.passage): None} if quote is not None else {})
    answer_tokens = 200 + _TOKENS_OF_ANSWER * len(doubts)
    claims = [Statement(verdict.plain_text) for verdict in doubtful]  # Their own sources may not be the right ones.
    shown = add_nearest(claims, handles, run.evidence.by_handle, run.compute_prompt_budget(answer_tokens)[0])
    sources = drop_repeated_titles([*map(run.evidence.make_note, shown.values())])
    text = Note(render_with_lists(run, draft.narrow([verdict.claim for verdict in doubtful])), ())
    answer = await run.try_ask(Mend(run.task, tuple(doubts), text, sources, answer_tokens))
    texts = {} if answer is None else {one.number: one.text for one in answer.sentences}
    return {
        verdict.claim: tuple(map(build_statement, split_statements(check_citations(run, texts[number]))))
        for number, verdict in enumerate(doubtful, 1)
        if number in texts and isinstance(verdict.claim, Statement)
    }
