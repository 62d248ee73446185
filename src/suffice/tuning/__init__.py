"""Tune one instruction: propose a change, evaluate it on tasks, and keep it only if it is a real gain.

=============  ============================================================================================
``suite``      the tasks: a JSONL file, split into development and held-out tasks
``scorers``    how good a report is, from 0 to 1
``decide``     the statistics: paired test, futility, noise
``tuner``      the loop: baseline, proposal, evaluation, decision; resumable
``propose``    where changes come from: a language model, or given texts
=============  ============================================================================================
"""
