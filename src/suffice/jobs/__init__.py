"""Durable runs: a queue, workers, and a journal of every paid call.

    JobRequest ──▶ RunStore (queued) ──▶ Worker ──▶ RunExecutor: the pipeline over journaled calls ──▶ events, report

A run is one workflow, and each model call, search and page read is one step of it. If a process crashes, another worker
resumes the run: finished steps come from the journal, the others are made. The pipeline itself is not aware of this.
"""
