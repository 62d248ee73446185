"""Wordings of prompt injections, as regular expressions over lower-case text that ``unmask`` has normalised.

Three things give a text away: tokens of a chat template, an order to drop instructions or sources, and words that address a
model or dictate its answer. Every gap in a pattern is bounded, so matching is linear in the length of the text. Before "::"
stand the first letters, four at most, of words of which every match has one (none: it starts with a rare character, which is as
quick to look for): few texts have such a word and need the pattern.
"""

import re

_MODEL = (
    r"(?:(?:ai|research|autonomous|large) )?\b(?:ai|a\.i|llms?|language models?|chat ?bots?|chatgpt|gpt-?\d\w{0,9}|claude"
    r"|gemini|copilot|assistants?|summari[sz]ers?|(?<=\bai )(?:agents?|models?|systems?|graders?)|(?<=\bresearch )agents?)\b"
)
_MODEL_STARTS = "ai i llm llms lang chat gpt clau gemi copi assi summ agen"
_INSTRUCTIONS = r"(?:instruction|prompt|rule|direction|guideline|constraint|context|directive)s?"
_ANSWER = r"(?:answer|reply|response|report|summary|output)"
_SAY = r"(?:say|state|write|answer|reply|respond|output|print|conclude|report|tell|act)"
_DICTATED = r"(?:\s{0,3}[:=]|,? ?[\"“]|,? that\b)"

PATTERNS = (
    # Tokens, tags and headings of a chat template.
    r":: <\|\w{2,20}\|?>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
    r"syst assi deve admi :: (?<!`)</?(?:system|assistant|developer|admin)>(?!`)",
    r"syst inst assi :: ^\W{0,9}#{2,6} {0,3}(?:system|instructions?|assistant) ?(?:prompt|message)? {0,3}:? {0,3}$",
    r"syst deve admi root inst :: ^\W{0,9}(?:(?:(?:new|updated|secret) )?(?:system|developer|admin|root)[ _-](?:override"
    r"|prompt|instructions?|notice|note|message)|(?:new|updated|secret) instructions)(?: from the \w{1,20})? {0,3}[:\]]",
    r"open anth goog your deve :: \b(?:message|instruction|note|text) (?:is|comes|was sent) .{0,20}from (?:openai|anthropic"
    r"|google|your|the developer)",
    # Dropping the instructions, the question or the other sources.
    rf"igno disr forg over bypa disc diso pay foll obey use usin trus cite citi :: \b(?:ignor(?:e|ing)|disregard(?:ing)?"
    rf"|forget|overrides?|bypass|discard|disobey|pay no attention to|(?:do not|must not|don't|stop|never) (?:follow(?:ing)?"
    rf"|obey(?:ing)?|use|using|trust(?:ing)?|cite|citing))\b.{{0,20}}?\b(?:(?:previous|prior|above|earlier|original|system"
    rf"|your|all)\b.{{0,20}}\b{_INSTRUCTIONS}\b|{_INSTRUCTIONS} (?:above|you (?:were|have))|(?:everything"
    rf"|all) (?:that came )?(?:you|above|before)\b|user's? (?:question|query|request)|other (?:sources|pages|documents"
    rf"|results)\b|(?:year|date|figure|number|value) \d)",
    r"igno igna igni verg oubl olvi dime esqu nege verg zign abai lupa glöm bỏ :: \b(?:ignor[aei]\w{0,5}|vergiss|oublie[rz]"
    r"|olvid\w|dimentica|esque[çc]a|negeer|vergeet|zignoruj|abaikan|lupakan|glöm|bỏ qua)\b.{0,40}\b(?:anweisung|regel|reglas"
    r"|consignes|instru(?:cci|ks|kt|kc|ç)|instructi(?:es|ons pr[ée]c)|istruz|hướng dẫn)",
    r":: (?:игнорир|забуд|忽略|无视|無視|تجاهل).{0,40}(?:инструкц|правил|指令|指示|规则|التعليمات)",
    r":: (?:talimat|指示|지시|निर्देश).{0,25}(?:unut|yok say|無視|忘れ|무시|अनदेखा)",
    # Another role, another task, secrets.
    rf"now here :: \byou are (?:now|hereby)\b.{{0,40}}(?:{_MODEL}|\bdan\b|unrestricted)",
    r"mode pret act :: \b(?:enter|enable|activate) (?:jailbreak|dan|god|unrestricted) mode\b|\b(?:pretend"
    r"|act)\b.{0,20}\bno (?:rules|restrictions|limits)\b",
    rf"now :: \bfrom now on,? (?:you|{_SAY})\b",
    rf"your :: \byour (?:new|real|actual|true|secret) (?:task|goal|role|{_INSTRUCTIONS})(?: is\b| are\b|:)",
    rf"your :: \b(?:repeat|reveal|print|show|leak|{_SAY})\b.{{0,15}} your (?:system|hidden|secret|initial) {_INSTRUCTIONS}\b",
    r"conv user api syst :: \b(?:send|append|post|e-?mail|forward|upload)\b.{0,30}\b(?:conversation|user's (?:question|data)"
    r"|api keys|system prompt)\b.{0,60}(?:https?:|\burl\b|\S@\S)",
    r":: !\[[^\]\n]{0,80}\]\(\s?https?://[^)\s]{0,200}[{<]",
    # Addressing a model.
    rf"{_MODEL_STARTS} :: ^\W{{0,9}}(?:[\w']{{1,20}} ){{0,3}}(?:note|attention|dear|hey|hi|hello|message|instructions?"
    rf"|correction|key|to|for)(?: [\w']{{1,20}}){{0,3}}? {_MODEL}(?: \w{{1,20}}){{0,3}} ?[:,!]",
    r"ai llm chat chat assi :: ^\W{0,9}(?:ai|llm|chat ?bot|assistant)(?: (?:note|notice|hint))? ?:",
    rf"you :: \bif you(?: are|'re) (?:an? |the )?{_MODEL}(?:,| reading| processing)",
    rf"you :: \bas (?:an?|the) {_MODEL}[^.\n]{{0,40}} you\b",
    rf"{_MODEL_STARTS} :: \b{_MODEL} (?:reading|processing|summari[sz]ing) th(?:is|ese)\b",
    # Dictating the answer, or the end of the search.
    rf"your gene :: \b(?:your|generated) (?:final )?{_ANSWER}(?: (?:should|must|has to|with|contains?|be|say"
    rf"|state)){{0,3}}{_DICTATED}",
    rf"{_MODEL_STARTS} mode :: \b(?:{_MODEL}|the model) (?:must|should|shall|has to) (?:always )?{_SAY}{_DICTATED}",
    rf"aske summ answ :: \b(?:when|whenever|if|while) (?:you are |you )?(?:asked|summari[sz](?:ing|e)"
    rf"|answering)\b[^.\n]{{0,60}}, (?:always )?{_SAY}\b",
    rf"impo urge atte crit :: ^\W{{0,9}}(?:important|urgent|attention|critical)\W{{1,3}}{_SAY}\b",
    r"tell :: \btell (?:the|your) (?:user|reader|human)s?(?: so\b| this\b| ?:)",
    r"do don neve :: \b(?:do not|don't|never) (?:mention|reveal|report|state) (?:(?:this|these) (?:note|instruction|message)"
    r"|(?:the \w{1,9} )?\d)",
    rf"verb word repe :: \b{_SAY}\b.{{0,30}} (?:verbatim|word for word) ?:|\brepeat after me ?:",
    r"cite summ :: \b(?:must|always|only) cite this\b|\b(?:whoever|anyone who) summari[sz]es\b",
    r"suff mark stop :: \bsufficient\W{1,4}(?:to )?true\b|\bmark\b.{0,20}\bas sufficient\b|\bstop (?:searching|(?:the"
    r"|your) (?:re)?search)(?: now)? and\b",
    r"antw répo resp :: \b(?:antworten? (?:sie )?immer mit|répondez toujours|responde siempre)\b",
)
WORD_START = re.compile(r"\b[^\W\d_]{1,4}")
COMPILED = tuple(
    (frozenset(starts.split()), re.compile(pattern, re.MULTILINE))
    for starts, _, pattern in (wording.partition(":: ") for wording in PATTERNS)
)
