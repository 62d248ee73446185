"""Searches: from a query to passages, best first.

open          open the search that a user described
base          the ``Search`` and ``Reader`` protocols
corpus/       search in files: a word index, embeddings, and their updates
engines/      search in Postgres with pgvector, Elasticsearch and OpenSearch
files/        read files of many formats as chunks
web/          web search services
pages/        fetch and read whole web pages
fusion        several searches merged into one ranking
resilience    retries, rate limits, circuit breakers and fallbacks
threads       work in a thread that can be cancelled
screened      prompt injections removed from what a search returns
urls          canonical URLs
"""
