"""Make false claims from true sentences, each with a true one of other words beside it, so that wording alone decides nothing.

Kinds: role (who did what to whom), order (before and after), cause, scope (all, some, only), unit, opposite, number, frequency,
negation, name, and person (a passage that says *we* of somebody whom the claim names). Labels are those of the claims data:
``contradicted`` where the passage says otherwise, ``unsupported`` where it does not settle it, ``not_supported`` for either.
"""

import itertools
import re
from collections.abc import Iterator
from random import Random

HELD_BACK = ("scitail", "defacto")  # Sources of claims that are never trained on.
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])|\n+")
REGULAR = """acquire advise appoint attack award cause call capture challenge command complete confirm contact control convert copy cover
create criticize defeat define delete deliver design destroy develop direct discover dismiss displace divide edit employ encourage
execute exceed expand extend finance follow force form found fund generate govern guide handle help hire host identify ignore import
include increase influence inform inherit inspire install introduce invade invite join kill launch limit load manage maintain notify
observe open operate order organize outperform override own praise precede prevent process produce promote protect publish purchase
receive recognize record reduce reject release rename replace report represent request require restore return save schedule
serve sign start stop store succeed support surround teach terminate train transfer transform translate trigger trust update use
validate visit wrap kidnap marry adopt sue accuse ban elect nominate rescue raise treat contain affect initialize register invoke parse
connect assign encode decode send"""
IRREGULAR = """beat/beat/beaten write/wrote/written choose/chose/chosen give/gave/given see/saw/seen take/took/taken hold/held/held
build/built/built buy/bought/bought sell/sold/sold lead/led/led leave/left/left lose/lost/lost make/made/made meet/met/met
overthrow/overthrew/overthrown run/ran/run shoot/shot/shot teach/taught/taught tell/told/told win/won/won find/found/found
send/sent/sent read/read/read hit/hit/hit bring/brought/brought hire/hired/hired strike/struck/struck feed/fed/fed"""
SYMMETRIC = frozenset("join meet marry contact connect".split())
BE = r"(?:is|are|was|were|has been|have been|been|be|being|gets?)"
STOP = r"(?!(?:that|this|to|by|in|on|at|for|from|with|and|or|not|is|are|was|were|be|been|being|has|have|had|which|who|when|as|it|its own|how|what|if|whether)\b)"
NOUN = r"(?:(?:the|a|an|its|their|this|each|any|his|her|our|your) )?[\w'’`./-]+(?: (?!and\b|or\b|by\b|in\b|on\b|at\b|to\b|for\b|from\b|with\b|that\b|which\b|who\b|when\b|as\b|into\b|after\b|before\b|if\b|is\b|are\b|was\b|were\b|be\b|been\b|being\b|has\b|have\b|had\b|not\b|than\b|of course\b)[\w'’`./-]+){0,3}"
OPPOSITES = """enabled/disabled required/optional increase/decrease increases/decreases increased/decreased allowed/forbidden
allows/forbids permitted/prohibited higher/lower more/less larger/smaller greater/smaller faster/slower earlier/later before/after
above/below maximum/minimum maximal/minimal first/last oldest/newest older/newer longer/shorter better/worse stronger/weaker
synchronous/asynchronous synchronously/asynchronously mutable/immutable public/private visible/hidden active/inactive valid/invalid
safe/unsafe supported/unsupported available/unavailable possible/impossible successful/unsuccessful success/failure succeeds/fails
accept/reject accepts/rejects accepted/rejected include/exclude includes/excludes included/excluded open/closed online/offline
positive/negative positively/negatively gain/loss profit/deficit rise/fall rises/falls rose/fell rising/falling improved/worsened
improves/worsens reduce/raise reduces/raises reduced/raised start/stop starts/stops started/stopped begins/ends begin/end
encrypted/unencrypted ascending/descending upper/lower inner/outer internal/external local/remote manual/automatic
manually/automatically temporary/permanent temporarily/permanently explicit/implicit explicitly/implicitly north/south
northern/southern east/west eastern/western male/female won/lost wins/loses winner/loser win/lose parent/child buyer/seller
majority/minority expensive/cheap rich/poor strong/weak high/low early/late common/rare known/unknown legal/illegal fixed/variable
static/dynamic same/different similar/different present/absent necessary/unnecessary sufficient/insufficient complete/incomplete
correct/incorrect true/false full/empty wide/narrow deep/shallow heavy/light cold/warm agree/disagree agreed/disagreed
approve/reject approved/rejected support/oppose supports/opposes supported/opposed with/without ignored/respected
deprecated/recommended blocking/non-blocking persistent/transient case-sensitive/case-insensitive sorted/unsorted signed/unsigned"""
ALWAYS = {
    "some": ["all", "all"], "many": ["all", "nearly all"], "most": ["all"], "several": ["all", "hundreds of"], "a few": ["most", "all"],
    "often": ["always"], "usually": ["always"], "sometimes": ["always"], "generally": ["without exception"], "typically": ["always"],
    "may": ["must", "will always"], "might": ["will"], "can": ["must", "always"], "could": ["would"], "should": ["must"],
    "by default": ["in all cases", "always"], "almost": ["exactly"], "about": ["exactly"], "approximately": ["exactly"],
    "at least": ["at most", "exactly"], "at most": ["at least"], "up to": ["at least", "more than"], "more than": ["less than", "exactly"],
    "less than": ["more than"], "over": ["under"], "nearly": ["more than"], "mainly": ["exclusively"], "primarily": ["exclusively", "only"],
    "mostly": ["entirely"], "partly": ["entirely"], "partially": ["completely"], "one of the": ["the only", "the first of the"],
    "among": ["alone among"], "all": ["only some of the", "none of the", "few"], "every": ["hardly any", "only one"], "each": ["only one"],
    "always": ["never", "rarely", "only sometimes"], "never": ["always", "sometimes"], "only": ["not only", "never"], "any": ["no", "only one"],
    "no": ["some", "every"], "must": ["need not", "may"], "exactly": ["at least", "almost"],
    "unless": ["if", "even if"], "if": ["even if", "unless", "whether or not"], "except": ["including"], "until": ["after"], "for example": ["only"],
}  # fmt: skip
WEAKER = {
    "all": ["some"], "every": ["each", "some"], "each": ["every"], "always": ["in all cases", "at all times"], "most": ["many", "some", "more than half of"],
    "many": ["some", "a number of"], "several": ["some", "more than one"], "usually": ["often", "in most cases"], "often": ["frequently", "sometimes"],
    "must": ["has to", "is required to"], "can": ["is able to", "may"], "only": ["nothing but"], "never": ["at no time"], "no": ["not any"],
    "at least": ["no less than"], "at most": ["no more than"], "more than": ["over", "in excess of"], "less than": ["under", "fewer than"],
    "up to": ["at most", "no more than"], "about": ["around", "roughly"], "approximately": ["about", "roughly"], "by default": ["unless changed", "unless set otherwise"],
    "mainly": ["mostly", "primarily"], "primarily": ["mainly", "mostly"], "one of the": ["among the"], "unless": ["except if"],
    "if": ["when", "in case"], "until": ["up to the time when"], "sometimes": ["at times", "not always"], "may": ["can", "might possibly"],
    "nearly": ["almost", "just under"], "almost": ["nearly"], "over": ["more than"],
}  # fmt: skip
UNITS = {
    "bytes": ["kilobytes", "bits"], "KB": ["MB", "bytes"], "kB": ["MB"], "MB": ["GB", "KB"], "GB": ["MB", "TB"], "TB": ["GB"], "MiB": ["GiB"], "GiB": ["MiB"],
    "milliseconds": ["seconds", "minutes"], "ms": ["seconds", "minutes"], "seconds": ["minutes", "milliseconds", "hours"], "second": ["minute", "hour"],
    "minutes": ["hours", "seconds"], "minute": ["hour", "second"], "hours": ["days", "minutes"], "hour": ["day", "minute"], "days": ["weeks", "months", "hours"],
    "day": ["week", "month"], "weeks": ["months", "days"], "week": ["month", "day"], "months": ["years", "weeks"], "month": ["year", "week"],
    "years": ["months", "decades", "days"], "year": ["month", "decade"], "thousand": ["million"], "million": ["billion", "thousand"], "billion": ["million", "trillion"],
    "trillion": ["billion"], "km": ["miles", "m"], "kilometres": ["miles", "metres"], "kilometers": ["miles", "meters"], "miles": ["kilometres", "feet"],
    "metres": ["kilometres", "feet"], "meters": ["kilometers", "feet"], "feet": ["metres", "yards"], "ft": ["m"], "cm": ["mm", "m"], "mm": ["cm"], "kg": ["g", "tons"],
    "mg": ["g", "micrograms"], "g": ["kg", "mg"], "%": ["percentage points", "per mille"], "percent": ["percentage points", "per mille"],
    "dollars": ["cents", "euros"], "acres": ["hectares"], "hectares": ["acres"], "pounds": ["kilograms", "ounces"], "tons": ["kilograms"],
    "megawatts": ["kilowatts"], "MW": ["kW", "GW"], "kW": ["MW"], "GHz": ["MHz"], "MHz": ["GHz"], "people": ["families"], "square miles": ["square kilometres"],
}  # fmt: skip
FREQUENT = [
    ["once a day", "daily", "every day"], ["once a week", "weekly", "every week", "every seven days"], ["twice a year", "every six months", "biannually", "semi-annually", "bi-annually"],
    ["once a month", "monthly", "every month"], ["once a year", "annually", "yearly", "every year", "every twelve months"], ["four times a year", "quarterly", "every three months", "every quarter"],
    ["every two years", "biennially", "every other year"], ["every hour", "hourly", "once an hour"], ["twice a day", "every twelve hours"], ["every ten years", "once a decade"],
]  # fmt: skip
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
SAYS = ["According to the text, {}", "The source says that {}", "It is stated that {}", "The document notes that {}", "As the passage explains, {}"]  # fmt: skip
NAME = re.compile(r"\b[A-Z][\w’'-]+(?: (?:of |de |the )?[A-Z][\w’'-]+)*")
YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
DATED = re.compile(r"\b(?:[Ii]n|[Oo]n|[Ss]ince|[Bb]y)(?: [A-Z][a-z]+)?(?: \d{1,2},?)? ((?:1[5-9]|20)\d\d)\b")
SKIP_NAMES = frozenset(
    "The A An In It He She They This That These Those If When On At For As By From To With There But And Or We You I Its His Her".split()
)


def _inflected() -> dict[str, tuple[str, str, str]]:
    """Map the past, the third person and the base of each verb to base, past and participle."""
    forms = {}
    for verb in REGULAR.split():
        past = verb + "d" if verb.endswith("e") else verb[:-1] + "ied" if re.search(r"[^aeiou]y$", verb) else verb + verb[-1] + "ed" if verb in ("ban", "stop", "wrap", "kidnap") else verb + "ed"  # fmt: skip
        forms[verb] = (verb, past, past)
    forms |= {row.split("/")[0]: tuple(row.split("/")) for row in IRREGULAR.split()}
    found = {}
    for base, form in forms.items():
        for word in (form[1], third(base)):
            found[word] = form
    return found


def third(base: str) -> str:
    return (
        base[:-1] + "ies"
        if re.search(r"[^aeiou]y$", base)
        else base + ("es" if base.endswith(("s", "sh", "ch", "x")) else "s")
    )


VERBS = _inflected()
PARTICIPLES = {form[2]: form for form in VERBS.values()}
ACTIVE = re.compile(
    rf"^((?:The |A |An |Its |Each |This )?{NOUN}) ({'|'.join(VERBS)}) ({STOP}{NOUN})(?=[ .;]|$)(?! and | or )(.*)$"
)
PASSIVE = re.compile(
    rf"^((?:The |A |An |Its |Each |This )?{NOUN}) (is|are|was|were) ({'|'.join(PARTICIPLES)}) by ({STOP}{NOUN})(?=[ .;]|$)(?! and | or )(.*)$"
)
OPPOSITE = {}
for _pair in OPPOSITES.split():
    _one, _two = _pair.split("/")
    OPPOSITE.setdefault(_one, _two)
    OPPOSITE.setdefault(_two, _one)


def words_pattern(words: object) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])({'|'.join(sorted(map(re.escape, words), key=len, reverse=True))})(?![\w-])")


OPPOSITE_WORD, ALWAYS_WORD, WEAKER_WORD = map(words_pattern, (OPPOSITE, ALWAYS, WEAKER))
COUNTED = "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty hundred several".split()
UNIT = re.compile(
    rf"(?:(?<=\d)|{'|'.join(f'(?<=[ (]{word})' for word in COUNTED)})([ -]?)({'|'.join(sorted(map(re.escape, UNITS), key=len, reverse=True))})(?![\w-])"
)
FREQUENCY = re.compile(
    words_pattern([word for row in FREQUENT for word in row]).pattern
    + r"(?=[.,;)]| (?:in|on|at|from|by|for|with|and|to|since|until|as)\b)"
)
FIGURE = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-])")
BEING = re.compile(r"\b(is|are|was|were|can|could|will|would|must|should|may|does|do|did|has|have)\b(?! (?:not|n't))")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text that could be claims."""
    found = [sentence.strip() for sentence in SENTENCE.split(text)]
    return [one for one in found if 6 <= len(one.split()) <= 40 and one[0].isupper() and one[-1] == "." and one.count("`") % 2 == 0 and not re.search(r"[|{}<>=]|::|\.\.\s", one)]  # fmt: skip


def alter(sentence: str, passage: str, random: Random) -> Iterator[tuple[str, str, str, str]]:
    """Yield a false claim and a true one of up to two kinds: claim, passage, label, kind."""
    sentence = sentence.strip()
    if not 5 <= len(sentence.split()) <= 45 or len(passage) > 3000:
        return
    kinds = list(MAKERS)
    random.shuffle(kinds)
    kinds.sort(key=lambda kind: kind in COMMON)  # Rare kinds first.
    made = 0
    for kind in kinds:
        if made and kind in COMMON and random.random() < 0.75:
            continue
        found = MAKERS[kind](sentence, passage, random)
        if not found:
            continue
        false, label, true = found
        made += 1
        if kind == "person":
            yield false, true, label, kind
            continue
        true = true or sentence
        if random.random() < 0.2 and (more := MAKERS[random.choice(COMMON)](true, passage, random)):
            yield finish(more[0], random), passage, more[1], kind  # A true rewording with something false in it.
        yield finish(false, random), passage, label, kind
        yield finish(true, random), passage, "supported", kind
        if made == 2:
            return


def finish(claim: str, random: Random) -> str:
    claim = re.sub(r"\s+", " ", claim).strip()
    if random.random() < 0.07:
        return random.choice(SAYS).format(claim[0].lower() + claim[1:] if claim.split()[0] in SKIP_NAMES else claim)
    return claim[0].upper() + claim[1:]


def replaced(text: str, match: re.Match[str], word: str) -> str:
    return text[: match.start()] + word + text[match.end() :]


def pick(pattern: re.Pattern[str], text: str, random: Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return random.choice(found) if found else None


def low(noun: str) -> str:
    return (
        noun[0].lower() + noun[1:]
        if noun.split()[0] in SKIP_NAMES or (noun[1:2].islower() and noun.split()[0] in ("Each", "Any"))
        else noun
    )


def role(sentence: str, passage: str, random: Random):
    """Swap who does and who suffers something; the true one turns active and passive."""
    if match := PASSIVE.match(sentence):
        one, be, verb, two, rest = match.groups()
        if PARTICIPLES[verb][0] in SYMMETRIC or (NAME.fullmatch(one) is None and random.random() < 0.2):
            return None
        past = PARTICIPLES[verb][1] if be in ("was", "were") else third(PARTICIPLES[verb][0])
        active = f"{two} {past} {low(one)}{rest}"
        return (
            random.choice([f"{two} {be} {verb} by {low(one)}{rest}", f"{one} {past} {low(two)}{rest}"]),
            "contradicted",
            active,
        )
    if match := ACTIVE.match(sentence):
        one, verb, two, rest = match.groups()
        base, past, participle = VERBS[verb]
        if base in SYMMETRIC or one.lower() in (
            "it",
            "he",
            "she",
            "they",
            "this",
            "that",
            "which",
            "there",
            "we",
            "you",
        ):
            return None
        be = (
            ("was" if verb == past and past != base else "is")
            if not two.endswith("s") or two.endswith("ss")
            else ("were" if verb == past else "are")
        )
        passive = f"{two} {be} {participle} by {low(one)}{rest}"
        return (
            random.choice([f"{two} {verb} {low(one)}{rest}", f"{one} {be} {participle} by {low(two)}{rest}"]),
            "contradicted",
            passive,
        )
    if match := re.match(
        r"^(.{3,60}?) (is|are|was|were) (\w+er|more \w+|less \w+|better|worse) than (.{3,60}?)([.,;]|$)(.*)$", sentence
    ):
        one, be, how, two, end, rest = match.groups()
        return (
            f"{two} {be} {how} than {low(one)}{end}{rest}",
            "contradicted",
            f"Compared with {two}, {low(one)} {be} {how}{end}{rest}",
        )
    if match := re.search(
        r"\bfrom ([\w'’.-]+(?: [\w'’.-]+)?) to ([\w'’.-]+(?: (?!and|in|on|at|for)[\w'’.-]+)?)", sentence
    ):
        return replaced(sentence, match, f"from {match[2]} to {match[1]}"), "contradicted", replaced(sentence, match, f"to {match[2]} from {match[1]}")  # fmt: skip
    names = [
        name for name in NAME.finditer(sentence) if name[0] not in SKIP_NAMES and name[0].split()[0] not in SKIP_NAMES
    ]
    for one, two in itertools.pairwise(names):
        between = sentence[one.end() : two.start()]
        if (
            re.search(r"\b(?:of|for|by|to|in|from|under|over|against|after|than)\b", between)
            and not re.search(r"\b(?:and|or|with)\b|,", between)
            and one[0] != two[0]
            and len(between) < 60
        ):
            return sentence[: one.start()] + two[0] + between + one[0] + sentence[two.end() :], "not_supported", ""
    return None


def order(sentence: str, passage: str, random: Random):
    """Turn before and after round; the true one turns the clauses round as well. Or compare the years of two sentences."""
    if match := re.match(r"^(.{12,140}?),? \b(before|after|once)\b ([^,;]{8,120})\.$", sentence):
        main, word, clause = match.groups()
        other = {"before": "after", "after": "before", "once": "before"}[word]
        true = f"{word.capitalize()} {clause}, {low(main)}."
        return (
            random.choice([f"{main} {other} {clause}.", f"{other.capitalize()} {clause}, {low(main)}."]),
            "contradicted",
            true,
        )
    if match := re.match(r"^(Before|After|Once) ([^,]{6,100}), (.{10,140})\.$", sentence):
        word, clause, main = match.groups()
        other = {"Before": "after", "After": "before", "Once": "before"}[word]
        same = "after" if word == "Once" else word.lower()
        return (
            random.choice([f"{main} {other} {clause}.", f"{other.capitalize()} {clause}, {main}."]),
            "contradicted",
            f"{main} {same} {clause}.",
        )
    if match := re.match(r"^(.{10,100}?),? (?:and )?then (.{10,100})\.$", sentence):
        one, two = match.groups()
        return f"{two}, then {low(one)}.", "contradicted", f"First {low(one)}, and after that {two}."
    years = DATED.findall(sentence)
    if len(years) == 1 and len(sentence.split()) < 22:
        for other in sentences(passage):
            theirs = DATED.findall(other)
            if (
                other != sentence
                and len(theirs) == 1
                and theirs[0] != years[0]
                and len(other.split()) < 22
                and not re.search(r"\b(?:before|after|since|until)\b", other + sentence)
            ):
                first, second = (
                    re.sub(
                        r",?\s*\(?\b(?:[Ii]n|[Oo]n|[Bb]y|[Ss]ince)? ?(?:[A-Z][a-z]+ )?(?:\d{1,2},? )?(?:1[5-9]|20)\d\d,?",
                        "",
                        one,
                    ).strip(" ,.")
                    for one in (sentence, other)
                )
                if min(len(first.split()), len(second.split())) < 4:
                    return None
                word, wrong = ("before", "after") if years[0] < theirs[0] else ("after", "before")
                texts = [f"{first} {{}} {low(second)}.", f"{second} {{}} {low(first)}."]
                place = random.randrange(2)
                right = texts[place].format((word, wrong)[place])
                return texts[place].format((wrong, word)[place]), "contradicted", right
    return None


def cause(sentence: str, passage: str, random: Random):
    """Turn cause and effect round, or put a cause between two neighbours that states none."""
    if match := re.match(
        r"^(.{12,150}?),? (because|since (?=it|they|the |he |she|this|these|there|you|we )|so that|due to the fact that) ?([^,;]{12,150})\.$",
        sentence,
    ):
        effect, word, reason = match.groups()
        word = word.strip()
        if word == "so that":
            return f"{reason} so that {low(effect)}.", "not_supported", f"So that {reason}, {low(effect)}."
        return f"{reason} because {low(effect)}.", "not_supported", random.choice([f"Because {reason}, {low(effect)}.", f"{reason}, so {low(effect)}."])  # fmt: skip
    if random.random() > 0.12:
        return None
    near = sentences(passage)
    if sentence in near and len(near) > 1:
        place = near.index(sentence)
        other = near[place - 1] if place else near[1]
        if (
            re.search(
                r"\b(?:because|since|therefore|thus|so|hence|due|result|cause|reason)", f"{sentence} {other}", re.I
            )
            or re.match(r"(?:It|This|That|They|These|He|She)\b", other)
            or len(other.split()) > 22
        ):
            return None
        word = random.choice(["because", "because", ", which is why", "as a result of the fact that", ", so"])
        one, two = sentence.rstrip("."), low(other.rstrip("."))
        joined = random.choice(["and", "while", "; also,"])
        return re.sub(r" ,", ",", f"{one} {word} {two}."), "unsupported", re.sub(r" ;", ";", f"{one} {joined} {two}.")
    return None


def scope(sentence: str, passage: str, random: Random):
    """Make some all and all some; the true one says the same or less."""
    match = pick(ALWAYS_WORD, sentence, random)
    if match is None:
        if (
            be := re.search(r"\b(is|are|was|were|supports|uses|accepts|applies to|works with)\b", sentence)
        ) and random.random() < 0.08:
            return replaced(sentence, be, f"{be[0]} only"), "unsupported", ""
        return None
    rest = sentence[match.end() :]
    if match[0] in ("over", "about", "almost", "nearly", "up to", "exactly") and not re.match(
        r" \$?(?:\d|all|every|half|two|three|four|five|ten)", rest
    ):
        return None
    if match[0] in ("most", "all") and not re.match(r" (?:of |the )?(?:the )?[\w-]+s\b", rest):
        return None
    true = ""
    if match[0] in WEAKER:
        true = replaced(
            sentence,
            match,
            random.choice(WEAKER[match[0]])
            + (" of" if match[0] in ("all", "most") and rest.startswith(" the ") else ""),
        )
    label = (
        "contradicted"
        if match[0]
        in (
            "all",
            "always",
            "never",
            "every",
            "both",
            "must",
            "at least",
            "at most",
            "more than",
            "less than",
            "up to",
            "unless",
            "no",
            "over",
        )
        else "unsupported"
    )
    return replaced(sentence, match, random.choice(ALWAYS[match[0]])), label, true


def unit(sentence: str, passage: str, random: Random):
    """Change a unit or a scale; the true one writes the same amount in another way."""
    match = pick(UNIT, sentence, random)
    if match is None:
        return None
    other = random.choice(UNITS[match[2]])
    space = match[1] if match[1].strip() == "" and match[2] != "%" else " " if match[2] == "%" else match[1]
    return (
        sentence[: match.start()] + space + other + sentence[match.end() :],
        "contradicted",
        same_amount(sentence, match, random),
    )


def same_amount(sentence: str, match: re.Match[str], random: Random) -> str:
    """Write an amount in another way: 1.5 million -> 1,500,000, 90 seconds -> 1.5 minutes, 50 % -> half."""
    figure = re.search(r"(\d[\d,]*(?:\.\d+)?)$", sentence[: match.start()])
    if not figure:
        return ""
    amount, name = float(figure[1].replace(",", "")), match[2]
    scales = {"million": 1e6, "thousand": 1e3, "billion": 1e9}
    steps = {"seconds": (60, "minutes"), "minutes": (60, "hours"), "hours": (24, "days"), "ms": (1000, "seconds"), "milliseconds": (1000, "seconds"), "months": (12, "years"), "MB": (1000, "GB"), "GB": (1000, "TB"), "km": (0.001, "m"), "kg": (0.001, "g"), "days": (7, "weeks"), "years": (10, "decades"), "cm": (10, "mm"), "mg": (1000, "g"), "KB": (1000, "MB")}  # fmt: skip
    if name in scales:
        text = f"{amount * scales[name]:,.0f}"
    elif name in ("%", "percent"):
        text = {50: "half", 25: "a quarter", 75: "three quarters", 10: "a tenth", 100: "all"}.get(
            amount, f"{figure[1]} per cent" if name == "%" else f"{figure[1]}%"
        )
    elif name in steps and amount % (factor := steps[name][0]) == 0 and factor > 1 and amount:
        count = int(amount / factor)
        text = (
            f"{count} {steps[name][1]}"
            if count != 1
            else f"1 {steps[name][1][:-1] if steps[name][1].endswith('s') and len(steps[name][1]) > 2 else steps[name][1]}"
        )
    elif name in ("days", "minutes", "hours", "years") and amount < 13:
        return sentence[: figure.start()] + f"{int(amount) * {'days': 24, 'minutes': 60, 'hours': 60, 'years': 12}[name]} { {'days': 'hours', 'minutes': 'seconds', 'hours': 'minutes', 'years': 'months'}[name]}" + sentence[match.end() :]  # fmt: skip
    else:
        return ""
    return sentence[: figure.start()] + text + sentence[match.end() :]


def opposite(sentence: str, passage: str, random: Random):
    """Put the opposite of a word; the true one negates the opposite."""
    match = pick(OPPOSITE_WORD, sentence, random)
    if match is None or (
        match[0] in ("with", "same", "more", "first", "last", "high", "open") and random.random() < 0.6
    ):
        return None
    other = OPPOSITE[match[0]]
    after_be = re.search(rf"\b{BE}$", sentence[: match.start()].rstrip())
    true = (
        replaced(sentence, match, f"not {other}")
        if after_be and match[0] not in ("more", "less", "first", "last", "increased", "decreased")
        else ""
    )
    if true and random.random() < 0.3:
        return replaced(sentence, match, f"not {match[0]}"), "contradicted", true
    return replaced(sentence, match, other), "contradicted", true


def number(sentence: str, passage: str, random: Random):
    """Change a figure; the true one writes it in another way."""
    match = pick(FIGURE, sentence, random)
    if match is None:
        spelt = re.search(rf"\b({'|'.join(NUMBERS[2:])})\b", sentence)
        if not spelt:
            return None
        value = NUMBERS.index(spelt[0])
        return (
            replaced(sentence, spelt, NUMBERS[(value + random.choice([1, 2, -1])) % 13]),
            "contradicted",
            replaced(sentence, spelt, str(value)),
        )
    text = match[0].rstrip(",")
    value = float(text.replace(",", ""))
    if YEAR.fullmatch(text):
        new, true = str(int(value) + random.choice([-20, -10, -3, -2, -1, 1, 2, 3, 5, 10])), ""
    elif "." in text:
        new, true = f"{value * random.choice([0.5, 1.1, 1.5, 2, 10]):.{len(text.split('.')[1])}f}", ""
    elif value < 32:
        new, true = (
            str(int(max(1, value + random.choice([1, 2, 3, 5, -1, -2])))),
            replaced(sentence, match, NUMBERS[int(value)]) if value < 13 else "",
        )
    else:
        new = f"{max(0, int(value * random.choice([0.5, 2, 3, 10]) + random.choice([0, 1, -1, 5]))):,}"
        true = replaced(sentence, match, f"{int(value):,}" if "," not in text else text.replace(",", ""))
    return (replaced(sentence, match, new), "contradicted", true) if new != text else None


def frequency(sentence: str, passage: str, random: Random):
    """Say how often in other words, and another frequency."""
    match = pick(FREQUENCY, sentence, random)
    if match is None:
        return None
    row = next(row for row in FREQUENT if match[0] in row)
    other = random.choice([word for words in FREQUENT if words is not row for word in words])
    return (
        replaced(sentence, match, other),
        "contradicted",
        replaced(sentence, match, random.choice([word for word in row if word != match[0]])),
    )


def negation(sentence: str, passage: str, random: Random):
    """Put in a negation, or take one out."""
    if match := re.search(
        r"\b(is|are|was|were|can|could|will|would|must|should|may|does|do|did|has|have)(?: not|n't|not) ", sentence
    ):
        return replaced(sentence, match, f"{match[1]} " if match[1] not in ("do", "does", "did") else ""), "contradicted", f"It is not true that {low(replaced(sentence, match, match[1] + ' '))}" if match[1] in ("is", "are", "was", "were", "can", "will") else ""  # fmt: skip
    match = BEING.search(sentence)
    if match is None or sentence.endswith("?"):
        return None
    negated = replaced(sentence, match, "cannot" if match[0] == "can" else f"{match[0]} not")
    if random.random() < 0.25:
        return f"It is not true that {low(sentence)}", "contradicted", f"It is not the case that {low(negated)}"
    return negated, "contradicted", ""


def name(sentence: str, passage: str, random: Random):
    """Put another name of the passage in the place of one."""
    names = [match for match in NAME.finditer(sentence) if match[0].split()[0] not in SKIP_NAMES and match.start()]
    others = [
        other
        for other in dict.fromkeys(NAME.findall(passage))
        if other.split()[0] not in SKIP_NAMES and other not in sentence
    ]
    if not names or not others:
        return None
    match = random.choice(names)
    others = [other for other in others if len(other.split()) == len(match[0].split()) and other not in match[0]]
    return (replaced(sentence, match, random.choice(others)), "not_supported", "") if others else None


def person(sentence: str, passage: str, random: Random):
    """Let the passage say *we* and *our* of the name in the claim. Returns claim, label and the changed passage."""
    match = re.search(r"\b(?:The )?([A-Z][\w-]+(?: [A-Z][\w-]+)*)['’]s\b", sentence)
    if match is None or match[0] not in passage or match[1].split()[0] in SKIP_NAMES:
        return None
    changed = re.sub(rf"(?:The )?{re.escape(match[1])}['’]s\b", "our", passage)
    changed = re.sub(rf"(?:The )?{re.escape(match[1])} (?:is|was)\b", "we are", changed)
    head = random.choice(["{} – handbook\n", "{}: annual report. ", "About us ({})\n", "{}\n"]).format(match[1])
    if random.random() < 0.35:
        other = random.choice(
            ["Northwind", "Acme", "Globex", "Initech", "Umbrella", "Stark Industries", "Contoso", "Fabrikam"]
        )
        return sentence.replace(match[1], other), "not_supported", head + changed
    return sentence, "supported", head + changed


MAKERS = {
    function.__name__: function
    for function in (role, order, cause, scope, unit, opposite, frequency, number, negation, name, person)
}
COMMON = ["number", "negation", "name"]
