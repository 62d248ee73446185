#!/usr/bin/env python3
"""check.py FOLDER ...: the rows of the sets against the documents fetched into FOLDER (or several)."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent


def fold(s):
    return re.sub(r"\s+", " ", s).lower()


def plain(s):
    """White space, case and the marks of headings and code folded away."""
    return fold(re.sub(r"[`*]", "", s))


def main():
    roots, bad = [Path(a) for a in sys.argv[1:]], []
    text = {}
    for c in json.loads((HERE / "corpora.json").read_text()):
        text[c["name"]] = {
            str(p.relative_to(root / c["name"])): p.read_text(errors="replace")
            for root in roots
            for p in (root / c["name"]).rglob("*")
            if p.is_file()
        }
        if not text[c["name"]]:
            bad.append(f"no documents for {c['name']}")
    rows = {
        n: [json.loads(x) for x in (HERE / f"{n}.jsonl").read_text().splitlines()]
        for n in sorted(path.stem for path in HERE.glob("*.jsonl") if path.stem != "behaviour")
    }
    for r in [r for n, rs in rows.items() if n.startswith("documentation") for r in rs]:
        files = text[r["corpus"]]
        if r["kind"] == "absent":
            for t in r["checked_terms"]:
                bad += [f"{r['id']}: {t} occurs in {f}" for f, x in files.items() if fold(t) in fold(x)]
            continue
        home = files[r["where"]["file"]]
        if fold(r["where"]["sentence"]) not in fold(home):
            bad.append(f"{r['id']}: sentence not found")
        if not any(all(fold(s) in fold(home) for s in a) for a in r["answer"]):
            bad.append(f"{r['id']}: no alternative in the named file")
        for a in r["answer"]:
            if not any(all(fold(s) in plain(x) for s in a) for x in files.values()):
                bad.append(f"{r['id']}: {a} in no file without markup")
    for r in rows["broad_topics"]:
        if not 4 <= len(r["sections"]) <= 30:
            bad.append(f"{r['id']}: {len(r['sections'])} sections")
        for s in r["sections"] + r["partly"]:
            lines = [plain(x.lstrip("# ")).strip() for x in text[r["corpus"]][s["file"]].splitlines()]
            if plain(s["heading"]).strip() not in lines:
                bad.append(f"{r['id']}: heading {s}")
    for n, rs in rows.items():
        if len({r["id"] for r in rs}) != len(rs):
            bad.append(f"{n}: ids twice")
        print(
            n,
            len(rs),
            dict(Counter(r.get("kind", "topic") for r in rs)),
            dict(Counter(r["corpus"] for r in rs if "corpus" in r)),
        )
    print("\n".join(bad) or "all well")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
