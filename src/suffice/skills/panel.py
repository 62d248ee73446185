"""``/panel``: three readers review the answer. Without a language model they are three lists of checks.

With a language model the review itself is done by a panel; see ``review``.
"""

import re
from dataclasses import replace

from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked
from suffice.report.draft import render_draft
from suffice.skills.hooks import SkillCode, SkillContext, add_section
from suffice.text.citations import strip_citations
from suffice.text.entities import content_stems, extract_facets
from suffice.text.markdown import strip_markdown
from suffice.text.sentences import split_sentences

MAX_WORDS = 40  # A longer sentence is hard to read.
# Not a word of a heading in capitals.
_ACRONYM = re.compile(r"(?<![A-Z] )(?<![\w-])[A-Z]{2,6}s?\b(?![-… ]*[A-Z]{2})")
_MAX_LISTED = 5


class PanelSkill(SkillCode):
    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        if context.has_language_model:
            return written
        plain = strip_citations(strip_markdown(render_draft(context.run, written.draft)))
        remarks = {
            "practitioner": review_coverage(context.run.task, plain),
            "critic": review_support(written.verdicts),
            "newcomer": review_wording(plain),
        }
        context.metadata["panel"] = remarks
        lines = [
            f"- {reader}: {remark}" for reader, own in remarks.items() for remark in own or ["nothing to object to"]
        ]
        written = replace(written, draft=replace(written.draft, origin="skill"))
        return add_section(written, "### What three readers say\n\n" + "\n".join(lines))


def review_coverage(task: str, answer: str) -> list[str]:
    """Return which parts of the question the answer does not touch."""
    stems = content_stems(answer)
    missing = [facet.text for facet in extract_facets(task) if not facet.stems & stems]
    return [f"the answer says nothing about {', '.join(missing)}"] if missing else []


def review_support(verdicts: tuple[ClaimVerdict, ...]) -> list[str]:
    """Return what is weak about the support: one source for everything, contradictions, claims that nothing supports."""
    remarks = []
    paths = {quote.passage.place.path for verdict in verdicts for quote in verdict.supporting}
    if len(paths) == 1:
        remarks.append(f"every statement rests on one document, {paths.pop()}")
    contradicted = sum(bool(verdict.contradicting) for verdict in verdicts)
    if contradicted:
        remarks.append(f"sources disagree about {contradicted} of {len(verdicts)} statements")
    unsupported = sum(verdict.support == "unsupported" for verdict in verdicts)
    if unsupported:
        remarks.append(f"no source supports {unsupported} of {len(verdicts)} statements")
    return remarks


def review_wording(answer: str) -> list[str]:
    """Return what a newcomer stumbles over: abbreviations that are not spelled out, and very long sentences."""
    remarks = []
    words = {match.group().rstrip("s") for match in _ACRONYM.finditer(answer) if match.group().rstrip("s") != "A"}
    unexplained = sorted(
        word for word in words if not re.search(rf"\({re.escape(word)}s?\)|{re.escape(word)}s? \(", answer)
    )
    if unexplained:
        remarks.append(f"not spelled out: {', '.join(unexplained[:_MAX_LISTED])}")
    long = sum(len(answer[start:end].split()) > MAX_WORDS for start, end in split_sentences(answer))
    if long:
        remarks.append(f"{long} sentences have more than {MAX_WORDS} words")
    return remarks
