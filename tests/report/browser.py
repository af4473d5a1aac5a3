"""browser.py - a headless Chromium, driven over its DevTools protocol on loopback

Only what the test of the report needs: one page, calls with answers, events that are kept, and an
end that is certain. The browser gets a profile of its own that is removed with it. Every wait has
an end; a browser that does not answer is an error, not a hang.
"""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars"
    " --no-first-run --no-default-browser-check --disable-extensions --disable-sync"
    " --disable-background-networking --disable-component-update --no-proxy-server"
    " --remote-debugging-address=127.0.0.1 --remote-debugging-port=0 about:blank"
).split()


def find():
    """The browser's path, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Socket:
    """A WebSocket to the browser: text frames, whole messages."""

    def __init__(self, host, port, path, limit_s):
        self.socket = socket.create_connection((host, port), limit_s)
        self.rest = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.take(1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise OSError(f"no WebSocket: {head!r}")

    def take(self, count):
        while len(self.rest) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                raise OSError("the browser closed the connection")
            self.rest += more
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        if len(data) < 126:
            head = struct.pack("!BB", 0x81, 0x80 | len(data))
        elif len(data) < 1 << 16:
            head = struct.pack("!BBH", 0x81, 0xFE, len(data))
        else:
            head = struct.pack("!BBQ", 0x81, 0xFF, len(data))
        covered = bytes(byte ^ mask[i & 3] for i, byte in enumerate(data))
        self.socket.sendall(head + mask + covered)

    def message(self):
        whole = b""
        while True:
            first, second = self.take(2)
            length = second & 0x7F
            if length == 126:
                length = struct.unpack("!H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack("!Q", self.take(8))[0]
            data = self.take(length)
            if first & 0x0F == 8:
                raise OSError("the browser closed the page")
            if first & 0x0F in (0, 1, 2):
                whole += data
                if first & 0x80:
                    return whole.decode()

    def close(self):
        self.socket.close()


class Page:
    """The browser's one page. `events` has (method, parameters) since the last clear()."""

    def __init__(self, program, limit_s=60):
        self.limit_s = limit_s
        self.number = 0
        self.events = []
        self.folder = tempfile.mkdtemp(prefix="report-browser-")
        self.socket = None
        self.process = subprocess.Popen(
            [program, f"--user-data-dir={self.folder}", *FLAGS],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            port = self.find_port()
            self.socket = Socket("127.0.0.1", port, self.find_page(port), limit_s)
            for part in ("Page", "Runtime", "Log", "Network", "DOM"):
                self.call(f"{part}.enable")
        except BaseException:
            self.close()
            raise

    def find_port(self):
        """The browser writes the port that it chose into its profile."""
        path = pathlib.Path(self.folder, "DevToolsActivePort")
        end = time.monotonic() + self.limit_s
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise OSError(f"the browser ended with {self.process.returncode}")
            with contextlib.suppress(OSError):
                lines = path.read_text().split()
                if len(lines) >= 2:
                    return int(lines[0])
            time.sleep(0.05)
        raise OSError("the browser did not open its port")

    def find_page(self, port):
        end = time.monotonic() + self.limit_s
        while time.monotonic() < end:
            asked = http.client.HTTPConnection("127.0.0.1", port, timeout=self.limit_s)
            with contextlib.closing(asked):
                asked.request("GET", "/json/list")
                targets = json.loads(asked.getresponse().read())
            for target in targets:
                if target["type"] == "page":
                    return "/" + target["webSocketDebuggerUrl"].split("/", 3)[3]
            time.sleep(0.05)
        raise OSError("the browser has no page")

    def close(self):
        if self.socket:
            self.socket.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self):
        message = json.loads(self.socket.message())
        if "method" in message:
            self.events.append((message["method"], message["params"]))
        return message

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        end = time.monotonic() + self.limit_s
        while time.monotonic() < end:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise OSError(f"{method}: {message['error']}")
                return message["result"]
        raise OSError(f"{method}: no answer within {self.limit_s} s")

    def clear(self):
        self.events = []

    def open(self, path):
        """Loads a local file and waits until it is there, scripts included."""
        self.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        end = time.monotonic() + self.limit_s
        while not any(method == "Page.loadEventFired" for method, _ in self.events):
            if time.monotonic() > end:
                raise OSError(f"{path}: not loaded within {self.limit_s} s")
            self.receive()

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise OSError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def view(self, width, scheme="light", height=900):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            media="",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def scripts(self, allowed):
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def key(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code)

    def picture(self, whole=True):
        """A PNG of the page as it is seen, or of all of it."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(answer["data"])

    def printed(self):
        return base64.b64decode(self.call("Page.printToPDF")["data"])

    def complaints(self):
        """Errors, warnings and exceptions of the page since it was opened."""
        found = []
        for method, p in self.events:
            if method == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"].get("text", "exception"))
            elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                found.append(f"console: {p['args']}")
            elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append(p["entry"]["text"])
        return found

    def loaded(self):
        """Addresses that the page asked for since it was opened."""
        return [p["request"]["url"] for method, p in self.events
                if method == "Network.requestWillBeSent"]
