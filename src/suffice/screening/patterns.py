"""Wordings of prompt injections, as regular expressions over lower-case text that ``unmask`` has normalised.

``filter`` decides what happens to a line that matches.
"""

_AI_NAMES = (
    r"(?:(?<![(,.'=\-])(?<!, )a\.?i\.?(?: (?:assistant|agent|model|system|reader|crawler|bot|tool"
    r"|summari[sz]er))?s?|llms?"
    r"|(?:large )?language models?|chat ?bots?|chatgpt|gpt-?\d\w*|claude|gemini|copilot|grok|assistants?"
    r"|summari[sz]ers?"
    r"|(?:research|autonomous|browsing|web) agents?)"
)
_NOT_A_PROFESSION = (
    r"(?! ?(?:research|engineer|develop|compan|startup|practition|enthusias|student|scient|user|expert|profession"
    r"|vendor|provider"
    r"|product|team|lab|polic|ethic|safety|regulat|professor|coach|director|manager|editor|secretary))"
)
_INSTRUCTION_NOUNS = (
    r"(?:instructions?|prompts?|rules?|directions?|guidelines?|commands?|directives?|constraints?|orders|training"
    r"|programming"
    r"|polic(?:y|ies)|safeguards?|restrictions?|messages?|conversation|context|tasks?)"
)
_PRIOR_ADJECTIVES = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|existing|former|initial|original|system"
    r"|developer|your|given"
    r"|all (?:of )?(?:the |your )?(?:other )?(?=instructions|prompts|directives|guidelines))"
)
_IGNORE_VERBS = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?: about)?|overrid(?:e|ing)|overrule|bypass|neglect|discard"
    r"|pay no attention to|(?:do not|don't|never|stop|cease|without) (?:follow(?:ing)?|obey(?:ing)?|adher(?:e|ing) to"
    r"|comply(?:ing)? with|listen(?:ing)? to))"
)
_CLAUSE_START = (
    r"(?:^|[.!?:;,>\]\)\-–—*]\s*|\b(?:please|must|should|shall|then|now|always|first|instead|simply|just|to you"
    r"|you will"
    r"|need to|have to)[, ]+)"
)
_JAILBREAK_MODES = r"(?:dan|jailbr[eo]ak(?:en)?|god|unrestricted|unfiltered|uncensored|sudo|do anything now)"
_ANSWER_NOUNS = r"(?:answer|reply|response|report|summary|output|conclusion)"
_DICTATED = r"(?:\s*:|,? ?[\"“]|,? that\b)"  # What follows is dictated: a colon, a quotation mark or "that".
_ANSWER_VERBS = r"(?:respond|reply|answer|output|print|say|write|conclude|recommend|claim|cite|rate|obey|comply)"

# Patterns that decide alone, by a comma-separated list of hints. The patterns are tried only if the text contains one of the
# hints; most texts contain none.
DECISIVE_PATTERNS = {
    "ignor,disregard,forget,overrid,overrul,bypass,neglect,discard,attention,follow,obey,adher,comply,listen": [
        # Dropping the model's instructions, its sources or its user.
        rf"\b{_IGNORE_VERBS}\b(?: \S+){{0,4}}? {_PRIOR_ADJECTIVES}(?: \S+){{0,3}}? {_INSTRUCTION_NOUNS}\b",
        rf"\b{_IGNORE_VERBS}\b(?: \S+){{0,4}}? {_INSTRUCTION_NOUNS}(?: \S+){{0,3}}? (?:above|before|so far|earlier|previously"
        rf"|given to you"
        r"|you (?:were|have been|had|got|received)|from (?:the |your )?(?:system|developer|user|operator|creator))\b",
        rf"{_CLAUSE_START}(?:{_IGNORE_VERBS})(?: \S+){{0,2}}? (?:everything|anything|all|whatever)(?: \S+){{0,3}}?"
        r" (?:above|before|previous(?:ly)?|prior|earlier|said|told|know|learned)\b",
        rf"{_CLAUSE_START}(?:ignore|disregard|forget) (?:the |this )?(?:user'?s?|human'?s?) "
        r"(?:question|query|task|request|prompt|message|input)",
        rf"{_CLAUSE_START}(?:ignore|disregard|discard|(?:do not|don't) (?:use|trust|cite|read|believe)) (?:all |any "
        rf"|every )?(?:the )?"
        r"(?:other|remaining) (?:sources?|documents?|passages?|results?|evidence|pages?|search results|notes"
        r"|websites?)\b",
    ],
    "trust,cite,believe": [
        rf"{_CLAUSE_START}(?:(?:do not|don't|never) (?:use|trust|cite|read|believe)) (?:all |any |every )?(?:the )?"
        r"(?:other|remaining) (?:sources?|documents?|passages?|results?|evidence|pages?|search results|notes"
        r"|websites?)\b",
    ],
    "ai,a.i,llm,language,chat,gpt,claude,gemini,copilot,grok,assistant,summari,agent,automated": [
        # Speaking to it by name.
        r"^\W*(?:\w+ )?(?:attention|dear|hey|hello|hi|notice|note|memo|message|instructions?|important(?: (?:note"
        r"|message|notice))?"
        rf"|warning|reminder|request)\b,? ?(?:to|for)? ?(?:all |any |every |the |an? "
        rf"|our )?{_AI_NAMES}{_NOT_A_PROFESSION}(?: \w+){{0,6}}\s*[:,!\-–—]",
        r"\bif (?:you are|you're) (?:an? |any |the )?(?:a\.?i\.?|llm|(?:large )?language model|chat ?bot"
        r"|ai (?:assistant|agent|model|system|bot|tool)|gpt\S*"
        rf"|artificial intelligence|automated (?:agent|system|assistant)|virtual assistant){_NOT_A_PROFESSION}\b",
        rf"\b{_AI_NAMES} (?:that is |that are |which is |who is |currently )?(?:reading|processing|summari[sz]ing"
        rf"|crawling|indexing"
        r"|analy[sz]ing|parsing|viewing|scraping|ingesting) (?:this|these)\b",
        r"\bas an? (?:ai|llm|(?:large )?language model|ai (?:assistant|model|agent)),? you (?:must|should|will"
        r"|shall|need|have to"
        r"|are (?:required|obliged|instructed))\b",
    ],
    "you are ": [
        # Giving the model another role or task.
        r"\byou are (?:now|from now on|hereby|actually|really)\b,? (?:an? |the |in |called |named )?(?:[\w-]+ ){0,3}?"
        rf"(?:{_JAILBREAK_MODES}|ai|a\.i\.|assistant|chat ?bot|language model|llm|bot without"
        r"|free (?:of|from) (?:all |any |your )?(?:rules|restrictions|constraints|guidelines|limits))\b",
    ],
    " mode": [
        rf"\b(?:enable|enter|activate|switch to|engage|unlock|go into) (?:\w+ )?{_JAILBREAK_MODES} mode\b"
        rf"|\b{_JAILBREAK_MODES} mode (?:enabled|activated|on)\b",
    ],
    "restrict,filter,censor,jailbr,rules,limit,guideline": [
        r"\b(?:act|behave|pretend|respond|answer|role-?play|speak) (?:as (?:if|though) |like |as |that )?"
        r"(?:you (?:have|had|are|were) |an? |the )?(?:\S+ ){0,3}?(?:no (?:rules|restrictions|guidelines|limits"
        r"|filters?)"
        r"|unrestricted|unfiltered|uncensored|jailbroken|without (?:any )?(?:rules|restrictions|filters?|limits"
        r"|guidelines))\b",
    ],
    "from now on": [
        r"\bfrom now on\b,? (?:you (?:will |must |shall )?(?:only |always )?(?:respond|reply|answer|act|output|speak"
        r"|are (?:an? )?(?:ai|assistant|bot))|(?:respond|reply|answer|act as|output|speak) )",
    ],
    "instruction,directive,prompt,orders,your": [
        r"\byour (?:new|real|actual|true|only|sole|updated|revised|secret) (?:and only )?(?:instructions?|task"
        r"|goal|objective"
        r"|directive|purpose|mission|system prompt|orders)(?: now)? (?:is|are|follows?)\b",
        r"\byour (?:new|real|actual|true|updated|revised|secret) (?:instructions?|task|goal|objective|directive"
        r"|orders):",
        r"\b(?:new|updated|revised|hidden|secret|priority|urgent|override) (?:system |admin |developer )?"
        r"(?:instructions?|directives?|prompt|orders)(?: (?:for|to) (?:you|the (?:ai|assistant|model))"
        r"| from (?:the )?(?:user|developer|administrator|system|operator|openai|anthropic|google))?\s*:",
        # Extracting the system prompt.
        rf"{_CLAUSE_START}(?:reveal|print|repeat|show|leak|display|disclose|output|dump|recite|share|tell (?:me|us)"
        rf"|give (?:me|us)"
        r"|write out|return|expose)(?: \S+){0,3}? your (?:\w+ )?(?:system|initial|hidden|original|secret|internal"
        r"|full|entire) ?"
        r"(?:prompt|instructions?|messages?|rules|configuration|guidelines)",
    ],
    "<|,[inst,[/inst,sys>>,turn>,<system,<assistant,<developer,<admin,<instruction,</": [
        # Imitating a chat template or a system message.
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id"
        r"|begin_of_text)\|?>"
        r"|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
        r"(?<!`)</?(?:system|assistant|developer|admin|instructions?|system[-_ ]?(?:prompt|message|instruction"
        r"|override))>(?!`)",
    ],
    "system,developer,admin,root,operator": [
        r"^\W*(?:begin|end|start of|end of)? ?(?:system|developer|admin(?:istrator)?|root"
        r"|operator)[ _-]?(?:override|prompt"
        r"|instructions?|directive|command|message|notice|note|update|alert)\b\s*[\d.]*\s*(?:[:\]>)}=\-–—#*]|$)",
        r"\b(?:this|the following) (?:message|instruction|text|note|notice|prompt|directive|command) (?:is|comes"
        r"|was sent"
        r"|has been (?:sent|approved|authori[sz]ed)) (?:directly )?(?:from|by) (?:your (?:developers?|creators?"
        r"|operators?"
        r"|administrators?)|the (?:system|developers?|administrators?|operators?)\b)",
    ],
    "openai,anthropic,deepmind": [
        r"\b(?:this|the following) (?:message|instruction|text|note|notice|prompt|directive|command) (?:is|comes"
        r"|was sent"
        r"|has been (?:sent|approved|authori[sz]ed)) (?:directly )?(?:from|by) (?:openai|anthropic|google deepmind)",
    ],
    "##": [r"^\W*#{2,}\s*(?:system|instructions?|human|assistant|user)(?: prompt| message)?\s*:?\s*$"],
    "http,url,link,image,webhook,endpoint,query,@": [
        rf"{_CLAUSE_START}(?:send|post|forward|upload|transmit|exfiltrate|leak|append|include|embed|encode|e-?mail"
        rf"|submit|attach|add|put"
        r"|report)(?: \S+){0,6}? (?:conversation|chat (?:history|log)|user'?s? (?:data|query|question|name"
        r"|e-?mail|input|message"
        r"|prompt|documents?|files?)|api[ _-]?keys?|system prompt|passwords?|credentials|secrets?|context window"
        r"|previous messages|environment variables|private (?:data|notes|documents?)|the question|evidence)\b"
        r".{0,60}?(?:https?:|url|link|image|webhook|endpoint|query string|\S@\S)",
        r"!\[[^\]]*\]\(\s*https?://[^)]*(?:\{|\[|<|%7b|\$\()[^)]*\)?",
    ],
    "stop": [
        r"\bstop (?:searching|researching|the (?:search|research))\b.{0,20}?(?:\band|\bthen|,|;) "
        r"(?:answer|reply|respond|write|conclude|say|output|print|report)\b",
    ],
    "sufficient,supported,verified": [
        r"\bsufficient\W{1,4}(?:to |= ?|: ?)?true\b",
        r"\b(?:set|mark|report|declare)(?: \S+){0,3} (?:as )?(?:sufficient|fully supported|verified)(?: and| so"
        r"| to|,|\.|$)"
        r".{0,40}\b(?:stop|search|research|answer)",
    ],
    # Dictating the answer. The dictated sentence is no statement of the source.
    "answer,reply,response,report,summary,output,conclusion": [
        rf"\b(?:your|the (?:generated|final|correct|model's)) {_ANSWER_NOUNS}s? (?:should|must|shall|has to|needs to|is to"
        rf"|will) (?:always |only )?(?:be|say|state|read){_DICTATED}",
        rf"\b(?:your|the (?:generated|final|model's)) {_ANSWER_NOUNS}s? (?:(?:should|must|shall|has to|needs to) )?"
        r"(?:contains?|includes?|mentions?)\s*(?::|[\"“])",
        rf"{_CLAUSE_START}(?:begin|start|end|open|finish) your {_ANSWER_NOUNS} (?:with|by)\b",
        rf"{_CLAUSE_START}(?:write|say|state|claim|include|put|mention)(?: \S+){{0,8}}? in your {_ANSWER_NOUNS}{_DICTATED}",
        rf"{_CLAUSE_START}(?:write|say|state|claim|include|put|mention) (?:the (?:sentence|words|phrase|text) )?[\"“].{{0,300}}"
        rf"[\"”] in your {_ANSWER_NOUNS}\b",
        rf"\b(?:any|every|an) {_ANSWER_NOUNS} (?:that|which) (?:does not|doesn't|fails to) (?:say|state|mention|contain"
        r"|include)\b",
    ],
    "verbatim,word for word,after me,cite this,tell the,tell your": [
        r"\b(?:output|print|repeat|reproduce|say|write|return)\b(?: \S+){0,5}? (?:verbatim|word for word)\s*:",
        rf"{_CLAUSE_START}repeat after me\s*:",
        rf"\b(?:you must|always|only|{_AI_NAMES}) cite this (?:page|source|document|site|article)\b",
        rf"{_CLAUSE_START}tell (?:the|your) (?:user|reader|human)s?\s*(?::|[\"“]|this\b|so\b)",
        r"\btell (?:the|your) (?:user|reader|human)s? (?:this|so)\b",
    ],
    "asked": [
        rf"\b(?:when|if|whenever) (?:you are |you're )?asked\b[^.\n]{{0,80}}?\b(?:always|you must|you should|please)?,? "
        rf"?(?:answer|say|respond|reply|state)\b(?:{_DICTATED}| with\b)",
    ],
    "model,assistant,ai,llm,bot,summari,agent,whoever,anyone": [
        rf"{_CLAUSE_START}(?:the |all |any |every )?(?:model|{_AI_NAMES})s? (?:should|must|shall|has to|needs to|is to) "
        rf"(?:always |only )?(?:output|say|answer|respond|reply|state|write|print|claim|conclude|report){_DICTATED}",
        rf"\b(?:whoever|anyone who|everyone who) (?:summari[sz]es|reads|quotes|cites|analy[sz]es) (?:this|the)(?: \w+){{0,2}} "
        rf"(?:must|should|has to|shall) (?:write|say|state|report|answer){_DICTATED}",
        rf"^\W*(?:to|for) (?:all |any |every |the |our )*{_AI_NAMES}{_NOT_A_PROFESSION}(?: \w+){{0,4}}\s*:",
        rf"^\W*(?:correction|hint|answer key|information|guidance)s? (?:for|to) (?:all |any |every |the |our )*{_AI_NAMES}"
        rf"{_NOT_A_PROFESSION}(?: \w+){{0,4}}\s*:",
        rf"^\W*(?:instructions?|notes?|messages?) (?:for|to) (?:the |your )?(?:readers?|users?)['’]s? {_AI_NAMES}\s*:",
        r"^\W*(?:llms?|ai|chat ?bots?|chatgpt|assistants?) (?:note|notice|memo|hint|correction)\s*:",
        r"\bas (?:an?|the) (?:ai|llm|(?:large )?language model|assistant|chat ?bot)(?: \w+){0,4},? you (?:already )?know "
        r"that\b",
    ],
    "mention,report,state,disregard,ignore,other": [
        r"\b(?:do not|don't|never) (?:mention|report|state) (?:the (?:year|date|number|figure|value) )?\d",
        rf"{_CLAUSE_START}(?:disregard|ignore|forget) (?:the )?(?:year|date|figure|number|value) \d",
        rf"{_CLAUSE_START}(?:ignore|disregard|forget) (?:what|whatever|anything|everything) (?:that )?(?:the )?other "
        r"(?:pages?|sources?|sites?|documents?|articles?|results?) (?:say|state|claim|report|write)\b",
    ],
    "antwort,réponds,répond,responde": [
        r"\bantworte(?:n sie)? (?:immer|stets|nur|ausschließlich) mit\b|\bréponde?[sz]? toujours (?:par|que|avec)\b"
        r"|\bresponde(?:r)? siempre (?:con|que)\b",
    ],
    # Dropping the instructions, in other languages.
    "anweisung,instruktion,vorgabe,regel,befehl,prompt,anleitung": [
        r"\b(?:ignorier\w*|vergiss|vergessen sie|missacht\w*|beachte\w* nicht)\b.{0,40}"
        r"\b(?:anweisung|instruktion|vorgabe|regel|befehl|prompt|anleitung)\w*",
    ],
    "instructions,consignes,directives,règles": [
        r"\b(?:ignore[rz]?|oublie[rz]?|ne (?:tiens|tenez|suis|suivez) (?:pas|plus))\b.{0,40}\b(?:consignes|règles"
        r"|(?:instructions|directives)(?=.{0,30}(?:précédente|antérieure|ci-dessus|système|reçues|données)))",
    ],
    "instrucciones,indicaciones,órdenes,directrices,reglas": [
        r"\b(?:ignor[ae]n?|olvid[ae]n?|desobedece|haz caso omiso|no sigas|desestima)\b.{0,40}"
        r"\b(?:instrucciones|indicaciones|órdenes|directrices|reglas)\b",
    ],
    "istruzioni,direttive,indicazioni,regole": [
        r"\b(?:ignora(?:te)?|dimentica(?:te)?|non seguire)\b.{0,40}\b(?:istruzioni|direttive|indicazioni|regole)\b",
    ],
    "instruções,instrucoes,orientações,diretrizes,ordens": [
        r"\b(?:ignor[ea]m?|esque[çc]am?|desconsiderem?|descarte)\b.{0,40}"
        r"\b(?:instruções|instrucoes|orientações|diretrizes|ordens)\b",
    ],
    "instructies,aanwijzingen,regels,opdrachten": [
        r"\b(?:negeer|vergeet|volg niet)\b.{0,40}\b(?:instructies|aanwijzingen|regels|opdrachten)\b",
    ],
    "instrukcj,polece,wytyczn,zasad": [
        r"\b(?:zignoruj|ignoruj|zapomnij|pomiń)\w*\b.{0,40}\b(?:instrukcj|poleceń|polecenia|wytyczn|zasad)\w*",
    ],
    "instruktion,anvisning,regl": [r"\b(?:ignorera|glöm|strunta i)\b.{0,40}\b(?:instruktion|anvisning|regl)\w*"],
    "instruksi,perintah,petunjuk,aturan": [r"\b(?:abaikan|lupakan)\b.{0,40}\b(?:instruksi|perintah|petunjuk|aturan)\b"],
    "hướng,chỉ,lệnh": [r"(?:bỏ qua|quên|phớt lờ)\b.{0,40}(?:hướng dẫn|chỉ dẫn|chỉ thị|lệnh)"],
    "инструкци,указани,правил,команд,інструкці,вказів": [
        r"(?:игнорир|проигнорир|забуд|не обращай|не следуй|ігнору)\w*.{0,40}(?:инструкци|указани|правил|команд"
        r"|інструкці|вказів)",
    ],
    "talimat,komut,kural,yönerge": [
        r"\b(?:önceki|tüm|yukarıdaki|bütün)\b.{0,30}(?:talimat|komut|kural|yönerge)\w*.{0,20}(?:yok say|unut"
        r"|görmezden|dikkate alma)",
    ],
    "指,说,說,规,規,提示,命令,要求": [
        r"(?:忽略|无视|忘记|忽視|無視|忘記|不要理会|不要遵守).{0,14}(?:指令|指示|说明|說明|规则|規則|提示|命令|要求)",
    ],
    "指示,命令,プロンプト,ルール": [
        r"(?:以前|これまで|上記|前|すべて|全て|全部).{0,10}(?:指示|命令|プロンプト|ルール).{0,8}(?:無視|忘れ|無効|従わ)",
    ],
    "지시,명령,프롬프트,규칙,지침": [
        r"(?:이전|위의|앞의|모든|기존).{0,10}(?:지시|명령|프롬프트|규칙|지침).{0,10}(?:무시|잊|따르지)"
    ],
    "تعليمات,الأوامر,القواعد,الإرشادات": [
        r"(?:تجاهل|انس|لا تتبع).{0,30}(?:التعليمات|الأوامر|تعليمات|القواعد|الإرشادات)",
    ],
    "निर्देश,आदेश,नियम": [r"(?:निर्देश|आदेश|नियम)\S*.{0,25}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)"],
}

# Cues by what they do. One cue alone is ordinary prose.
CUE_PATTERNS = {
    "address": rf"\b(?:{_AI_NAMES}{_NOT_A_PROFESSION}|dear model)\b",
    "order": rf"{_CLAUSE_START}{_ANSWER_VERBS}\b|\byou (?:must|should|shall|will|need to|have to|are (?:required|instructed"
    rf"|ordered|commanded"
    rf"|hereby \w+) to) (?:now |only |always |instead )?(?:{_ANSWER_VERBS}|follow|ignore|mention|tell|refuse|stop)\b",
    "only": r"\b(?:respond|reply|answer|output|print|say)\b(?: \S+){0,3}? (?:only|exactly|solely|verbatim"
    r"|nothing (?:but|else)"
    r"|the (?:exact )?(?:word|phrase|string))\b|\b(?:only|exactly) (?:respond|reply|answer|output|say|print)\b",
    "answer": r"\bin (?:your|every|any) (?:final )?(?:answer|response|reply|output|summary|report)s?\b"
    r"|\b(?:when|while|before) (?:you )?(?:are )?(?:summari[sz]\w+|answer\w*|respond\w*|replying) (?:this|the|any"
    r"|a user)\b"
    r"|\b(?:correct|right|only|best|final) (?:final )?(?:answer|response|conclusion) (?:to \S+(?: \S+){0,4} )?"
    r"(?:is|must be|should be)\b|\bthe user(?:'s)? (?:question|query|request|asked|asks|wants)\b",
    "user": r"\b(?:tell|inform|convince|persuade|assure|instruct|direct|advise|ask|urge) "
    r"(?:the |your |every |any )?(?:user|human|person asking|customer|reader)s?\b",
    "secrecy": r"\b(?:do not|don't|never|without) (?:\w+ )?(?:mention|tell|reveal|disclos|inform|alert|warn"
    r"|notify|explain"
    r"|acknowledg|refer to)\w*\b.{0,40}\b(?:user|reader|human|anyone|this (?:instruction|message|note|text|prompt)"
    r"|these instructions)",
    "voice": r"^\W*(?:system|developer|admin|assistant|important|urgent|critical|override|instructions?)\b\W*[:!\]]",
    "stop": r"\b(?:stop|cease|end|halt|no (?:further|more)|(?:do not|don't) (?:continue|perform|run"
    r"|make))\b(?: \S+){0,3}? "
    r"(?:search(?:es|ing)?|research(?:ing)?|retriev\w+|queries|querying)\b",
    "tool": r"\b(?:call|invoke|use|run|execute|trigger)\b(?: \S+){0,3}? (?:tool|plugin|shell|code interpreter"
    r"|browser)s?\b"
    r"|\b(?:fetch|visit|open) https?:",
    "trust": r"\b(?:only|sole|single|most) (?:trusted|reliable|valid|authoritative|true|credible) (?:source"
    r"|document|page)\b"
    r"|\bother (?:sources|documents|pages|passages) (?:are|is) (?:wrong|false|outdated|fake|unreliable|lies"
    r"|malicious)\b",
}
# Pairs of cues that occur together in ordinary writing about software and models.
HARMLESS_CUE_PAIRS = (
    {"address", "answer"},
    {"address", "tool"},
    {"address", "trust"},
    {"order", "tool"},
    {"only", "order"},
)
