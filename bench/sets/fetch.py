#!/usr/bin/env python3
"""fetch.py FOLDER [NAME ...] [--list FILE]

Downloads the documentation named in corpora.json, or in another such FILE (pinned
versions, by package name, through pip, apt-get and npm), and unpacks the documents
into FOLDER/NAME.
Only text is kept: no images, themes or code. Manual pages become plain text
(one .txt each); reStructuredText fragments X.rst.inc become X.inc.rst.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run(command, cwd, env=None):
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.returncode, done.stdout


def by_pip(c, work):
    """The sdist's folder. Only this package is taken as source: build
    requirements may come as wheels."""
    rc, out = run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            c["package"],
            f"{c['package']}=={c['version']}",
        ],
        work,
        c.get("env"),
    )
    found = list(work.glob("*.tar.gz"))
    if rc or not found:
        sys.exit(f"{c['name']}: pip could not fetch it\n{out[-2000:]}")
    with tarfile.open(found[0]) as t:
        t.extractall(work / "x", filter="data") if hasattr(tarfile, "data_filter") else t.extractall(work / "x")
    return next((work / "x").iterdir())


def by_apt(c, work):
    """The Debian package's tree; where the pinned version has been replaced by
    a later update, that one, with a word about it."""
    rc, out = run(["apt-get", "download", f"{c['package']}={c['version']}"], work)
    if rc:
        print(f"{c['name']}: {c['version']} is gone, taking the present one", file=sys.stderr)
        rc, out = run(["apt-get", "download", c["package"]], work)
    found = list(work.glob("*.deb"))
    if rc or not found:
        sys.exit(f"{c['name']}: apt-get could not fetch it\n{out[-2000:]}")
    rc, out = run(["dpkg", "-x", str(found[0]), str(work / "x")], work)
    if rc:
        sys.exit(out)
    return work / "x"


def by_npm(c, work):
    """The npm package's folder."""
    rc, out = run(["npm", "pack", "--silent", f"{c['package']}@{c['version']}"], work)
    found = list(work.glob("*.tgz"))
    if rc or not found:
        sys.exit(f"{c['name']}: npm could not fetch it\n{out[-2000:]}")
    with tarfile.open(found[0]) as t:
        t.extractall(work / "x", filter="data") if hasattr(tarfile, "data_filter") else t.extractall(work / "x")
    return work / "x" / "package"


WAYS = {"pip": by_pip, "apt": by_apt, "npm": by_npm}

ESC = [
    (r"\\f\[?[A-Z]{1,2}\]|\\f[A-Z1-4]", ""),
    (r"\\\*\(?[A-Za-z]{1,2}", ""),
    (r"\\&", ""),
    (r"\\-", "-"),
    (r"\\\(aq|\\\[aq\]", "'"),
    (r"\\\(cq|\\\(oq", "'"),
    (r"\\\(dq|\\\(lq|\\\(rq", '"'),
    (r"\\\(bu|\\\[bu\]", "o"),
    (r"\\\(em", "--"),
    (r"\\\(en", "-"),
    (r"\\ ", " "),
    (r"\\e", r"\\"),
    (r"\\`", "`"),
    (r"\\'", "'"),
]


def plain(line):
    for pattern, to in ESC:
        line = re.sub(pattern, to, line)
    return line


def man_to_text(text):
    """The man macros that rsync's, chrony's and smartmontools' pages use (few)."""
    if "Generator: Asciidoctor" in text:
        text = re.sub(r"(?ms)^(\.TH [^\n]*\n).*?^(?=\.SH)", r"\1", text)  # its own macros
        text = re.sub(r"(?ms)^\.ie n \\\{\\\n\\h'-\d+' ?(\S+?)\\h.*?^\.el .*?^\.\\\}\n", r"\1 ", text)  # list items
        text = re.sub(r'(?m)^\.URL "(.*?)" "(.*?)" "(.*?)"', lambda m: (m[2] or m[1]) + m[3], text)
        text = (
            text.replace("\\f(CR", "\\fR").replace("\\(rs", "\\e").replace(" \\c\n", "\n").replace("\\fP]", "\\fP\\&]")
        )
    if "borrowed from pages generated with Pod::Man" in text:  # smartmontools'
        text = re.sub(r"(?ms)^\.(?:ig|de)\b.*?^\.\.\n", "", text)
        text = re.sub(r"(?m) *\\\"#?[^\n]*$", "", re.sub(r"(?m)^\.(?:\\\"|ie|el|if)[^\n]*\n", "", text))
        text = (
            text.replace("\\*(Aq", "\\(aq")
            .replace("\n.Sp", "\n.sp")
            .replace("\n.Vb", "\n.nf")
            .replace("\n.Ve", "\n.fi")
        )
    out, para, depth, nofill = [], [], 0, False

    def flush():
        if para:
            out.append("    " * (depth + 1) + " ".join(para))
            para.clear()

    for raw in text.splitlines():
        if raw.startswith('.\\"') or raw.startswith("'\\\""):
            continue
        m = re.match(r"[.'](\w+)\s*(.*)", raw)
        if not m:
            if nofill:
                out.append("    " * (depth + 1) + plain(raw))
            elif raw.strip():
                para.append(plain(raw.strip()))
            else:
                flush()
            continue
        macro, rest = m.groups()
        args = [plain(a or b) for a, b in re.findall(r'"((?:[^"]|"")*)"|(\S+)', rest)]
        if macro == "TH":
            out.append(" ".join(args[:2]).upper() if args else "")
        elif macro in ("SH", "SS"):
            flush()
            out += ["", ("" if macro == "SH" else "  ") + " ".join(args), ""]
            depth = 0
        elif macro in ("P", "PP", "LP", "sp", "br"):
            flush()
            if out and out[-1] and macro != "br":
                out.append("")
        elif macro in ("IP", "TP"):
            flush()
            if out and out[-1]:
                out.append("")
            if args:
                if args[0] in ("o", "*"):
                    para.append("o ")
                else:
                    out.append("    " * depth + args[0])
        elif macro == "RS":
            flush()
            depth += 1
        elif macro == "RE":
            flush()
            depth = max(0, depth - 1)
        elif macro == "nf":
            flush()
            nofill = True
        elif macro == "fi":
            nofill = False
        elif macro in ("B", "I", "BR", "BI", "IR", "R"):
            para.append(" ".join(args))
    flush()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", type=Path, default=HERE / "corpora.json", metavar="FILE")
    given = parser.parse_args()
    folder, names = given.folder.resolve(), set(given.names)
    for c in json.loads(given.list.read_text()):
        if names and c["name"] not in names:
            continue
        to, count = folder / c["name"], 0
        with tempfile.TemporaryDirectory() as tmp:
            work = Path(tmp)
            work.chmod(0o755)
            top = WAYS[c["by"]](c, work) / c["folder"]
            for f in sorted(top.rglob("*")):
                rel = f.relative_to(top).as_posix()
                if f.is_symlink() or not f.is_file() or not rel.endswith(tuple(c["keep"])):
                    continue
                if any(
                    rel == d or (d.endswith("/") and rel.startswith(d)) or (d.startswith("-") and rel.endswith(d))
                    for d in c["drop"]
                ):
                    continue
                data = f.read_bytes()
                if rel.endswith(".gz"):
                    data, rel = gzip.decompress(data), rel[:-3]
                if c["by"] == "apt":
                    rel = rel.rsplit("/", 1)[-1]
                    if re.search(r"\.[1-8]$", rel):
                        data, rel = man_to_text(data.decode()).encode(), rel + ".txt"
                    elif "." not in rel:
                        rel += ".txt"
                if rel.endswith(".rst.inc"):
                    rel = rel[: -len(".rst.inc")] + ".inc.rst"
                target = to / rel
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                count += 1
        print(f"{c['name']}: {c['package']} {c['version']}, {count} documents")


if __name__ == "__main__":
    main()
