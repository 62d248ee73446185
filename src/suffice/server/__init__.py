"""The HTTP service: what CONTRACT calls ``/run``, ``/jobs`` and the rest, over durable runs."""
