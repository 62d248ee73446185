"""Search in files: ``CorpusSearch`` over a word index and embeddings, which are kept in step with the files."""
