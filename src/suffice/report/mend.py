"""Hand the sentences that the claim check doubts back to the writer, once, with the reason and the passage."""

from collections.abc import Mapping, Sequence

from suffice.answers import Statement
from suffice.claims.reasons import describe_reason
from suffice.claims.verdict import ClaimVerdict
from suffice.prompts.writing import Mend
from suffice.report.draft import check_citations
from suffice.state.run import RunState
from suffice.text.parts import build_statement, split_statements
from suffice.types import Note

_TOKENS_OF_ANSWER = 120  # For each sentence.
_NEIGHBOURS = 3  # Statements before and after a doubtful one whose sources are shown with it.


async def mend_statements(
    run: RunState, doubtful: Sequence[ClaimVerdict], written: Sequence[Statement]
) -> Mapping[Statement, tuple[Statement, ...]]:
    """Return what the writer makes of doubtful statements; nothing for one that it takes out or does not mention.

    It sees what these statements cite, and what those around them in the draft do.
    """
    if run.budget.is_spent():
        run.refused[Mend.role] += 1
        return {}
    doubts, handles = [], dict[str, None]()
    for number, verdict in enumerate(doubtful, 1):
        quote = verdict.deciding_quote or verdict.nearest
        said = f" The nearest words: “{' '.join(quote.text.split())}”" if quote is not None else ""
        note = f" ({verdict.reason.note})" if verdict.reason is not None and verdict.reason.note else ""
        doubts.append(f"{number}. {verdict.claim.text}\n   Doubted: {describe_reason(verdict.reason)}{note}.{said}")
        place = written.index(verdict.claim) if verdict.claim in written else 0
        near = (verdict.claim, *written[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS + 1])
        handles.update(dict.fromkeys(handle for statement in near for handle in statement.handles))
        handles.update({run.evidence.get_handle(quote.passage): None} if quote is not None else {})
    passages = ((handle, run.evidence.find_passage(handle)) for handle in handles)
    sources = tuple(
        Note(passage.text, (handle,), passage.title, passage.kind)
        for handle, passage in passages
        if passage is not None
    )
    answer = await run.try_ask(Mend(run.task, tuple(doubts), sources, 200 + _TOKENS_OF_ANSWER * len(doubts)))
    texts = {} if answer is None else {one.number: one.text for one in answer.sentences}
    return {
        verdict.claim: tuple(map(build_statement, split_statements(check_citations(run, texts[number]))))
        for number, verdict in enumerate(doubtful, 1)
        if number in texts and isinstance(verdict.claim, Statement)
    }
