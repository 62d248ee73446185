"""Words that turn a sentence round: negations, and pairs of words that say the opposite of each other."""

import re

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
