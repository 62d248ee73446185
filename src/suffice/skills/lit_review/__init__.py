"""``/lit-review``: a literature review of papers, which a strong model writes, else from quotations.

    collect → enrich → select → read → join

Papers are the documents of the run (PDF, text, entries of BibTeX files) or the results of a scholarly search. Every sentence
of a review from quotations is checked like any claim.
"""
