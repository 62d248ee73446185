"""Make questions from sentences: a span of a true sentence becomes the answer, a question word takes its place.

Sentences that a passage supports are the raw material, so the passage answers every question made from one. Wording varies (full
question, question word in place, keywords) so that a reader learns what is asked for and not a form.
"""

import re
from random import Random

import numpy
from scipy.sparse import csr_matrix

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(
    rf"^(?:(?:early|late|mid|the) )?(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:(?:{MONTHS})\b[ \d,]*|(?:1[0-9]|20)\d\ds?)$", re.I
)
NUMBER = re.compile(
    r"^(?:about |around |over |nearly |almost |approximately |more than |at least )?[$€£]?\d[\d,.]*(?: ?%| percent| million| billion"
    r"| thousand)?$|^(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundreds?|thousands?|dozens?)$",
    re.I,
)
AUXILIARIES = frozenset(
    "is are was were am has have had can could will would may might must shall should does do did isn't wasn't aren't weren't".split()
)
FUNCTION = frozenset(
    """a an the of in on at to for from by with as and or but nor so than that this these those it its he she they them his her their
    there which who whom whose what when where why how is are was were be been being am has have had do does did can could will would
    may might must shall should not no if then into over under about after before during between through against also very such only
    own same too just more most other some any each both all one i you we us our your my me him up out off because while until""".split()
)
PREPOSITIONS_OF_PLACE = frozenset("in at from near to on into around outside inside towards".split())
SUBORDINATE = frozenset("although while when if because as after before since though unless despite".split())
IRREGULAR = dict(
    pair.split(":")
    for pair in """became:become began:begin broke:break brought:bring built:build bought:buy came:come caught:catch chose:choose
    cost:cost cut:cut drew:draw drove:drive ate:eat fell:fall felt:feel fought:fight found:find flew:fly forgot:forget gave:give
    went:go grew:grow hid:hide held:hold hurt:hurt kept:keep knew:know laid:lay led:lead left:leave lent:lend let:let lost:lose
    made:make meant:mean met:meet paid:pay put:put ran:run rose:rise said:say saw:see sold:sell sent:send set:set shot:shoot
    showed:show sang:sing sat:sit slept:sleep spoke:speak spent:spend stood:stand stole:steal swam:swim took:take taught:teach
    told:tell thought:think threw:throw understood:understand wore:wear won:win wrote:write rode:ride sought:seek struck:strike
    hit:hit read:read bore:bear beat:beat bound:bind blew:blow dealt:deal dug:dig fed:feed froze:freeze heard:hear hung:hang
    lit:light rang:ring shook:shake sank:sink shut:shut spread:spread sprang:spring stuck:stick swore:swear swept:sweep tore:tear
    wound:wind withdrew:withdraw overcame:overcome arose:arise awoke:awake bit:bite bred:breed crept:creep drank:drink
    fled:flee forbade:forbid foresaw:foresee got:get ground:grind leapt:leap quit:quit rid:rid sewed:sew shone:shine slid:slide
    split:split spun:spin undertook:undertake woke:wake wept:weep""".split()
)
WORD = re.compile(r"\w[\w'’.-]*\w|\w")
SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]*")


class Verbs:
    """Finds base forms with the help of a word list."""

    def __init__(self, words: frozenset[str]) -> None:
        self.words = words

    def base(self, word: str) -> tuple[str, str] | None:
        """Return the auxiliary and the base form of a finite verb, ``created`` -> ``did, create``; None when it looks like none."""
        lower = word.lower()
        if lower in IRREGULAR:
            return "did", IRREGULAR[lower]
        if lower.endswith("ed") and len(lower) > 4:
            stems = [
                lower[:-1],
                lower[:-2],
                lower[:-3] if lower[-3] == lower[-4] else "",
                lower[:-3] + "y" if lower.endswith("ied") else "",
            ]
            order = (
                [stems[3], stems[2], stems[1], stems[0]]
                if not lower.endswith(("ated", "ized", "ised", "uced", "ired"))
                else stems
            )
            for stem in order:
                if stem and stem in self.words:
                    return "did", stem
        return None

    def present(self, word: str) -> str | None:
        """Return the base form of a verb in the third person, ``makes`` -> ``make``."""
        lower = word.lower()
        for end, instead in (("ies", "y"), ("es", ""), ("s", "")):
            stem = lower.removesuffix(end) + instead
            if lower.endswith(end) and len(lower) > 3 and stem in self.words and not lower.endswith("ss"):
                return stem
        return None


def find_answers(claim: str, evidence: str) -> list[tuple[int, int]]:
    """Return spans of a sentence that stand in the passage and could answer a question, the likeliest first."""
    words = [(match.start(), match.end()) for match in WORD.finditer(claim)]
    lower = claim.lower()
    passage = f" {' '.join(WORD.findall(evidence.lower()))} "
    found = []
    position = 0
    while position < len(words):
        best = None
        for last in range(position, min(position + 8, len(words))):
            if f" {' '.join(lower[slice(*word)] for word in words[position : last + 1])} " not in passage:
                break
            best = last
        if best is None:
            position += 1
            continue
        first, last = position, best
        position = best + 1
        while first <= last and lower[slice(*words[first])] in FUNCTION:
            first += 1
        while last >= first and lower[slice(*words[last])] in FUNCTION:
            last -= 1
        if first > last or (first == 0 and last == len(words) - 1):
            continue
        found.append((words[first][0], words[last][1]))
    more = []
    for start, end in found:
        text = claim[start:end]
        parts = re.findall(
            r"(?:[A-Z][\w'’.-]*\w|[$€£]?\d[\d,.]*\d|\d+%?)(?: (?:of|the|de|von|and)? ?(?:[A-Z][\w'’-]*\w|\d+))*", text
        )
        more += [
            (start + text.index(part), start + text.index(part) + len(part))
            for part in parts
            if part.lower() not in FUNCTION
        ]
    candidates = list(dict.fromkeys(more + found))

    def value(span: tuple[int, int]) -> float:
        text = claim[slice(*span)]
        if text.count("(") != text.count(")") or any(word in AUXILIARIES for word in text.split()):
            return -9.0
        following = re.match(r" ([a-z]\w*)", claim[span[1] :])
        if following and following[1] not in FUNCTION and not NUMBER.match(text) and not text.istitle():
            return -3.0  # Half of a noun phrase.
        score = 2.0 * bool(NUMBER.match(text) or DATE.match(text)) + 1.5 * (text[0].isupper() and span[0] > 0)
        score += 0.7 * (span[0] == 0 or claim[span[1] :].strip(" .") == "") - 0.3 * max(0, len(text.split()) - 4)
        return score - (text.islower() and len(text.split()) == 1)

    return sorted((span for span in candidates if value(span) > -2), key=value, reverse=True)


def differing_span(claim: str, other: str) -> tuple[int, int] | None:
    """Return the span of ``claim`` that ``other`` has other words for."""
    first, second = claim.split(), other.split()
    if abs(len(first) - len(second)) > 10:
        return None
    start = 0
    while start < min(len(first), len(second)) and first[start].lower() == second[start].lower():
        start += 1
    end = 0
    while end < min(len(first), len(second)) - start and first[-1 - end].lower().strip(".") == second[
        -1 - end
    ].lower().strip("."):
        end += 1
    words = [(match.start(), match.end()) for match in re.finditer(r"\S+", claim)]
    if start >= len(words) - end:
        return None
    left, right = words[start][0], words[len(words) - end - 1][1]
    while right > left and claim[right - 1] in ".,;":
        right -= 1
    return (left, right) if 0 < right - left < 0.7 * len(claim) else None


def occurrences(question_words: set[str], answer: str, evidence: str) -> list[tuple[int, int]]:
    """Return where the answer stands in the sentence (or sentences) of the passage that share most words with the question."""
    pattern = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)", re.I)
    best: list[tuple[int, int]] = []
    most = -1
    for sentence in SENTENCE.finditer(evidence):
        hits = [match.span() for match in pattern.finditer(evidence, sentence.start(), sentence.end())]
        if not hits:
            continue
        shared = len(question_words & {word.lower() for word in WORD.findall(sentence[0])})
        if shared > most:
            best, most = [], shared
        if shared == most:
            best += hits
    return best or [match.span() for match in pattern.finditer(evidence)]


def content_words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)} - FUNCTION


def question_word(before: str, answer: str, after: str, random: Random) -> tuple[str, bool]:
    """Return the question word and whether it takes the preposition before the answer with it."""
    last = before.split()[-1].lower() if before.split() else ""
    capital = (answer[0].isupper() and before.strip() != "") or answer.istitle()
    if DATE.match(answer):
        if last in ("in", "on", "since", "until", "by", "during"):
            return (
                random.choice(
                    ["when", "when", "what year", "in what year"] if re.search(r"\d{3}", answer) else ["when"]
                ),
                True,
            )
        return random.choice(["what year", "when", "what date"]), False
    if answer[0] in "$€£":
        return random.choice(["how much", "how much money", "what amount"]), False
    if NUMBER.match(answer):
        noun = re.match(r"\s+([a-z]+s|people|children|men|women)\b", after)
        if answer.endswith(("%", "percent")):
            return random.choice(["what percentage", "how much", "what percent"]), False
        return ("how many" if noun else random.choice(["how many", "what number", "how much", "what"])), False
    if last in ("because",):
        return "why", True
    if last in PREPOSITIONS_OF_PLACE and capital and random.random() < 0.7:
        return "where", True
    if last == "by" and capital:
        return random.choice(["whom", "who", "what"]), False
    words = answer.split()
    if capital and 2 <= len(words) <= 3 and all(word[0].isupper() for word in words) and last != "the":
        return random.choice(["who", "who", "what", "which one"]), False
    return random.choice(["what", "what", "what", "which"] if not capital else ["what", "who", "which", "what"]), False


def make_question(claim: str, span: tuple[int, int], verbs: Verbs, random: Random) -> str:
    """Return a question that the span of this sentence answers."""
    claim = claim.strip()
    before, answer, after = claim[: span[0]], claim[slice(*span)], claim[span[1] :].rstrip(" .!?")
    style = random.random()
    word, takes = question_word(before, answer, after, random)
    if style < 0.14:
        return keywords(before, after, word, random)
    if style < 0.22:
        return finish(f"{before}{word}{after}", random)
    if not before.strip(" \"'") or before.strip().lower() in ("the", "a", "an"):
        return finish(f"{word}{after}", random)
    if takes:
        before = before.rstrip().rsplit(" ", 1)[0] if " " in before.rstrip() else ""
    inverted = front(before, after, word, verbs)
    return finish(inverted or f"{before} {word}{after}", random)


def front(before: str, after: str, word: str, verbs: Verbs) -> str | None:
    """Move the question word to the front and invert subject and auxiliary."""
    tokens = before.split()
    if tokens and tokens[-1].lower() in ("the", "a", "an"):
        tokens.pop()
    if "," in before or (tokens and tokens[0].lower() in SUBORDINATE):
        return None
    relative = any(token.lower() in ("that", "which", "who", "whose", "where") for token in tokens)
    places = [place for place, token in enumerate(tokens[:14]) if place and token.lower() in AUXILIARIES]
    for place in places[-1:] if relative else places[:1]:
        return " ".join([word, tokens[place], *lowered(tokens[:place]), *tokens[place + 1 :]]) + after
    for place, token in enumerate(tokens[:12]):
        if not place or tokens[place - 1].lower() in ("the", "a", "an", "of", "and"):
            continue
        if (pair := verbs.base(token)) is not None:
            return " ".join([word, pair[0], *lowered(tokens[:place]), pair[1], *tokens[place + 1 :]]) + after
    last = tokens[-1] if len(tokens) > 1 else ""
    if last and (stem := verbs.present(last)) is not None:
        return " ".join([word, "does", *lowered(tokens[:-1]), stem]) + after
    return None


def make_polar(claim: str, verbs: Verbs, random: Random) -> str | None:
    """Return the yes/no question of a sentence."""
    tokens = claim.strip().rstrip(".").split()
    for place, token in enumerate(tokens[:12]):
        if place and token.lower() in AUXILIARIES:
            return finish(" ".join([token, *lowered(tokens[:place]), *tokens[place + 1 :]]), random)
    for place, token in enumerate(tokens[:10]):
        if place and (pair := verbs.base(token)) is not None:
            return finish(" ".join([pair[0], *lowered(tokens[:place]), pair[1], *tokens[place + 1 :]]), random)
    return None


def lowered(tokens: list[str]) -> list[str]:
    """Lower the first word of a sentence that is no name."""
    if tokens and tokens[0].lower() in FUNCTION:
        return [tokens[0].lower(), *tokens[1:]]
    return tokens


def keywords(before: str, after: str, word: str, random: Random) -> str:
    """Return the words that somebody would type into a search box."""
    words = [
        found for found in WORD.findall(f"{before} {after}") if found.lower() not in FUNCTION or random.random() < 0.12
    ]
    if random.random() < 0.3:
        words = [word, *words]
    if random.random() < 0.3 and len(words) > 4:
        del words[random.randrange(len(words))]
    text = " ".join(words)
    return text.lower() if random.random() < 0.5 else text


def finish(text: str, random: Random) -> str:
    """Capitalise and end a question, now and then as people type it."""
    text = re.sub(r"\s+", " ", text).strip(" ,;:")
    text = text[:1].upper() + text[1:]
    if random.random() < 0.2:
        return text
    return text + "?"


def similar(asked: list[str], texts: list[str], count: int) -> list[list[int]]:
    """Return the places of the texts that share most words with each question, rare words first."""
    if not asked or not texts:
        return [[] for _ in asked]
    words: dict[str, int] = {}

    def vectors(documents: list[str], grow: bool) -> csr_matrix:
        columns, pointers = [], [0]
        for document in documents:
            for word in sorted(content_words(document)):
                if grow or word in words:
                    columns.append(words.setdefault(word, len(words)))
            pointers.append(len(columns))
        return csr_matrix(
            (numpy.ones(len(columns), dtype=numpy.float32), columns, pointers), shape=(len(documents), len(words))
        )

    matrix = vectors(texts, True)
    weight = numpy.log(1 + len(texts) / (1 + numpy.asarray(matrix.sum(axis=0)).ravel()))
    lengths = numpy.sqrt(numpy.asarray(matrix.sum(axis=1)).ravel() + 10)
    weighted = matrix.multiply(weight[None, :]).multiply(1 / lengths[:, None]).tocsr().T.tocsc()
    found = []
    for start in range(0, len(asked), 500):
        scores = (vectors(asked[start : start + 500], False) @ weighted).toarray()
        count_ = min(count, scores.shape[1])
        near = numpy.argpartition(-scores, count_ - 1, axis=1)[:, :count_]
        for row, places in zip(scores, near, strict=True):
            found.append([int(place) for place in places[numpy.argsort(-row[places])]])
    return found
