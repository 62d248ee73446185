"""A parsed HTML page for tests."""

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "wbr"}


class Page(HTMLParser):
    """The tags with attributes and the text of a page. Parsing fails if a tag is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" not in self._open and "style" not in self._open:
            self.text += data

    def all(self, name: str) -> list[str]:
        return [value or "" for _, attrs in self.tags for key, value in attrs.items() if key == name]

    def count(self, tag: str, cls: str = "") -> int:
        return sum(t == tag and cls in (attrs.get("class") or "").split(" ") for t, attrs in self.tags)
