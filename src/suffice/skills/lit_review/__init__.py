"""``/lit-review``: a literature review in seven stages, extractive or with a language model as reader.

    collect → enrich → curate → annotate → cluster → summarize → synthesize

Papers are the documents of the run (PDF, text, entries of BibTeX files) or the results of a scholarly search. Every sentence
of the review is quoted from a paper and checked like any claim. A language model only marks the papers, as five readers; its
marks are stored, so that a stopped review continues without asking again.
"""
