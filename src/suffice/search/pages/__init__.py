"""Reading web pages: what may be visited, how it is fetched, and the text that is in it."""
