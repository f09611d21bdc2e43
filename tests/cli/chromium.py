"""A headless Chromium over its debugging pipe: messages of the DevTools protocol, JSON followed by a zero byte."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

TIMEOUT = 60  # seconds; only a hang takes this long
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """The browser's path, or None. A stub that would install a browser does not count."""
    named = os.environ.get("WICPROF_BROWSER")
    for name in [named] if named else NAMES:
        path = shutil.which(name)
        if path and subprocess.run([path, "--version"], capture_output=True, timeout=TIMEOUT).returncode == 0:
            return path
    return None


class Failed(Exception):
    pass


class Page:
    """One page in its own browser. Collects the page's network requests and console messages."""

    def __init__(self, path, width=1200, height=900):
        self.profile = tempfile.TemporaryDirectory(prefix="wicprof-browser-", ignore_cleanup_errors=True)
        ask, self.to_browser = os.pipe()
        self.from_browser, answer = os.pipe()
        # The browser reads descriptor 3 and writes descriptor 4. A shell assigns them, so they cannot clash with ours.
        command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}",
                   "about:blank"]
        self.process = subprocess.Popen(["sh", "-c", f'exec "$0" "$@" 3<&{ask} 4>&{answer}', *command],
                                        pass_fds=(ask, answer), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, HOME=self.profile.name))
        os.close(ask)
        os.close(answer)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.requests = []
        self.problems = []
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.profile.cleanup()

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self.to_browser, rest):]
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self):
        end = time.monotonic() + TIMEOUT
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.from_browser], [], [], max(0, end - time.monotonic()))
            part = os.read(self.from_browser, 1 << 16) if ready else b""
            if not part:
                raise Failed("the browser does not answer")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        self._note(message)
        return message

    def _note(self, message):
        method, params = message.get("method"), message.get("params")
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(f"console.{params['type']}: {params['args']}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("warning", "error"):
            self.problems.append(params["entry"]["text"])
        if method:
            self.events.append(method)

    def open(self, path):
        """A file, or a URL as a string."""
        self.events.clear()
        self.call("Page.navigate", url=path if isinstance(path, str) else path.resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            self._next()

    def js(self, expression):
        """The value of a JavaScript expression or of its promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failed(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def settle(self):
        """Waits until the page has drawn."""
        self.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def media(self, kind="", **features):
        self.call("Emulation.setEmulatedMedia", media=kind,
                  features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])
        self.settle()

    # x and y are window coordinates.
    def mouse(self, what, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=what, x=x, y=y, **more)
        self.settle()

    def click(self, selector):
        """Clicks in the middle of the first element that matches the selector."""
        x, y = self.js(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{ block: "center" }});
            const box = element.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]; }})()""")
        self.settle()  # the browser looks for the element in the last frame, which may be from before the scrolling
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.settle()

    def key(self, key):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def screenshot(self, whole=True):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
