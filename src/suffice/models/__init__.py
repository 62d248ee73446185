"""Models: the seam (``base``), language models, the extractive model, embeddings, and the choice among them (``choose``)."""
