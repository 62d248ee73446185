"""``/knowledge-graph``: entities and their relations with citations, as JSON and as a Mermaid diagram.

A relation is read from one sentence: a name, words with a verb, another name ("Ada Lovelace wrote to Charles Babbage"), or a
name and what it is ("Python is a language"). The whole sentence is the evidence and is checked.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace

from suffice.prompts import SynthesisResponse
from suffice.skills.hooks import SkillCode, SkillContext, WrittenText
from suffice.skills.sentences import QuotedSentence, list_sentences
from suffice.text.entities import content_stems, extract_names
from suffice.text.languages import get_language, is_stop_word
from suffice.text.markdown import escape_markdown

MAX_RELATIONS = 30
_MAX_BETWEEN_CHARS = 50
_IDENTIFIER = re.compile(r"\b(?:[a-z]\w*(?:\.\w+)+|\w+_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|\w+\(\))")
_DEFINITION = re.compile(
    r"\A[ \t]*(?P<verb>is|was|are|were)\s+(?:an?|the)\s+(?P<what>(?:[\w-]+\s+){0,3}[\w-]+)(?=[\s,.;)])"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|may|must|will|became|began|gave|held|led|left|made|met|ran|took|won|wrote|built|bought"
    r"|sent|uses?|holds?|takes?|makes?|gives?|returns?|contains?|calls?|reads?|writes?|needs?|imports?|raises?|accepts?|requires?"
    r"|supports?|provides?|creates?|defines?|replaces?|extends?|includes?|stores?|runs?|checks?|keeps?|\w{3,}(?:ed|izes|ises|ates))\b"
)
_BREAK = re.compile(r"[.;:!?()\[\]“”\"]|\b(?:and|but|while|whereas|which|who|that|if|when|because)\s*\Z")
# A relation begins after a space: "=30d" is the rest of a setting.
_NO_VERB_FIRST = re.compile(r"[^\s'’]|\s*(?:,|(?:as|of|in|on|at|by|from|with|for|to|or)\b)")
_END_WORDS = re.compile(r"\s+(?:of|in|on|for|to|with|and|or|by|that|which|who|at|from|as|a|an|the)\Z")


@dataclass(frozen=True)
class Relation:
    """Subject, relation and object as a sentence has them."""

    subject: str
    verb: str
    object: str
    sentence: QuotedSentence


class KnowledgeGraphSkill(SkillCode):
    async def after_writing(self, context: SkillContext, written: WrittenText) -> WrittenText:
        wanted = content_stems(context.run.task)
        sentences = sorted(list_sentences(context.run.evidence), key=lambda one: -len(wanted & one.stems))
        relations = [relation for sentence in sentences for relation in find_relations(sentence)][:MAX_RELATIONS]
        kept, verdicts = await context.keep_supported(
            {relation.sentence.text: relation.sentence.statement for relation in relations}.values()
        )
        texts = {statement.text for statement in kept}
        relations = [relation for relation in relations if relation.sentence.text in texts]
        if not relations:
            return written
        context.metadata["knowledge_graph"] = to_json(relations)
        section = f"### Knowledge graph\n\n```mermaid\n{to_mermaid(relations)}\n```\n\n" + "\n".join(
            f"- {escape_markdown(one.subject)} → *{escape_markdown(one.verb)}* → {escape_markdown(one.object)}: "
            f"“{escape_markdown(one.sentence.text)}” {one.sentence.handle}"
            for one in relations
        )
        if context.has_language_model:
            text = replace(written.text, answer=f"{written.text.answer}\n\n{section}")
            return WrittenText(text, (*written.verdicts, *verdicts))
        summary = str(relations[0].sentence.statement)
        return WrittenText(SynthesisResponse(section, summary, sufficiency=written.text.sufficiency), verdicts)


def find_relations(sentence: QuotedSentence) -> list[Relation]:
    """Return the relations that a sentence states."""
    text = sentence.text
    names = sorted(
        {(text.find(name), name) for name in (*extract_names(text), *_IDENTIFIER.findall(text)) if text.find(name) >= 0}
    )
    names = [(at, name) for at, name in names if not _is_inside(at, name, names) and not _is_plain_word(at, name, text)]
    found = []
    for number, (start, name) in enumerate(names):
        end = start + len(name)
        definition = _DEFINITION.match(text[end:])
        if definition is not None:
            what = definition["what"]
            while _END_WORDS.search(what):
                what = _END_WORDS.sub("", what)
            found.append(Relation(name, definition["verb"], what, sentence))
        if number + 1 < len(names):
            later, other = names[number + 1]
            between = text[end:later]
            if (
                2 < len(between) <= _MAX_BETWEEN_CHARS
                and _VERB.search(between)
                and not (_BREAK.search(between.strip()) or _NO_VERB_FIRST.match(between))
            ):
                found.append(Relation(name, " ".join(between.split()), other, sentence))
    return found


def _is_inside(at: int, name: str, names: list[tuple[int, str]]) -> bool:
    return any(
        start <= at and at + len(name) <= start + len(other) and len(other) > len(name) for start, other in names
    )


def _is_plain_word(at: int, name: str, text: str) -> bool:
    """Whether a word has a capital only because it begins the sentence: it also occurs small, or is a common word."""
    if at or " " in name or not name.istitle():
        return False
    return is_stop_word(name.lower(), get_language()) or not re.search(rf"(?<!^)\b{re.escape(name)}\b", text)


def to_json(relations: list[Relation]) -> dict[str, list[dict[str, object]]]:
    """Return entities with the number of their relations, and relations with their source."""
    counts = Counter(name for one in relations for name in (one.subject, one.object))
    return {
        "entities": [{"name": name, "relations": count} for name, count in counts.most_common()],
        "relations": [
            {
                "subject": one.subject,
                "relation": one.verb,
                "object": one.object,
                "quote": one.sentence.text,
                "location": one.sentence.passage.location,
            }
            for one in relations
        ],
    }


def to_mermaid(relations: list[Relation]) -> str:
    """Return the graph as Mermaid source."""
    ids: dict[str, str] = {}
    lines = ["graph LR"]
    for one in relations:
        for name in (one.subject, one.object):
            if name not in ids:
                ids[name] = f"n{len(ids) + 1}"
                lines.append(f'    {ids[name]}["{_quote(name)}"]')
        lines.append(f'    {ids[one.subject]} -->|"{_quote(one.verb)}"| {ids[one.object]}')
    return "\n".join(dict.fromkeys(lines))


def _quote(text: str) -> str:
    return text.replace("&", "#amp;").replace('"', "#quot;").replace("`", "'").replace("<", "#lt;").replace(">", "#gt;")
