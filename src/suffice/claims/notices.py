"""The notices that suffice puts above an answer.

They say how the answer was made and state nothing about its subject. A claim check of a finished report skips them.
"""

NO_MODEL_NOTICE = "No language model was used: every sentence below is quoted verbatim from the source behind it."
DEGRADED_NOTICE = "Search was limited because searches kept failing; this answer is partial."
INSUFFICIENT_NOTICE = (
    "The search ended on a limit before the evidence was judged sufficient; this answer may be incomplete."
)
SHORT_LIST_NOTICE = "The list is shorter than the task asks for because the sources name no further items."
QUOTED_NOTICE = "No statement of the model's draft was supported by the sources, so the sources are quoted instead."
NOTICES = (NO_MODEL_NOTICE, QUOTED_NOTICE, DEGRADED_NOTICE, INSUFFICIENT_NOTICE, SHORT_LIST_NOTICE)
