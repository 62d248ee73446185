"""Which reader a file's name asks for, and which names hold nothing to read."""

from pathlib import PurePath
from typing import Literal

FileFormat = Literal[
    "plain", "code", "html", "pdf", "docx", "table", "notebook", "json", "records", "binary", "foreign"
]


def _parse_suffixes(names: str) -> frozenset[str]:
    return frozenset("." + name for name in names.split())


MARKDOWN = _parse_suffixes("md markdown mdx mkd qmd rmd")
PYTHON = _parse_suffixes("py pyi pyw")
CODE = PYTHON | _parse_suffixes(
    """js mjs cjs jsx ts mts cts tsx java c h cc cpp cxx hh hpp hxx m mm go rs rb php cs swift kt kts scala groovy sh
    bash zsh fish ps1 sql lua r jl pl pm hs ml mli ex exs erl clj cljs el lisp dart zig nim v sv vhd f90 f95 pas d vue
    svelte proto graphql tf cu css scss less"""
)
BINARY = _parse_suffixes(
    """png jpg jpeg gif bmp tif tiff webp ico icns heic avif psd ai eps raw svgz mp3 wav flac ogg m4a aac mp4 m4v mkv
    mov avi webm wmv zip gz bz2 xz zst 7z rar tar tgz tbz2 txz jar war whl egg apk ipa deb rpm dmg iso img so dylib dll
    a o obj lib exe bin class pyc pyo pyd wasm node ttf otf woff woff2 eot db sqlite sqlite3 mdb parquet arrow feather
    orc avro npy npz pkl pickle joblib pt pth onnx safetensors gguf h5 hdf5 mat rds rdata tflite pb swp ds_store
    keystore p12 pfx der mo gmo"""
)
UNSUPPORTED = {
    ".doc": "save it as .docx or PDF",
    ".rtf": "save it as .docx or PDF",
    ".odt": "save it as .docx or PDF",
    ".pages": "save it as .docx or PDF",
    ".ppt": "export it as PDF",
    ".pptx": "export it as PDF",
    ".odp": "export it as PDF",
    ".key": "export it as PDF",
    ".xls": "export it as CSV",
    ".xlsx": "export it as CSV",
    ".ods": "export it as CSV",
    ".epub": "convert it to HTML or PDF",
    ".mobi": "convert it to HTML or PDF",
}

_FORMATS: dict[str, FileFormat] = {
    **dict.fromkeys(MARKDOWN | _parse_suffixes("txt text rst log"), "plain"),
    **dict.fromkeys(CODE, "code"),
    **dict.fromkeys(_parse_suffixes("html htm xhtml"), "html"),
    **dict.fromkeys(_parse_suffixes("csv tsv"), "table"),
    **dict.fromkeys(_parse_suffixes("jsonl ndjson"), "records"),
    **dict.fromkeys(BINARY, "binary"),
    **dict.fromkeys(UNSUPPORTED, "foreign"),
    ".pdf": "pdf",
    ".docx": "docx",
    ".ipynb": "notebook",
    ".json": "json",
}


def get_suffix(name: str) -> str:
    return PurePath(name).suffix.lower()


def guess_format(name: str) -> FileFormat | None:
    """The family that the name's suffix stands for; ``None`` if it stands for nothing known."""
    lowered = name.lower()
    if lowered.endswith((".jsonl.gz", ".ndjson.gz")):
        return "records"
    return _FORMATS.get(get_suffix(lowered))
