"""Read whole web pages.

guard     which URLs and addresses may be fetched (protection against server-side request forgery)
fetch     fetch a page: robots.txt, redirects, size limits
extract   the readable text of a fetched page
reader    choose which of the pages that a round found to read
"""
