"""A real Chromium, driven by its own protocol through two pipes: no other package is needed."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

BROWSER = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
        if (found := shutil.which(name))
    ),
    None,
)
_KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, " ": 32}


class Browser:
    """One headless browser with one page."""

    def __init__(self, folder: Path, *, width: int = 1280, height: int = 900) -> None:
        assert BROWSER is not None
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def wire() -> None:
            # The protocol's descriptors are 3 and 4; duplicates first, for they may collide.
            source, sink = os.dup(to_read), os.dup(from_write)
            high_source, high_sink = os.dup2(source, 63), os.dup2(sink, 64)
            os.dup2(high_source, 3)
            os.dup2(high_sink, 4)

        self._process = subprocess.Popen(
            [
                BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio",
                "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
                "--disable-extensions", "--hide-scrollbars", "--disable-background-networking",
                f"--user-data-dir={folder / 'browser'}", f"--window-size={width},{height}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=wire,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        self._out, self._in = to_write, from_read
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session: str | None = None
        self.complaints: list[str] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError, TimeoutError):
            self._session = None
            self.call("Browser.close", _seconds=5)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)

    # -- the protocol ------------------------------------------------------------------------------

    def call(self, method: str, _seconds: float = 60.0, **parameters: Any) -> dict[str, Any]:
        """Call a method; events that come meanwhile are looked at for complaints."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + _seconds
        while True:
            found = self._next(end)
            if found.get("id") == number:
                assert "error" not in found, f"{method}: {found['error']}"
                result: dict[str, Any] = found["result"]
                return result
            self._event(found)

    def processes(self) -> list[dict[str, Any]]:
        """List its processes: type, id and cpuTime in seconds."""
        session, self._session = self._session, None  # a question to the browser, not to the page
        try:
            found: list[dict[str, Any]] = self.call("SystemInfo.getProcessInfo")["processInfo"]
        finally:
            self._session = session
        return found

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self._in, 2**20)
            if not piece:
                raise OSError("the browser has gone")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _event(self, message: dict[str, Any]) -> None:
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", str(details)))
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning"):
            self.complaints.append(str(given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            words = f"{given['entry']['text']} {given['entry'].get('url', '')}"
            if "willReadFrequently" not in words:  # it is the tests that look at pixels
                self.complaints.append(words)
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])

    @property
    def requests(self) -> list[str]:
        """Addresses of everything that was asked for."""
        return self.__dict__.setdefault("_requests", [])  # type: ignore[no-any-return]

    # -- what a person does ------------------------------------------------------------------------

    def open(self, address: str) -> None:
        """Load a page, anew even if only what is behind the # differs."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                          awaitPromise=True, userGesture=True)  # fmt: skip
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, script: str, seconds: float = 20.0) -> Any:
        """Wait until an expression is true; return it."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(AssertionError):  # the page may be loading
                if found := self.run(script):
                    return found
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.03)

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """Change the size of the window."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)  # fmt: skip

    def scheme(self, name: str, *, still: bool = False) -> None:
        """Choose light or dark, and whether things may move."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        features.append({"name": "prefers-reduced-motion", "value": "reduce" if still else ""})
        self.call("Emulation.setEmulatedMedia", features=features)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Press, move or release the mouse."""
        held = kind != "mouseMoved" or self.__dict__.get("_held", False)
        self._held = kind == "mousePressed" or (kind == "mouseMoved" and held)
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, clickCount=1,
                  button="left" if held else "none", buttons=int(held))  # fmt: skip

    def swipe(self, *points: tuple[float, float]) -> None:
        """Put a finger on the first point, go through the others, lift it."""
        kinds = ("touchStart", *["touchMove"] * (len(points) - 1))
        for kind, (x, y) in zip(kinds, points, strict=True):
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def drag(self, *points: tuple[float, float]) -> None:
        """Press at the first point, go through the others, release."""
        self.mouse("mousePressed", *points[0])
        for point in points[1:]:
            self.mouse("mouseMoved", *point)
        self.mouse("mouseReleased", *points[-1])

    def key(self, key: str) -> None:
        """Press a key."""
        code = _KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code,
                  **text)  # fmt: skip
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def box(self, selector: str) -> dict[str, float]:
        """Where an element is on the screen."""
        found: dict[str, float] = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'nearest'});"
            "const b = e.getBoundingClientRect();"
            "return {x: b.x, y: b.y, width: b.width, height: b.height}; })()"
        )
        return found

    def picture(self, file: Path, *, whole: bool = False) -> None:
        """Save what is seen."""
        options: dict[str, Any] = {"captureBeyondViewport": True} if whole else {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {
                "x": 0,
                "y": 0,
                "scale": 1,
                **{k: size[k] for k in ("width", "height")},
            }
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        file.write_bytes(base64.b64decode(data))
