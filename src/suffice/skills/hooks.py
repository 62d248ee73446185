"""The Python part of a skill, and where in a run it acts.

A skill with code is a subclass of ``SkillCode`` under the entry point ``suffice.skills``. It overrides the hooks it needs:

    before_search   adds queries and passages
    after_writing   changes or extends the verified answer
    instead         takes the place of search and writing

Statements that a skill adds are checked like those of an answer: ``SkillContext.keep_supported``.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from string import Template
from typing import Any, ClassVar

from suffice.claims.checker import Checker
from suffice.claims.verdict import ClaimVerdict
from suffice.models.base import is_language_model
from suffice.prompts import Rewrite, SynthesisResponse
from suffice.search.base import Search
from suffice.skills.activate import ActiveSkills, Workspace
from suffice.skills.skill import Skill
from suffice.state.run import RunState
from suffice.types import Failure, Note, Passage, PriorRun


@dataclass(frozen=True)
class WrittenText:
    """An answer with the verdicts on its claims."""

    text: SynthesisResponse
    verdicts: tuple[ClaimVerdict, ...] = ()


@dataclass(frozen=True)
class Statement:
    """A sentence that a skill writes, and the handles of its sources."""

    text: str
    handles: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text} {' '.join(self.handles)}"


@dataclass
class SkillContext:
    """What the code of a skill works with."""

    run: RunState
    search: Search
    checker: Checker
    verify: Callable[[SynthesisResponse], Awaitable[SynthesisResponse]]
    """Fixes or removes the unsupported claims of a text."""
    check_text: Callable[[str], Awaitable[list[ClaimVerdict]]]
    """Judges the claims of a text and leaves it as it is."""
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

    async def keep_supported(self, statements: Iterable[Statement]) -> tuple[list[Statement], tuple[ClaimVerdict, ...]]:
        """Return the statements whose claims the cited sources support, and the verdicts on them."""
        kept: list[Statement] = []
        verdicts: list[ClaimVerdict] = []
        for statement in statements:
            own = await self.check_text(str(statement))
            if own and all(verdict.support == "supported" for verdict in own):
                kept.append(statement)
                verdicts += own
        return kept, tuple(verdicts)


class SkillCode:
    """The Python part of a skill."""

    needs_no_search: ClassVar[bool] = False
    """Whether the skill works without documents and web."""

    lays_out: ClassVar[bool] = False
    """Whether the skill changes only the layout of the answer, so that it comes after all other skills."""

    def __init__(self, skill: Skill) -> None:
        self.skill = skill

    async def before_search(self, context: SkillContext) -> None:
        """Add queries (``context.queries``) or passages before the first round."""

    async def after_writing(self, context: SkillContext, written: WrittenText) -> WrittenText:
        """Return the answer as it is reported."""
        return written

    async def instead(self, context: SkillContext) -> WrittenText:
        """Return the answer, made without the usual search and writing."""
        raise NotImplementedError


class SkillRunner:
    """Runs the hooks of the active skills of one run, in order."""

    def __init__(self, active: ActiveSkills, context: SkillContext) -> None:
        self._context = context
        self._parts: list[tuple[Skill, SkillCode]] = [
            (one.skill, (one.skill.code or SkillCode)(one.skill)) for one in active.active
        ]

    @property
    def replacement(self) -> Skill | None:
        """The skill that takes the place of search and writing, if one does."""
        return next((skill for skill, _ in self._parts if "instead" in skill.hooks), None)

    @property
    def instruction(self) -> str:
        """What the skills tell the writer."""
        return "\n\n".join(skill.instruction for skill, _ in self._parts if "before_writing" in skill.hooks)

    @property
    def queries(self) -> list[str]:
        return self._context.queries

    @property
    def metadata(self) -> dict[str, Any]:
        return self._context.metadata

    async def before_search(self) -> None:
        for skill, code in self._parts:
            if "before_search" in skill.hooks:
                self.queries.extend(
                    Template(query).safe_substitute(task=self._context.run.task) for query in skill.queries
                )
                await code.before_search(self._context)

    async def after_writing(self, written: WrittenText) -> WrittenText:
        for skill, code in sorted(self._parts, key=lambda part: part[1].lays_out):
            if "after_writing" not in skill.hooks or not written.text.answer.strip():
                continue
            if skill.code is None:
                written = await self._rewrite(skill, written)
            else:
                written = await code.after_writing(self._context, written)
        return written

    async def instead(self) -> WrittenText:
        code = next(code for skill, code in self._parts if "instead" in skill.hooks)
        return await code.instead(self._context)

    async def _rewrite(self, skill: Skill, written: WrittenText) -> WrittenText:
        """Let the model rewrite the answer as the skill says, and verify its claims again; unchanged if that fails."""
        context, run = self._context, self._context.run
        if not context.has_language_model:
            message = f"/{skill.name} rewrites the answer with a language model, and this run has none"
            run.record_failure(Failure("skill", "Skipped", message))
            return written
        prompt = Rewrite(run.task, Note(written.text.answer, ()), skill.instruction)
        rewritten = await run.try_ask(prompt)
        if rewritten is None or not rewritten.answer.strip():
            return written
        text = await context.verify(replace(written.text, answer=rewritten.answer, summary=rewritten.summary))
        if not text.answer.strip():
            return written
        return WrittenText(text, tuple(await context.check_text(text.answer)))
