"""The documentation site. ``make docs`` writes it to ``build/docs`` without a network; its pages load nothing from outside."""

import re
import shutil
import sys
from pathlib import Path

from suffice import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from generate_reference import write_pages  # noqa: E402

project = "suffice"
author = copyright = "suffice contributors"
version = release = __version__
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["build"]
nitpicky = True
suppress_warnings = ["myst.header"]  # Sections of the measurements are written by scripts.
myst_heading_anchors = 3
myst_links_external_new_tab = False
html_theme = "furo"
html_title = "suffice"
html_static_path = ["_static"]
html_css_files = ["suffice.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
html_extra_path = ["llms.txt"]

_MEASUREMENT = re.compile(r"\]\((?:\.\./)?bench/([\w/]+)\.md(?:#[^)]*)?\)")
_LOCAL = re.compile(r"\[([^\]]*)\]\((\w[\w./]*)\)")
_FILE = re.compile(r"\[([^\]]*)\]\(\.\./((?:deploy|examples|integrations|src|tests|training)[^)]*)\)")


def setup(app):
    """Write the reference and copy the measurements before Sphinx looks for pages."""
    write_pages(HERE / "reference")
    copy_measurements(HERE / "evidence")
    app.connect("source-read", mend_links)


def copy_measurements(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for page in sorted((HERE.parent / "bench").rglob("*.md")):
        shutil.copy(page, folder / "-".join(page.relative_to(HERE.parent / "bench").parts))
    # One entry in the side bar, so that the guides stand out; its pages unfold below it.
    (folder / "index.md").write_text("# Measurements\n\n```{toctree}\n:glob:\n\n*\n```\n", encoding="utf-8")


def mend_links(app, name, source):
    """Turn links to measurements into links to their pages, and those to other files into the names of the files."""
    text = _MEASUREMENT.sub(lambda found: f"](evidence/{found[1].replace('/', '-')}.md)", source[0])
    text = _FILE.sub(r"\1 (`\2`)", text)
    if name.startswith("evidence/"):
        folder = "".join(name.removeprefix("evidence/").rpartition("-")[:2])
        text = _LOCAL.sub(lambda found: _mend_local_link(folder, *found.groups()), text)
    source[0] = text


def _mend_local_link(folder: str, text: str, target: str) -> str:
    """Point a link between measurements at the copied page; of a link to a file only the text is left."""
    return f"[{text}]({folder}{target.replace('/', '-')})" if target.endswith(".md") else text
