"""Take the pictures of the documentation: ``make screenshots``.

The service, the command line and a real browser run on this machine, over the folder docs/ and the examples. Four pictures
belong to the documentation. With a folder as argument every view is taken, wide and narrow, light and dark, to look at
before a release; the documentation must have been built (``make docs``).
"""

import io
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
EXAMPLES = "examples/documents"
NARROW_QUESTION = "How many connections does a process hold to Postgres?"
BROAD_QUESTION = "How can we reduce heat losses, use LED lighting and pay for a heat pump?"
CONTRACT_QUESTION = "By how much may the hosting fee be raised?"
WIDE, TALL, NARROW = (1280, 860), (1280, 1120), (390, 800)
TIMEOUT_MS = 120_000
FRAME = "<body style='margin:0;padding:20px;background:{paper};color:{ink};width:fit-content'>{body}</body>"


def main(folder: Path | None) -> None:
    """Take the pictures of the documentation, or those of every view into the folder."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("The pictures need chromium in the PATH.")
    with tempfile.TemporaryDirectory() as own, sync_playwright() as play:
        environment = {**os.environ, "SUFFICE_DATA_DIR": f"{own}/data", "SUFFICE_CACHE_DIR": f"{own}/cache"}
        reports = Path(own)
        for more in (["--no-keep"], []):  # The first run also makes the index.
            ask_for_report(environment, NARROW_QUESTION, "docs/", reports / "narrow.html", *more)
            ask_for_report(environment, BROAD_QUESTION, EXAMPLES, reports / "broad.html", *more)
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        with run_service(environment) as address:
            if folder is None:
                take_for_documentation(browser, environment, reports, address)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                take_all(browser, environment, reports, address, folder)
        browser.close()


def take_for_documentation(browser: Browser, environment: dict[str, str], reports: Path, address: str) -> None:
    """Write the pictures that README.md and the pages show."""
    with open_page(browser, TALL, "light") as page:
        page.goto((reports / "broad.html").as_uri())
        page.screenshot(path=ROOT / "docs/report.png")
    with open_page(browser, WIDE, "light") as page:
        show_reason(page, reports / "narrow.html")
        page.screenshot(path=ROOT / "docs/stop.png", full_page=True)
    with open_page(browser, WIDE, "light") as page:
        show_citation(page, address)
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=ROOT / "docs/page.png")
    take_terminal(browser, environment, ROOT / "docs/terminal.png", "light", 100)


def take_all(browser: Browser, environment: dict[str, str], reports: Path, address: str, folder: Path) -> None:
    """Write a picture of every view: wide and narrow, light and dark."""
    site = ROOT / "build/docs/index.html"
    for shape, size in (("wide", WIDE), ("narrow", NARROW)):
        for scheme in ("light", "dark"):
            views: dict[str, Callable[[Page], None]] = {
                "page-ask": lambda page: show_start(page, address),
                "page-settings": lambda page: show_settings(page, address),
                "page-answer": lambda page: ask(page, address),
                "page-citation": lambda page: show_citation(page, address),
                "page-stop": lambda page: show_stop(page, address),
                "page-history": lambda page: show_history(page, address),
                "page-reference": lambda page: show_reference(page, address),
                "report-broad": lambda page: page.goto((reports / "broad.html").as_uri()) and None,
                "report-narrow": lambda page: show_reason(page, reports / "narrow.html"),
                "docs": lambda page: page.goto(site.as_uri()) and None,
                "docs-guide": lambda page: page.goto(site.with_name("usage.html").as_uri()) and None,
            }
            for name, show in views.items():
                with open_page(browser, size, scheme) as page:
                    show(page)
                    page.screenshot(path=folder / f"{name}-{shape}-{scheme}.png", full_page=name != "docs-guide")
            take_terminal(
                browser, environment, folder / f"terminal-{shape}-{scheme}.png", scheme, 100 if size is WIDE else 48
            )


def ask(page: Page, address: str) -> None:
    """Ask on the page and wait for the report."""
    show_start(page, address)
    page.fill("#question", BROAD_QUESTION)
    page.click("text=Find out")
    page.locator("#report #answer").wait_for()
    page.locator("#after").wait_for()


def show_citation(page: Page, address: str) -> None:
    """Open the source of the first citation."""
    ask(page, address)
    page.locator("#report a.cite").first.click()
    page.wait_for_timeout(500)


def show_stop(page: Page, address: str) -> None:
    """Unfold why the search stopped, and try another rule."""
    ask(page, address)
    page.locator("#why > summary").click()
    page.locator("#whatif > summary").click()
    page.select_option("#gate", index=1)
    page.wait_for_timeout(1500)


def show_reason(page: Page, report: Path) -> None:
    """Open a report and unfold why its search stopped."""
    page.goto(report.as_uri())
    page.locator("#why > summary").click()
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")


def show_reference(page: Page, address: str) -> None:
    """Open the reference of the HTTP interface."""
    page.goto(f"{address}docs")
    page.locator("#routes table").first.wait_for()


def show_history(page: Page, address: str) -> None:
    """List the earlier runs."""
    page.goto(f"{address}#/runs")
    page.locator("#runs li").first.wait_for()


def show_start(page: Page, address: str) -> None:
    """Open the page and wait for the collections."""
    page.goto(address)
    page.locator("#where label").first.wait_for()


def show_settings(page: Page, address: str) -> None:
    """Open the settings."""
    show_start(page, address)
    page.click("#settings-button")


def take_terminal(browser: Browser, environment: dict[str, str], path: Path, scheme: str, columns: int) -> None:
    """Take a picture of an answer as a terminal of this width shows it."""
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI

    command = ["ask", CONTRACT_QUESTION, "--docs", f"{EXAMPLES}/contracts"]
    shown = run_command({**environment, "COLUMNS": str(columns)}, *command, in_terminal=True)
    console = Console(record=True, width=columns, file=io.StringIO())
    console.print(Text(f'$ suffice ask "{CONTRACT_QUESTION}" --docs {EXAMPLES}/contracts\n', "bold"))
    console.print(Text.from_ansi(shown))
    theme = DEFAULT_TERMINAL_THEME if scheme == "light" else MONOKAI
    html = console.export_html(theme=theme, inline_styles=True)
    paper, ink = ("#fcfcfa", "#1b1f23") if scheme == "light" else ("#16181a", "#e8e8e6")
    with open_page(browser, (columns * 10, 100), scheme) as page:
        page.set_content(FRAME.format(paper=paper, ink=ink, body=html[html.index("<pre") : html.index("</pre>") + 6]))
        page.locator("body").screenshot(path=path)


@contextmanager
def open_page(browser: Browser, size: tuple[int, int], scheme: str) -> Iterator[Page]:
    """Open a page of this size in a light or dark browser."""
    viewport = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    context.set_default_timeout(TIMEOUT_MS)
    yield context.new_page()
    context.close()


def ask_for_report(environment: dict[str, str], question: str, docs: str, path: Path, *more: str) -> None:
    """Write the HTML report of a question."""
    run_command(environment, "ask", question, "--docs", docs, "--out", str(path), "--quiet", *more)


def run_command(environment: dict[str, str], *words: str, in_terminal: bool = False) -> str:
    """Run suffice in the root of the repository; return what it prints, in colours if it prints to a terminal."""
    command = [sys.executable, "-m", "suffice", *words]
    if not in_terminal:
        return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True).stdout
    reader, terminal = pty.openpty()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=terminal, stderr=subprocess.DEVNULL)
    os.close(terminal)
    printed = b""
    try:
        while piece := os.read(reader, 65536):
            printed += piece
    except OSError:  # Linux ends a terminal that nobody writes to with an error.
        pass
    process.wait()
    return printed.decode("utf-8", "replace").replace("\r\n", "\n")


@contextmanager
def run_service(environment: dict[str, str]) -> Iterator[str]:
    """Run the service over the examples on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "suffice", "serve", "--docs", f"examples={EXAMPLES}", "--port", str(port)]
    service = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{address}healthz", timeout=5):
                    break
            except OSError:
                time.sleep(0.2)
        yield address
    finally:
        service.terminate()
        service.wait(30)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None)
