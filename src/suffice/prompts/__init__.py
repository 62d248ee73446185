"""Every prompt that a model gets: typed inputs and response here, the wording in the Markdown file of its role.

``base`` has the ``Prompt`` class and the templates; ``truncate`` cuts a prompt to a token budget. The folders ``writing``,
``criteria`` and ``readers`` hold snippets that are inputs of the drafting and evaluating prompts.
"""
