"""Search in files.

search     ``CorpusSearch``: ranks passages by words (BM25) and by meaning (embeddings)
ranking    words, meaning and titles in one score, without near-duplicates
index      the word index over passages (tantivy)
sync       keeps the index in step with the files: reads only what was added, changed or deleted
vectors    the cache of embeddings, in memory and on disk
"""
