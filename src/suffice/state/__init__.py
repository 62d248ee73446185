"""The state of one run: question, evidence, memory, searches and budget, and what traces show of it."""
