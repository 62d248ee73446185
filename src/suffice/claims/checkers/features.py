"""Read a sentence into the features that checkers compare: stems, names, numbers, negations and opposites."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from suffice.claims.checkers.quantities import (
    CALENDAR_MONTH,
    LOW_ORDINALS,
    MONTHS,
    ORDINAL,
    Quantity,
    extract_quantities,
)
from suffice.text.entities import stem_words
from suffice.text.tokens import STOP_WORDS, segment_unspaced

_TOKEN = re.compile(r"[^\W_]+(?:[._'’-][^\W_]+)*")
_CAPITAL = re.compile(r"[A-ZÀ-ÖØ-ÞĀ-Ž]")
_MAX_GAP_AFTER_ORDINAL = 2  # Characters between an ordinal and the word that it counts.
_INNER_CAPITAL = re.compile(r"\w[A-Z0-9]")
_PRONOUNS = frozenset(
    """he she it they him her them his hers its their theirs himself herself itself this these those that who which
    whose""".split()
)
# Words that say nothing about the subject.
_FILLER_WORDS = frozenset(
    """according source text document article
    also however therefore thus moreover furthermore additionally indeed approximately about around roughly nearly
    respectively overall notably currently generally typically usually often mainly primarily largely actually
    able order well known called named use used using based including included various several many show shows showed
    shown suggest suggests found find finds report reports reported study studies result results data conclusion
    conclusions""".split()
)
# Irregular forms of verbs, which a stemmer does not reduce.
IRREGULAR_VERBS = dict(
    pair.split("=")
    for pair in """rose=rise risen=rise fell=fall fallen=fall grew=grow grown=grow won=win lost=lose built=build wrote=write
    written=write began=begin begun=begin made=make took=take taken=take came=come gave=give given=give held=hold led=lead
    met=meet sold=sell bought=buy sent=send spent=spend became=become knew=know known=know ran=run said=say taught=teach
    thought=think fought=fight kept=keep left=leave stood=stand sang=sing sung=sing drew=draw drawn=draw flew=fly went=go
    shot=shoot caught=catch chose=choose chosen=choose drove=drive driven=drive broke=break broken=break spoke=speak
    spoken=speak bore=bear wore=wear worn=wear threw=throw thrown=throw understood=understand brought=bring shown=show
    died=die dies=die dying=die got=get saw=see""".split()
)


@dataclass(frozen=True, slots=True)
class ContentToken:
    """A content word, name or number of a sentence."""

    stem: str
    start: int
    is_name_or_number: bool
    word: str
    """As it is written."""


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """What checkers compare of one sentence."""

    stems: frozenset[str]
    words: frozenset[str]
    names: frozenset[str]
    """Stems of names. A text that lacks one of them is about something else."""
    possible_name: str
    """The stem of the first word, if only its place may be the reason for its capital letter; else empty."""
    numbers: tuple[Quantity, ...]
    months: frozenset[int]
    negated_stems: frozenset[str]
    negation_scope: frozenset[str]
    """The first stem after each negation, and the stems in its scope."""
    antonym_sides: frozenset[tuple[int, int]]
    antonym_stems: frozenset[str]
    """The pairs of opposites it uses, each with its side, and the stems of those words."""
    tokens: tuple[ContentToken, ...]
    has_anaphora: bool
    """It refers to something named before: it has a pronoun, or begins with "the"."""
    ordinals: frozenset[tuple[float, str]]
    """Places in a row, each with the stem that follows: 2 and "largest" of "the second largest"."""

    @property
    def ordinal_words(self) -> frozenset[str]:
        """The words for its places in a row: "second" for the II of "World War II"."""
        places = {number.value for number in self.numbers if number.unit == ORDINAL}
        return frozenset(word for word, value in LOW_ORDINALS.items() if value in places)

    def spell(self, stems: Collection[str]) -> str:
        """Return the words of some stems as the sentence writes them; commas stand between those that are apart."""
        found: dict[str, int] = {}  # Each word with where it first ends.
        spelled = ""
        for token in self.tokens:
            if token.stem in stems and token.word not in found:
                is_next = spelled and token.start == next(reversed(found.values())) + 1
                spelled += f"{'' if not spelled else ' ' if is_next else ', '}{token.word}"
                found[token.word] = token.start + len(token.word)
        return spelled or ", ".join(sorted(stems))


@lru_cache(maxsize=4096)
def extract_features(text: str) -> SentenceFeatures:
    """Return the features of a sentence. The latest sentences are cached."""
    quantities = extract_quantities(text)
    numbers = tuple(number for number in quantities if number.unit != CALENDAR_MONTH)
    number_spans = [(number.start, number.end) for number in numbers]
    inside = {place for start, end in number_spans for place in range(start, end)}
    tokens: list[ContentToken] = [
        ContentToken(f"#{number.value:.12g}", number.start, True, text[number.start : number.end]) for number in numbers
    ]
    stems, words, names, antonym_stems = set[str](), set[str](), set[str](), set[str]()
    months = {int(number.value) for number in quantities if number.unit == CALENDAR_MONTH}
    sides = set[tuple[int, int]]()
    possible_name = ""
    has_anaphora = text[:4].lower() == "the "
    places = {number.end: number.value for number in numbers if number.unit == ORDINAL}
    for position, match in enumerate(_TOKEN.finditer(text)):
        word = match.group()
        lower = word.lower()
        is_in_number = match.start() in inside
        if not is_in_number:  # The 5 of "-5 °C" is no 5.
            words.add(lower)
        has_anaphora = has_anaphora or lower in _PRONOUNS
        if own_sides := antonym_sides(lower):
            sides.update(own_sides)
            antonym_stems.update(stem_word(word))
        if lower in MONTHS and (lower != "may" or word[0].isupper()) and _is_next_to_number(match, number_spans):
            months.add(MONTHS[lower])
            continue
        if is_in_number:
            continue
        if lower in LOW_ORDINALS:
            places[match.end()] = LOW_ORDINALS[lower]
        has_capital = _CAPITAL.match(word) is not None
        if not _is_content_word(lower, word, has_capital and position > 0):
            continue
        word_stems = stem_word(word)
        is_name = (has_capital and position > 0) or _INNER_CAPITAL.search(word) is not None
        if has_capital and not is_name:
            possible_name = " ".join(word_stems)
        stems.update(word_stems)
        if is_name:
            names.update(word_stems)
        tokens.extend(ContentToken(stem, match.start(), has_capital, word) for stem in word_stems)
    tokens.sort(key=lambda token: token.start)
    negated_stems, negation_scope = _find_negated_stems(text, tokens)
    return SentenceFeatures(
        stems=frozenset(stems),
        words=frozenset(words),
        names=frozenset(names),
        possible_name=possible_name,
        numbers=numbers,
        months=frozenset(months),
        negated_stems=negated_stems,
        negation_scope=negation_scope,
        antonym_sides=frozenset(sides),
        antonym_stems=frozenset(antonym_stems),
        tokens=tuple(tokens),
        has_anaphora=has_anaphora,
        ordinals=frozenset(_find_ordinals(places, tokens)),
    )


@lru_cache(maxsize=8192)
def stem_word(word: str) -> tuple[str, ...]:
    """Return the stems of one word; a compound has several."""
    bare = re.sub(r"['’]s?$", "", word)
    return stem_words(IRREGULAR_VERBS.get(bare.lower(), bare) if word.isascii() else segment_unspaced(bare))


def _is_content_word(lower: str, word: str, may_be_name: bool) -> bool:
    if lower.isdigit() or lower in NEGATIONS or lower.endswith(("n't", "n’t")):
        return False
    if may_be_name and len(word) > 1:
        return lower not in STOP_WORDS or word.isupper()
    return lower not in STOP_WORDS and lower not in _FILLER_WORDS and (len(lower) > 1 or not lower.isascii())


def _find_ordinals(places: dict[int, float], tokens: list[ContentToken]) -> Iterator[tuple[float, str]]:
    for end, value in places.items():
        following = next((token for token in tokens if token.start >= end), None)
        if following is not None and following.start - end <= _MAX_GAP_AFTER_ORDINAL:
            yield value, following.stem


def _is_next_to_number(match: re.Match[str], number_spans: list[tuple[int, int]]) -> bool:
    return any(0 <= start - match.end() <= 3 or 0 <= match.start() - end <= 4 for start, end in number_spans)


def _find_negated_stems(text: str, tokens: list[ContentToken]) -> tuple[frozenset[str], frozenset[str]]:
    negated, scope = set(), set()
    for start, end in find_negation_scopes(text):
        following = [token.stem for token in tokens if start < token.start < end]
        negated.update(following[:1])
        scope.update(following[:4])
    return frozenset(negated), frozenset(scope)


# Each line: words of one sense | words of the opposite sense. A text that uses only one side contradicts a text that uses
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
# Where the scope of a negation ends.
_SCOPE_END = re.compile(r"[;:()]|,\s|\b(?:but|although|though|while|whereas|and|or|because|which|who)\b", re.IGNORECASE)
_WORD = re.compile(r"\b\w+n['’]t\b|\b[a-z]+\b", re.IGNORECASE)
_NEGATING_PREFIX = re.compile(r"^(?:un|in|im|ir|il|non-?|dis|a)(?=[a-z]{4})")


def antonym_sides(word: str) -> list[tuple[int, int]]:
    """Return the pairs of opposites that a word belongs to, each with its side (+1 or −1)."""
    return _ANTONYM_SIDES.get(word, [])


def find_negation_scopes(text: str) -> list[tuple[int, int]]:
    """Return the offsets of each negation and of the end of its scope."""
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
    """Whether one word is the other with a negating prefix: ``related`` and ``unrelated``, ``active`` and ``inactive``."""
    return one != other and (_NEGATING_PREFIX.sub("", one) == other or _NEGATING_PREFIX.sub("", other) == one)
