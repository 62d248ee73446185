"""Search in corpora that a database or a search engine holds, named by an address instead of a path.

address    which texts are addresses, and how they are written without their secrets
postgres   ``postgres://``: connections, tables and binary formats of a collection in Postgres with pgvector
ingest     ``suffice index --to postgres://…``: brings a collection in step with files, with several workers at once
hybrid     ``PostgresSearch``: candidates by words and by vectors, ranked as in the local index
elastic    ``elasticsearch://`` and ``opensearch://``: indexes that exist already, through their HTTP API
"""
