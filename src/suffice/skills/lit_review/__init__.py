"""``/lit-review``: a literature review of papers, which a strong model writes, else from quotations.

    collect → enrich → select → read → synthesize

Papers are the documents of the run (PDF, text, entries of BibTeX files) or the results of a scholarly search. Every sentence
of the review is quoted from a paper and checked like any claim. A small language model writes the synthesis above the review.
"""
