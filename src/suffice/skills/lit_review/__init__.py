"""``/lit-review``: a literature review in seven stages, extractive or with a language model as reader.

    collect → enrich → curate → annotate → cluster → summarize → synthesize

Papers are the documents of the run (PDF, text, entries of BibTeX files) or the results of a scholarly search. Every sentence
of the review is quoted from a paper and checked like any claim. A language model marks the papers, as five readers, and writes
the synthesis above the review.
"""
