"""A headless Chromium for the tests, driven over its DevTools pipe: nothing to install but the browser itself."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    "--remote-debugging-pipe",
]
PATIENCE = 120.0  # seconds for one answer, on a machine that is busy with other things


def find_browser() -> str | None:
    """The first of NAMES that is installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page. complaints: what it wrote to the console as errors or warnings, and exceptions that nobody caught."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser, self.session = browser, session
        self.complaints: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of the DevTools protocol on this page."""
        return self.browser.send(method, self, **parameters)

    def open(self, url: str, *, width: int = 1280, height: int = 900, dark: bool = False, script: bool = True) -> None:
        """Goes to a page and waits until it is loaded."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Emulation.setScriptExecutionDisabled", value=not script)
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=url)
        self.until("location.href !== 'about:blank' && document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of a piece of JavaScript, waited for when it is a promise."""
        said = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def until(self, script: str) -> None:
        """Waits until a piece of JavaScript is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(script):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.05)

    def press(self, key: str, code: int = 0) -> None:
        """Presses a key, such as "Tab" or "ArrowRight"."""
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """A screenshot of the window, or of the whole page."""
        said = self.send("Page.captureScreenshot", captureBeyondViewport=whole, fromSurface=True)
        path.write_bytes(base64.b64decode(said["data"]))

    def paper(self, path: Path) -> None:
        """The page as it is printed, as PDF."""
        path.write_bytes(base64.b64decode(self.send("Page.printToPDF", printBackground=False)["data"]))


class Browser:
    """A running browser; `Browser.launch` starts and ends it."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._write, self._read = to_browser, from_browser
        self._buffer = b""
        self._numbers = itertools.count(1)
        self._pages: dict[str, Page] = {}

    @staticmethod
    @contextmanager
    def launch(program: str, profile: Path) -> Iterator[Browser]:
        """A browser with a profile of its own."""
        reading, to_browser = os.pipe()
        from_browser, writing = os.pipe()
        # It reads from 3 and writes to 4: its ends must not be these numbers before they become them.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (reading, writing)]
        command = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}'
        words = ["bash", "-c", command, "bash", program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(words, pass_fds=ends, stderr=subprocess.DEVNULL)
        for end in (reading, writing, *ends):
            os.close(end)
        browser = Browser(to_browser, from_browser)
        try:
            yield browser
        finally:
            os.close(to_browser)  # the browser ends when its pipe does
            os.close(from_browser)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def page(self) -> Page:
        """A new page."""
        target = self.send("Target.createTarget", None, url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", None, targetId=target, flatten=True)["sessionId"]
        self._pages[session] = page = Page(self, session)
        return page

    def send(self, method: str, page: Page | None, **parameters: Any) -> dict[str, Any]:
        """Calls a method and waits for its answer; takes in what the pages say meanwhile."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if page is not None:
            message["sessionId"] = page.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])
            self._take(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], PATIENCE)
            data = os.read(self._read, 1 << 16) if ready else b""
            assert data, "the browser does not answer"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(line))

    def _take(self, event: dict[str, Any]) -> None:
        page, said = self._pages.get(event.get("sessionId", "")), event.get("params", {})
        if page is None:
            return
        if event["method"] == "Runtime.exceptionThrown":
            page.complaints.append(str(said["exceptionDetails"].get("exception", said).get("description", said)))
        if event["method"] == "Log.entryAdded" and said["entry"]["level"] in ("warning", "error"):
            page.complaints.append(said["entry"]["text"])
        if event["method"] == "Runtime.consoleAPICalled" and said["type"] in ("warning", "error", "assert"):
            page.complaints.append(" ".join(str(each.get("value", each.get("description"))) for each in said["args"]))
