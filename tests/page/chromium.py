"""A headless Chromium driven over its debugging pipe, with the standard library only.

One browser, one page. Console messages, exceptions and requests are collected as they are reported.
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

LIMIT_S = 60


def find():
    """The browser's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page:
    def __init__(self, program):
        self.errors, self.requests, self.number, self.rest = [], [], 0, b""
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        from_us, self.to_browser = os.pipe()
        self.from_browser, to_us = os.pipe()
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                   f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"]
        # Inside the browser the pipe has the numbers 3 and 4.
        shell = ["sh", "-c", f'exec 3<&{from_us} 4>&{to_us}; exec "$@"', "sh"]
        self.process = subprocess.Popen(shell + command, pass_fds=(from_us, to_us), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.session = None
        target = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.profile.cleanup()

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        number = self.number
        answer = self.wait_for(lambda m: m.get("id") == number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait_for(self, wanted):
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            message = self.read_message(end)
            self.note(message)
            if wanted(message):
                return message
        raise TimeoutError("the browser did not answer")

    def read_message(self, end):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.from_browser], [], [], max(0, end - time.monotonic()))
            part = os.read(self.from_browser, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("the browser did not answer")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.errors.append(str(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path, width=1280, height=900, dark=False, script=True):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.send("Emulation.setScriptExecutionDisabled", value=not script)
        self.send("Page.navigate", url=f"file://{path}")
        self.wait_for(lambda m: m.get("method") == "Page.loadEventFired")
        if script:
            self.frame()

    def run(self, expression):
        """The value of an expression in the page; promises are waited for."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", expression))
        return result["result"].get("value")

    def frame(self):
        """Waits until what was asked for has been painted."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    KEYS = {"Tab": 9, "Enter": 13, " ": 32, "Home": 36, "End": 35, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
            "ArrowDown": 40}

    def key(self, name, shift=False):
        event = {"key": name, "code": name if len(name) > 1 else "", "modifiers": 8 if shift else 0,
                 "windowsVirtualKeyCode": self.KEYS.get(name, ord(name[0]))}
        text = {"Enter": "\r"}.get(name, name if len(name) == 1 else None)
        self.send("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
