"""Durable runs: a queue, workers, and a journal of every call that was paid for.

    order ──▶ store (queued) ──▶ worker ──▶ pipeline.stream over durable seams ──▶ events, report ──▶ store

A run is one workflow; each model call, search and page read is one step of it. Whoever picks the run up after a crash gets
the finished steps from the journal and goes on. The loop knows nothing of all this.
"""
