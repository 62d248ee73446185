"""Skills: ways of working that a question asks for with a leading slash, such as ``/deep`` or ``/timeline``.

=============  ==========================================================================================
``skill``      what a skill is, and how its ``SKILL.md`` is read
``load``       the skills at hand: built in, of installed packages, of the user, of the project
``activate``   the skills of one question: named by it, or activated by its words
``hooks``      the Python part of a skill, and where in a run it acts
``library/``   the built-in skills, one folder each; those that need code have a module here
=============  ==========================================================================================

A skill follows the open Agent Skills layout: a folder with a ``SKILL.md``, whose head has ``name`` and ``description`` and
whose body is an instruction. What only suffice understands stands under ``metadata``.
"""
