"""Questions about software documentation, made from the source distributions of packages.

The documentation folders of a package are cut into sections at their headings. A heading that is a question is asked as it stands;
other headings, entries of options and settings, and the first lines of docstrings become questions by a few templates. The
section, the entry or the function is the passage that answers. ``EXCLUDED`` names what the benchmarks measure on.
"""

import ast
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

EXCLUDED = frozenset(
    """celery pytest click jinja2 django sqlalchemy ansible ansible-core git postgresql sqlite bash debian-policy kernel flask httpx
    marshmallow tornado pillow sphinx nano pydantic aiohttp aptitude trio attrs scrapy borgbackup zulip home-assistant homeassistant mercurial nginx openssh tmux rsync
    chrony fastify postfix crawl coverage debian-faq huey privoxy developers-reference music-glossary
    argyll hatch puzzles buildstream aframe dar hugin passlib cups tuxpaint cfi""".split()
)
TEST_PACKAGES = frozenset(
    """gunicorn luigi paramiko beets roundup supervisor falcon
    weechat restic sudo wesnoth pino gnucash haproxy keepalived
    anarchism enigma hledger kea""".split()
)
DEV_PACKAGES = frozenset("apscheduler jupyterhub werkzeug".split())
DOCS = re.compile(r"(?:^|/)(?:docs?|documentation|manual|guide|doc-src|user_guide|content)/", re.I)
SKIPPED = re.compile(
    r"(?:^|/)(?:tests?|_build|locale|changelog|changes|news|releases?|whatsnew|history|authors|licen[cs]e|requirements)",
    re.I,
)
RST_HEADING = re.compile(r"^(?:([=\-~^\"'`#*+:.]){3,}\n)?([^\s].*)\n([=\-~^\"'`#*+:.])\3{2,}\s*$", re.M)
MD_HEADING = re.compile(r"^#{1,5} +(.+?) *#*$", re.M)
ENTRY = re.compile(r"^\.\. +(?:(?:cmd)?option|confval|setting|conf|envvar|rst:directive|describe|data|attribute|conf_master|program-output)::? +(.+)\n((?:[ \t]*\n|[ \t]+.+\n)+)", re.M)  # fmt: skip
LIST_ENTRY = re.compile(r"^(?:[*-] +)?``?([-\w.=\[\] <>]{3,40})``?(?: *\(.*\))?(?::| -| –|\n)((?:[ \t]+.+\n?)+)", re.M)
ROLE = re.compile(r":[\w:+.-]+:`(?:[^`<]*? <)?~?([^`>]+)>?`")
DEFAULT = re.compile(r"\b[Dd]efaults?(?: value)?(?: is| to|:| =)+ *[`\"'*]*([^\s`\"',;*()]{1,40})")
QUESTION = re.compile(r"^(?:how|what|why|when|where|which|who|can|is|are|does|do|should|will)\b.{8,}", re.I)
GERUND = re.compile(r"^([A-Z][a-z]+ing)\b(.*)")
VERB = re.compile(r"^([A-Z][a-z]+)\b(.*)")
IMPERATIVE = frozenset(
    """add build call change check choose clean close compute configure connect convert copy create customize debug define delete deploy
    disable display download enable execute export extend extract fetch filter find fit format generate get handle ignore implement import
    increase initialize insert inspect install limit list load log make manage map merge migrate modify move open override parse pass
    perform plot prevent print publish read redirect register remove rename render replace reset restart restore retrieve return run save
    schedule search select send serve set show skip sort specify split start stop store submit test transform unpack update upgrade upload
    use validate verify wait wrap write""".split()
)
NAMES = "configuration options settings introduction overview installation example examples notes note usage summary references see also api contents parameters returns".split()


class Section(NamedTuple):
    """A passage of documentation under its heading."""

    heading: str
    text: str


def part_of(package: str) -> str:
    return "test" if package in TEST_PACKAGES else "dev" if package in DEV_PACKAGES else "train"


def read_packages(folder: Path, limit: int) -> Iterator[tuple[str, list[Section], list[tuple]]]:
    """Yield each package with its sections and questions: question, place of the section, span of the answer, kind."""
    for path in sorted(folder.iterdir()):
        package = re.sub(r"[-_.]+", "-", re.sub(r"-\d.*$", "", path.name)).lower()
        if not path.name.endswith((".tar.gz", ".zip")) or package in EXCLUDED:
            continue
        random = Random(package)
        try:
            files = [(name, text) for name, text in read_files(path) if text]
        except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError):
            continue
        random.shuffle(files)
        sections: list[Section] = []
        asked: list[tuple] = []
        for name, text in files:
            if len(sections) >= limit:
                break
            found = read_code(text, random) if name.endswith(".py") else read_document(text, random)
            for section, questions in found:
                asked += [(question, len(sections), span, kind) for question, span, kind in questions]
                sections.append(section)
        if len(sections) >= 12:
            yield package, sections, asked


def read_files(path: Path) -> Iterator[tuple[str, str]]:
    """Yield documents, and Python modules that are not tests, of a source distribution."""

    def wanted(name: str, size: int) -> bool:
        inner = name.partition("/")[2]
        if size > 300_000 or SKIPPED.search(inner):
            return False
        return (
            bool(DOCS.search(inner)) if name.endswith((".rst", ".md", ".txt")) else name.endswith(".py") and size > 3000
        )

    modules = 0
    if path.name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():
                if wanted(item.filename, item.file_size):
                    yield item.filename, archive.read(item).decode("utf-8", "replace")
        return
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            if member.isfile() and wanted(member.name, member.size):
                modules += member.name.endswith(".py")
                if modules > 25 and member.name.endswith(".py"):
                    continue
                file = archive.extractfile(member)
                yield member.name, file.read().decode("utf-8", "replace") if file else ""


def plain(text: str) -> str:
    """Take markup out that says nothing."""
    text = ROLE.sub(r"\1", text)
    text = re.sub(r"^\.\. (?:_|index|versionadded|versionchanged|contents|toctree|image|figure|module|currentmodule|highlight|autoclass|automodule|only|include|literalinclude).*(?:\n[ \t]+.*)*", "", text, flags=re.M)  # fmt: skip
    text = re.sub(r"^\.\. (?:note|warning|tip|code-block|code|admonition|important|seealso|option|confval|function|class|method)::? ?", "", text, flags=re.M)  # fmt: skip
    text = re.sub(r"`([^`<]+) <[^`>]+>`_+|\[([^\]]+)\]\([^)]+\)", lambda match: match[1] or match[2], text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def read_document(text: str, random: Random) -> Iterator[tuple[Section, list[tuple]]]:
    """Yield the sections of a document with their questions."""
    text = re.sub(
        r"^(?:```|~~~).*?^(?:```|~~~)", lambda fence: re.sub(r"^#", " #", fence[0], flags=re.M), text, flags=re.M | re.S
    )
    heads = [(match.start(), match.end(), (match[2] if match.re is RST_HEADING else match[1]).strip()) for pattern in (RST_HEADING, MD_HEADING) for match in pattern.finditer(text)]  # fmt: skip
    heads.sort()
    title = plain(heads[0][2]) if heads else ""
    for number, (_, end, heading) in enumerate(heads):
        body = text[end : heads[number + 1][0] if number + 1 < len(heads) else len(text)]
        heading = plain(heading).strip(" :*`….")
        for entry in [*ENTRY.finditer(body), *LIST_ENTRY.finditer(body)][:6]:
            name, content = plain(entry[1]).strip("`* "), plain(entry[2])
            if len(content) > 60 and len(name) < 60 and not name.startswith(("http", "..")):
                yield Section(name, f"{name}\n{content[:1200]}"), entry_questions(name, content, random)
        body = plain(ENTRY.sub("", body))[:1600]
        if len(body) < 120 or len(body.split()) < 25 or len(heading) > 120:
            continue
        questions = heading_questions(heading, title, random)
        shown = (
            f"{heading}\n{body}"
            if random.random() < (0.25 if questions and questions[0][2] == "asked" else 0.6)
            else body
        )
        yield Section(heading, shown), questions + default_questions(heading, shown, random)


def heading_questions(heading: str, title: str, random: Random) -> list[tuple]:
    """Return the question of a heading, if it is one, or a question that asks for what the heading names."""
    if heading.endswith("?") or (QUESTION.match(heading) and len(heading.split()) > 3):
        return [(random.choice([heading, heading.rstrip("?"), heading.lower()]), None, "asked")]
    words = heading.split()
    if heading.lower() in NAMES or not 1 < len(words) < 12 or not heading[0].isalpha():
        return []
    gerund, verb = GERUND.match(heading), VERB.match(heading)
    if gerund and (stem := base(gerund[1])):
        forms = ["How do I {}?", "How can I {}?", "how to {}", "What is the way to {}?", "Is it possible to {}?"]
        return [(random.choice(forms).format(stem + gerund[2]), None, "heading")]
    if verb and verb[1].lower() in IMPERATIVE:
        forms = ["How do I {}?", "How can one {}?", "how to {}", "Is it possible to {}?", "What do I have to do to {}?"]
        return [(random.choice(forms).format(verb[1].lower() + verb[2]), None, "heading")]
    within = (
        f" in {title}"
        if title and title.lower() not in heading.lower() and len(title) < 30 and random.random() < 0.3
        else ""
    )
    forms = ["What is {}?", "How does {} work?", "What are {}?", "{}", "Where are {} described?", "Tell me about {}", "What should I know about {}?", "How is {} used?"]  # fmt: skip
    return [(random.choice(forms).format(lowered(heading) + within), None, "heading")]


def entry_questions(name: str, content: str, random: Random) -> list[tuple]:
    """Return questions about an option or a setting."""
    forms = ["What does {} do?", "What is {} for?", "What is the meaning of {}?", "What happens if I set {}?", "{}", "How do I use {}?", "Which values can {} have?"]  # fmt: skip
    found = [(random.choice(forms).format(name), None, "entry")]
    if re.match(r"[A-Z][a-z]+s? [a-z]", content) and random.random() < 0.6:
        first = re.split(r"(?<=[.;])\s", content)[0].strip(" .;\n")
        first = re.sub(
            r"^(?:If (?:set|true|given|enabled|specified),? |Whether (?:or not )?to |Should )", "", first, flags=re.I
        )
        first = imperative(first)
        asked = random.choice(
            ["Which option is it to {}?", "How do I {}?", "Is there an option to {}?", "What sets that: {}?"]
        )
        if 3 < len(first.split()) < 20 and first.split()[0].lower() in IMPERATIVE:
            found.append((asked.format(lowered(first)), None, "entry"))
    return found + default_questions(name, f"{name}\n{content[:1200]}", random)


def default_questions(name: str, text: str, random: Random) -> list[tuple]:
    """Ask for the default that a text states."""
    match = DEFAULT.search(text)
    if (
        not match
        or name.lower() in NAMES
        or (" " in name and not name.startswith("-"))
        or len(match[1].rstrip(".")) < 1
        or match[1].lower() in ("the", "a", "is", "to", "value", "this", "an", "in")
    ):
        return []
    end = match.end(1) - (match[1].endswith("."))
    forms = ["What is the default of {}?", "What is {} by default?", "default value of {}", "What does {} default to?"]
    return [(random.choice(forms).format(name), (match.start(1), end), "default")]


def read_code(text: str, random: Random) -> Iterator[tuple[Section, list[tuple]]]:
    """Yield functions and classes with docstrings of some length, asked for by the first line."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = text.splitlines()
    count = 0
    for node in ast.walk(tree):
        if (
            count >= 4
            or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            or node.name.startswith("_")
        ):
            continue
        written = ast.get_docstring(node)
        if not written or len(written) < 200:
            continue
        summary = re.split(r"(?<=\.) ", plain(written.split("\n\n")[0].replace("\n", " ")))[0]
        if not 4 < len(summary.split()) < 25:
            continue
        rest = plain(written[len(written.split("\n\n")[0]) :])
        shown = f"{lines[node.lineno - 1].strip()}\n{summary if random.random() < 0.3 else ''}\n{rest}"[:1300]
        form = random.choice(["How do I {}?", "Which function is there to {}?", "how to {}", "Is there a way to {}?"])
        first = imperative(summary.rstrip(". "))
        if first.split()[0].lower() not in IMPERATIVE:
            form = random.choice(["{}", "What is the {}?", "Where do I find the {}?"])
        count += 1
        yield Section(node.name, shown), [(form.format(lowered(first)), None, "docstring")]


def imperative(text: str) -> str:
    """``Returns the size`` -> ``get the size``."""
    word, _, rest = text.partition(" ")
    stem = word.lower()
    for end in ("es", "s"):
        if stem.removesuffix(end) in IMPERATIVE:
            stem = stem.removesuffix(end)
            break
    return f"{'get' if stem == 'return' else stem} {rest}" if stem in IMPERATIVE else text


def base(gerund: str) -> str:
    """``Configuring`` -> ``configure``; empty when it is not known."""
    stem = gerund.lower().removesuffix("ing")
    choices = [stem, stem + "e", stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else ""]
    return next((choice for choice in choices if choice in IMPERATIVE), "")


def lowered(text: str) -> str:
    """Lower the first letter of a text that does not begin with a name."""
    return text[:1].lower() + text[1:] if text[1:2].islower() and " " in text else text
