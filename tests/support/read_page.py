"""A page as a test reads it."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "hr", "wbr", "line", "circle", "rect"}


class Read(HTMLParser):
    """What a browser would see: elements, their attributes and words; complains of elements that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.scripts: dict[str, str] = {}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.place = dict(attrs).get("id") or "code"

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[self.place] = self.scripts.get(self.place, "") + data
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    def ids(self) -> list[str]:
        return [value for _, name, value in self.attributes if name == "id"]
