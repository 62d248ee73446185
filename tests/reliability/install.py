"""Install the package into empty environments, with the pip that Python ships and with the newest, and use it.

The commands of the README and of the first page of the documentation are run there, and the command that a hint names for a
missing extra.

    python -m reliability.install [--old-only] [PACKAGE …]

Without a wheel or source archive, a wheel is built.

It needs the package index, so it is not part of ``.ci/run``. Old versions of pip do not know every spelling of an extra, so a
dependency can be missing there although the newest pip installs it.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from test_docs import NEEDS, list_commands

ROOT = Path(__file__).parents[2]
# Commands that need the extra ``service``; without it they must name it.
SERVICE_COMMANDS = (["serve"], ["worker"], ["keys", "list"], ["mcp", "--docs", "."])


# ``worker`` asks for a database first.
ENVIRONMENT = {**os.environ, "SUFFICE_DATABASE_URL": "postgresql://127.0.0.1:9/none"}


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=600, env=ENVIRONMENT
    )


def check_environment(folder: Path, package: Path, *, upgrade: bool) -> list[str]:
    """Install a package into a new environment and return what is wrong with it."""
    environment = folder / f"{package.name}-{'new' if upgrade else 'old'}"
    run(sys.executable, "-m", "venv", environment, cwd=folder)
    python = environment / "bin" / "python"
    if upgrade:
        run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip", cwd=folder)
    version = run(python, "-m", "pip", "--version", cwd=folder).stdout.split()[1]
    installed = run(python, "-m", "pip", "install", "--quiet", package, cwd=folder)
    if installed.returncode:
        return [f"pip {version}: {installed.stderr.strip()[-300:]}"]
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "tea.html").write_text("<h1>Tea</h1><p>Tea has been grown in Assam since 1837.</p>", encoding="utf-8")
    wrong = []
    suffice = (python, "-m", "suffice")
    asked = run(*suffice, "ask", "Since when has tea been grown in Assam?", "--docs", docs, "--quiet", cwd=folder)
    if asked.returncode or "1837" not in asked.stdout:
        wrong.append(f"pip {version}: ask ended with {asked.returncode}: {asked.stderr[-300:]}")
    if run(python, "-c", "import trafilatura, lxml_html_clean", cwd=folder).returncode:
        wrong.append(f"pip {version}: lxml_html_clean is missing")
    for command in SERVICE_COMMANDS:
        result = run(*suffice, *command, cwd=folder)
        if result.returncode != 2 or "suffice[service]" not in result.stderr or "Traceback" in result.stderr:
            wrong.append(f"pip {version}: {' '.join(command)} ended with {result.returncode}: {result.stderr[-200:]}")
    if upgrade:
        wrong += check_documents(python, folder)
        hint = shlex.split(run(*suffice, "resume", cwd=folder).stderr.partition("run: ")[2])
        run(python, "-m", *hint, "--quiet", cwd=folder)
        if (shown := run(*suffice, "resume", cwd=folder)).returncode:
            wrong.append(f"{' '.join(hint)} did not bring what the hint says: {shown.stderr[-200:]}")
    print(f"{package.name}, pip {version}: {'ok' if not wrong else 'failed'}", flush=True)
    return wrong


def check_documents(python: Path, folder: Path) -> list[str]:
    """Run what the README and the first page name, beside the files of a clone, and return the commands that failed."""
    clone = folder / "clone"
    clone.mkdir(exist_ok=True)
    for name in ("docs", "examples", "src"):
        (clone / name).symlink_to(ROOT / name)
    wrong = []
    for page in ("docs/start.md", "README.md"):
        for words in list_commands(ROOT / page):
            if any(need in " ".join(words) for need in NEEDS):
                continue
            found = (
                next(clone.glob(word)) if "*" in word else word for word in words
            )  # One file of many: it is quicker.
            done = run(python, "-m", "suffice", *found, cwd=clone)
            if done.returncode not in (0, 1) or "Traceback" in done.stderr:
                wrong.append(f"{page}: {' '.join(words)} ended with {done.returncode}: {done.stderr[-200:]}")
    return wrong


def build_wheel(folder: Path) -> Path:
    run(sys.executable, "-m", "venv", folder / "build", cwd=folder)
    built = run(folder / "build/bin/python", "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    wheel = next(folder.glob("*.whl"), None)
    return wheel or sys.exit(built.stderr)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--old-only", action="store_true", help="only the pip that this Python ships")
    parser.add_argument("packages", nargs="*", type=Path, metavar="PACKAGE", help="a wheel or source archive")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages = [package.resolve() for package in arguments.packages] or [build_wheel(folder)]
        kinds = (False,) if arguments.old_only else (False, True)
        wrong = [
            line
            for package in packages
            for upgrade in kinds
            for line in check_environment(folder, package, upgrade=upgrade)
        ]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
