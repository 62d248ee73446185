"""Files as chunks of text that can be cited exactly: which files there are, and how each type is read.

    .md .rst .txt .log        plain        ``markdown`` or ``rst``, titled by headings; ``transcript`` if most lines are turns
    .adoc .1 … .8 .tex        plain        ``markup``, titled by headings; so are .org .pod .wiki, else read as they are
    .py .js .go .sql …        code         titled by definitions, with the signature in the later parts of a long one
    .yaml .toml .ini .conf …  code         titled by keys
    .html .htm .xhtml         html         readable text without navigation
    .pdf                      pdf          one or more chunks for each page; scanned pages with the extra ``ocr``
    .docx                     docx         titled by headings
    .odt .odp                 opendocument titled by headings; one or more chunks for each slide
    .rtf                      rtf          paragraphs
    .pptx                     pptx         one or more chunks for each slide
    .xlsx .xlsm .xlsb .xls .ods  spreadsheet  one chunk for each row: "column: value"
    .epub                     epub         titled by headings, with the number of the chapter
    .eml .mbox                mail         one or more chunks for each message
    .csv .tsv                 table        each row as ``column: value``
    .ipynb                    notebook     one or more chunks for each cell
    .json                     chat         one chunk for each message; ``code`` if it is not a conversation
    .jsonl .ndjson (.gz)      records      one or more chunks for each record, with the record's own id
    NAME.gz                   the reader of NAME; archives of several files are refused

The text of prose is light Markdown with one line for each line of the source (``prose``).
``walk`` lists files, ``read`` chooses the reader, ``isolated`` calls it in a child process with limits, ``decode`` turns bytes
into text, ``chunk`` defines the result; ``package`` and ``blocks`` are shared by the Office formats.

A reader has ``parse(text, name) -> list[DocumentChunk]``, or ``parse(data, path)`` for a binary format, and raises
``UnreadableFile`` with advice. CONTRIBUTING.md lists the steps to add a file type. A change that reads existing files
differently must also raise ``INDEX_VERSION`` in ``search.corpus.sync``, so that they are indexed again.
"""
