"""The reader: a small model of our own that judges claims and finds answers, offline."""
