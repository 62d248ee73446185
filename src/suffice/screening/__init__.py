"""Prompt injections in retrieved text: find the lines that give orders to a language model, and remove them.

patterns   the wordings that give such orders
unmask     undoes the ways to hide a wording (invisible letters, look-alikes, encodings)
filter     removes the lines that match; ``search.screened`` applies it to every search result
"""
