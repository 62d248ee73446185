"""The command line: one file for each command, ``app`` for the program, ``terminal`` for what a person sees."""
