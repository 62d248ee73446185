"""The Python part of a skill, and where in a run it acts.

A skill with code is a subclass of ``SkillCode`` under the entry point ``suffice.skills``. It overrides the hooks it needs:

    before_search   adds queries and passages
    after_writing   changes or extends the verified answer
    instead         takes the place of search and writing

Statements that a skill adds are checked like those of an answer: ``SkillContext.keep_supported``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from string import Template
from typing import Any, ClassVar

from suffice.answers import Draft, DraftTable, Quotation, Statement
from suffice.claims.checker import Checker
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked, ClaimVerifier
from suffice.models.base import is_language_model
from suffice.prompts.writing import Rewrite
from suffice.report.draft import read_response, render_draft
from suffice.search.base import Search
from suffice.skills.activate import ActiveSkills, Workspace
from suffice.skills.skill import Skill
from suffice.state.run import RunState
from suffice.text.citations import strip_citations
from suffice.text.markdown import escape_markdown, split_row, strip_markdown
from suffice.text.parts import parse_parts
from suffice.types import Failure, Note, Notice, Passage, PriorRun, Sufficiency


def cite_words(words: str, *handles: str) -> Statement:
    """Return words of a source, or of a skill, as a statement that cites these passages."""
    return Statement(" ".join([words, *handles]), handles)


def escape_cell(text: str) -> str:
    return escape_markdown(text).replace("|", "\\|")


def read_table(draft: Draft) -> list[list[str]]:
    """Return the header and the rows of the first table that a model wrote, without markup and citations; empty if none."""
    tables = (part for part in draft.parts if isinstance(part, DraftTable))
    if (table := next(tables, None)) is None:
        return []
    rows = (table.header, *(split_row(row.text) for row in table.rows))
    return [[strip_citations(strip_markdown(cell)).strip() for cell in row] for row in rows]


def add_section(written: Checked, markdown: str, verdicts: Sequence[ClaimVerdict] = ()) -> Checked:
    """Return an answer with a section of Markdown below it."""
    draft = replace(written.draft, parts=(*written.draft.parts, *parse_parts(markdown)))
    return replace(written, draft=draft, verdicts=(*written.verdicts, *verdicts))


def add_notice(written: Checked, kind: str) -> Checked:
    return replace(written, draft=replace(written.draft, notices=(*written.draft.notices, Notice(kind))))


def make_answer(markdown: str, verdicts: Sequence[ClaimVerdict] = (), sufficiency: Sufficiency = "unknown") -> Checked:
    """Return an answer that a skill put together."""
    return Checked(Draft(parse_parts(markdown), "skill", sufficiency=sufficiency), tuple(verdicts))


@dataclass
class SkillContext:
    """What the code of a skill works with."""

    run: RunState
    search: Search
    checker: Checker
    verifier: ClaimVerifier
    """Verifies drafts and judges statements."""
    workspace: Workspace
    queries: list[str] = field(default_factory=list)
    """Queries for the first round, which ``before_search`` may add to."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """What the report's metadata holds besides, by name."""

    @property
    def has_language_model(self) -> bool:
        return is_language_model(self.run.model)

    async def add_passages(self, passages: Sequence[Passage], *, pin: bool = False) -> None:
        """Add passages to the evidence; pinned ones come first before the writer."""
        await self.run.resume(PriorRun("", self.run.task, tuple(passages), (), ()))
        if pin:
            self.run.pin_passages(passage.id for passage in passages)

    async def judge(self, quotations: Iterable[Quotation]) -> tuple[ClaimVerdict, ...]:
        """Return the verdicts on quotations: each is its own evidence, and other sources may disagree."""
        return (await self.verifier(Draft(tuple(quotations)))).verdicts

    async def keep_supported(self, statements: Iterable[Statement]) -> tuple[list[Statement], tuple[ClaimVerdict, ...]]:
        """Return the statements whose claims the cited sources support, and the verdicts on them."""
        judged = {one: await self.verifier.judge_alone(one) for one in statements}
        kept = {one: verdict for one, verdict in judged.items() if verdict.support == "supported"}
        return list(kept), tuple(kept.values())


class SkillCode:
    """The Python part of a skill."""

    needs_no_search: ClassVar[bool] = False
    """Whether the skill works without documents and web."""

    lays_out: ClassVar[bool] = False
    """Whether the skill changes only the layout of the answer, so that it comes after all other skills."""

    can_answer: ClassVar[bool] = False
    """Whether the skill answers from the evidence where the writer found no answer."""

    def __init__(self, skill: Skill) -> None:
        self.skill = skill

    async def before_search(self, context: SkillContext) -> None:
        """Add queries (``context.queries``) or passages before the first round."""

    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        """Return the answer as it is reported.

        A skill without code lets the model rewrite it, whose claims are verified again; it stays as it is if that fails.
        """
        run = context.run
        if not context.has_language_model:
            message = f"/{self.skill.name} rewrites the answer with a language model, and this run has none"
            run.record_failure(Failure("skill", "Skipped", message))
            return written
        prompt = Rewrite(run.task, Note(render_draft(run, written.draft), ()), self.skill.instruction)
        rewritten = await run.try_ask(prompt)
        if rewritten is None or not rewritten.answer.strip():
            return written
        checked = await context.verifier(replace(written.draft, parts=read_response(run, rewritten).parts))
        return written if checked.draft.is_empty else checked

    async def instead(self, context: SkillContext) -> Checked:
        """Return the answer, made without the usual search and writing."""
        raise NotImplementedError


class SkillRunner:
    """Runs the hooks of the active skills of one run, in order."""

    def __init__(self, active: ActiveSkills, context: SkillContext) -> None:
        self._context = context
        self._codes: list[SkillCode] = [(skill.code or SkillCode)(skill) for skill in active.skills]

    @property
    def replacement(self) -> Skill | None:
        """The skill that takes the place of search and writing, if one does; with an instruction, a strong model does both."""
        own = (code.skill for code in self._codes if "instead" in code.skill.hooks)
        return next((skill for skill in own if not (self._context.run.is_strong and skill.instruction)), None)

    @property
    def instruction(self) -> str:
        return "\n\n".join(code.skill.instruction for code in self._codes if "before_writing" in code.skill.hooks)

    @property
    def metadata(self) -> dict[str, Any]:
        return self._context.metadata

    async def before_search(self) -> None:
        for code in self._codes:
            if "before_search" in code.skill.hooks:
                task = self._context.run.task
                self._context.queries += [Template(query).safe_substitute(task=task) for query in code.skill.queries]
                await code.before_search(self._context)

    async def after_writing(self, written: Checked) -> Checked:
        for code in sorted(self._codes, key=lambda code: code.lays_out):
            if "after_writing" in code.skill.hooks and (code.can_answer or not written.draft.is_empty):
                written = await code.after_writing(self._context, written)
        return written

    async def instead(self) -> Checked:
        code = next(code for code in self._codes if "instead" in code.skill.hooks)
        return await code.instead(self._context)
