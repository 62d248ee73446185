"""Words that turn a sentence round: negations, and pairs of words that say the opposite of each other."""

import re
from dataclasses import dataclass
from functools import lru_cache

from suffice.claims.checkers.numbers import MONTHS, Quantity, extract_quantities
from suffice.text.entities import stem_words
from suffice.text.tokens import STOP_WORDS, segment_unspaced

# Each line: words of one sense against words of the other. A text that uses only one side speaks against a text that uses
# only the other, if they are about the same thing.
_ANTONYMS = """
increase increases increased increasing rise rises rose risen rising raise raises raised grow grows grew grown higher high
    elevated elevate elevates upregulated upregulation upregulates enhance enhances enhanced enhancing boost boosts boosted
    more greater
    gain gains accelerate accelerates accelerated promote promotes promoted promoting stimulate stimulates stimulated
    improve improves improved improvement activate activates activated activation induce induces longer larger stronger
    | decrease decreases decreased decreasing fall falls fell fallen falling lower low lowered lowers reduce reduces reduced
    reducing reduction decline declines declined declining drop drops dropped downregulated downregulation downregulates
    less fewer
    smaller diminish diminishes diminished attenuate attenuates attenuated inhibit inhibits inhibited inhibition inhibiting
    suppress suppresses suppressed suppression impair impairs impaired block blocks blocked slow slows slowed shorter weaker
    worsen worsens worsened prevent prevents prevented
before earlier | after later
first | last
largest biggest highest longest tallest most greatest best maximum | smallest lowest shortest least worst minimum
north northern | south southern
east eastern | west western
male man men father son brother husband king boy | female woman women mother daughter sister wife queen girl
older oldest elder | younger youngest
win wins won winner victory | lose loses lost loser defeat
begin begins began begun start starts started | end ends ended stop stops stopped
open opens opened | close closes closed
positive positively | negative negatively
presence | absence absent
majority | minority
accept accepts accepted approve approves approved | reject rejects rejected
allow allows allowed permit permits permitted enable enables enabled | forbid forbids forbade forbidden disallow prohibit
    prohibits prohibited disable disables disabled
buy buys bought | sell sells sold
same identical similar | different
always | never
true | false
success successful successfully succeed succeeded | failure failed fail fails unsuccessful
early | late
import imports imported | export exports exported
enter enters entered join joins joined | leave leaves quit
ancestor predecessor | descendant successor
internal inside | external outside
minimise minimize minimises minimizes | maximise maximize maximises maximizes
safe safely | unsafe dangerous
beneficial benefit | harmful harm
synchronous | asynchronous
ascending | descending
"""
_ANTONYM_SIDES: dict[str, list[tuple[int, int]]] = {}
for _pair, _line in enumerate(re.sub(r"\n\s+", " ", _ANTONYMS.strip()).splitlines()):
    for _side, _words in enumerate(_line.split("|")):
        for _word in _words.split():
            _ANTONYM_SIDES.setdefault(_word, []).append((_pair, 1 if _side == 0 else -1))

NEGATIONS = frozenset(
    """not no never none neither nor cannot without nobody nothing nowhere hardly rarely scarcely lack lacks lacked lacking
    fails failed unable deny denies denied doubt doubts doubted refute refutes refuted disprove disproves disproved
    whether""".split()
)
# Words behind which a negation no longer reaches.
_SCOPE_END = re.compile(r"[;:()]|,\s|\b(?:but|although|though|while|whereas|and|or|because|which|who)\b", re.IGNORECASE)
_WORD = re.compile(r"\b\w+n['’]t\b|\b[a-z]+\b", re.IGNORECASE)
_NEGATING_PREFIX = re.compile(r"^(?:un|in|im|ir|il|non|dis|a)(?=[a-z]{4})")


def antonym_sides(word: str) -> list[tuple[int, int]]:
    """The pairs of opposites a word belongs to, each with its side (+1 or −1)."""
    return _ANTONYM_SIDES.get(word, [])


def find_negation_scopes(text: str) -> list[tuple[int, int]]:
    """Where a negation stands and how far it reaches, as offsets (start, end of reach)."""
    found = []
    for match in _WORD.finditer(text):
        word = match.group().lower()
        if word not in NEGATIONS and not word.endswith(("n't", "n’t")):
            continue
        rest = text[match.end() :]
        if (word == "not" and re.match(r"\s+only\b", rest, re.I)) or (word == "no" and re.match(r"\.?\s*\d", rest)):
            continue
        stop = _SCOPE_END.search(text, match.end())
        found.append((match.start(), stop.start() if stop else len(text)))
    return found


def is_prefix_antonym(one: str, other: str) -> bool:
    """``related`` and ``unrelated``, ``active`` and ``inactive``: one is the other with a prefix that negates."""
    return one != other and (_NEGATING_PREFIX.sub("", one) == other or _NEGATING_PREFIX.sub("", other) == one)


_TOKEN = re.compile(r"[^\W_]+(?:[._'’-][^\W_]+)*")
_CAPITAL = re.compile(r"[A-ZÀ-ÖØ-ÞĀ-Ž]")
_INNER_CAPITAL = re.compile(r"\w[A-Z0-9]")
_PRONOUNS = frozenset(
    """he she it they him her them his hers its their theirs himself herself itself this these those that who which
    whose""".split()
)
# Words that open a sentence with a capital and name nothing, beyond stop words.
_SENTENCE_OPENERS = frozenset(
    """according additionally although among besides both compared consequently despite due each during every few
    finally first following for furthermore given hence here however importantly indeed instead interestingly later
    like many meanwhile more moreover most neither nevertheless notably now often one once other others overall
    people previous previously rather recent recently researchers results scientists second several similarly since some
    sometimes still studies study such then there therefore third though thus today together two under unlike until usually
    various whereas whether while within yet""".split()
)
# Bound to the words around them, not to what is said.
_FILLER_WORDS = frozenset(
    """according source text document article
    also however therefore thus moreover furthermore additionally indeed approximately about around roughly nearly
    respectively overall notably currently generally typically usually often mainly primarily largely actually
    able order well known called named use used using based including included various several many show shows showed
    shown suggest suggests found find finds report reports reported study studies result results data conclusion
    conclusions""".split()
)
# Past forms that a stemmer does not lead back to their verb.
_IRREGULAR_FORMS = dict(
    pair.split("=")
    for pair in """rose=rise risen=rise fell=fall fallen=fall grew=grow grown=grow won=win lost=lose built=build wrote=write
    written=write began=begin begun=begin made=make took=take taken=take came=come gave=give given=give held=hold led=lead
    met=meet sold=sell bought=buy sent=send spent=spend became=become knew=know known=know ran=run said=say taught=teach
    thought=think fought=fight kept=keep left=leave stood=stand sang=sing sung=sing drew=draw drawn=draw flew=fly went=go
    shot=shoot caught=catch chose=choose chosen=choose drove=drive driven=drive broke=break broken=break spoke=speak
    spoken=speak bore=bear wore=wear worn=wear threw=throw thrown=throw understood=understand brought=bring shown=show
    died=die dies=die dying=die children=child men=man women=woman people=person""".split()
)


@dataclass(frozen=True, slots=True)
class ContentToken:
    """A content word, name or number at its place in the sentence."""

    stem: str
    start: int
    is_name_or_number: bool


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """One sentence, read."""

    stems: frozenset[str]
    words: frozenset[str]
    names: frozenset[str]
    """Stems of names; a text that lacks one of them speaks of something else."""
    possible_name: str
    """The stem of a capitalised first word, which may be a name or may only open the sentence; else empty."""
    numbers: tuple[Quantity, ...]
    months: frozenset[int]
    negated_stems: frozenset[str]
    negation_scope: frozenset[str]
    """First stems behind each negation, and all stems it reaches."""
    antonym_sides: frozenset[tuple[int, int]]
    antonym_stems: frozenset[str]
    """Which pairs of opposites it uses, each with its side, and the stems of those words."""
    tokens: tuple[ContentToken, ...]
    has_anaphora: bool
    """It points back to something named before: a pronoun, or a thing with a definite article in front."""


@lru_cache(maxsize=1024)
def extract_features(text: str) -> SentenceFeatures:
    """The sentence, read; the latest sentences are kept."""
    figures = extract_quantities(text)
    taken = [(number.start, number.end) for number in figures]
    marks: list[ContentToken] = [ContentToken(f"#{number.value:g}", number.start, True) for number in figures]
    found, plain_words, named, turning = set[str](), set[str](), set[str](), set[str]()
    months, turned = set[int](), set[tuple[int, int]]()
    opening = ""
    refers = text[:4].lower() == "the "
    for position, match in enumerate(_TOKEN.finditer(text)):
        word = match.group()
        low = word.lower()
        plain_words.add(low)
        refers = refers or low in _PRONOUNS
        turned.update(antonym_sides(low))
        if antonym_sides(low):
            turning.update(stem_word(word))
        if low in MONTHS and (low != "may" or word[0].isupper()) and _is_next_to_number(match, taken):
            months.add(MONTHS[low])
            continue
        if any(start <= match.start() < end for start, end in taken):
            continue
        capital = _CAPITAL.match(word) is not None
        if not _is_content_word(low, word, capital and position > 0):
            continue
        parts = stem_word(word)
        is_name = (capital and (position > 0 or bool(_INNER_CAPITAL.search(word)))) or (
            _INNER_CAPITAL.search(word) is not None
        )
        if capital and not is_name and low not in _SENTENCE_OPENERS:
            opening = " ".join(parts)
        found.update(parts)
        if is_name:
            named.update(parts)
        marks.extend(ContentToken(part, match.start(), capital) for part in parts)
    marks.sort(key=lambda mark: mark.start)
    first, reached = _find_negated_stems(text, marks)
    return SentenceFeatures(
        frozenset(found),
        frozenset(plain_words),
        frozenset(named),
        opening,
        figures,
        frozenset(months),
        first,
        reached,
        frozenset(turned),
        frozenset(turning),
        tuple(marks),
        refers,
    )


@lru_cache(maxsize=8192)
def stem_word(word: str) -> tuple[str, ...]:
    """The stems of one written word; a compound has several."""
    bare = re.sub(r"['’]s?$", "", word)
    return stem_words(_IRREGULAR_FORMS.get(bare.lower(), bare) if word.isascii() else segment_unspaced(bare))


def _is_content_word(low: str, word: str, name: bool) -> bool:
    if low.isdigit() or low in NEGATIONS or low.endswith(("n't", "n’t")):
        return False
    if name and len(word) > 1:
        return low not in STOP_WORDS or word.isupper()
    return low not in STOP_WORDS and low not in _FILLER_WORDS and (len(low) > 1 or not low.isascii())


def _is_next_to_number(match: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    return any(0 <= start - match.end() <= 3 or 0 <= match.start() - end <= 4 for start, end in taken)


def _find_negated_stems(text: str, marks: list[ContentToken]) -> tuple[frozenset[str], frozenset[str]]:
    first, reached = set(), set()
    for start, end in find_negation_scopes(text):
        behind = [mark.stem for mark in marks if start < mark.start < end]
        first.update(behind[:1])
        reached.update(behind[:4])
    return frozenset(first), frozenset(reached)
