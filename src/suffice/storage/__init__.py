"""What is written to disk: caches, findings of earlier runs, recorded runs, and the JSON form of a report.

sqlite_cache   values by key in one SQLite file, and typed JSON values on top of it
corruption     tells a corrupt file from a file that cannot be used
findings       what earlier runs proved, for later questions
runs           the log, traces and reports of past runs
report_json    a report as JSON and back
"""
