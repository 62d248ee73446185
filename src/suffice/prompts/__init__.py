"""Every prompt that a model gets: typed inputs and response here, the wording in the Markdown file of its role.

=================  =====================================================================================
``planning``       what to search for: plan, reflect, next query, rival hypotheses
``outline``        the outline strategy: topics, hypothetical document, cluster label
``agents``         steps of the IRCoT, ReAct and MemGPT agents, and a short answer
``belief``         what is known: extract, curate and compress facts
``judging``        novelty and progress of a round, quality of an answer, support of a claim
``writing``        draft and revise an answer, compute what it needs
``vision``         describe an image
``lab``            notes in free text, the answer and the grade of an experiment
=================  =====================================================================================

``base`` has the ``Prompt`` class and the templates; ``truncate`` cuts a prompt to a token budget. The folders ``writing``,
``criteria`` and ``readers`` hold snippets that are inputs of the drafting and evaluating prompts.
"""
