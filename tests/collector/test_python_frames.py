"""The Python function that waits, as the collector finds it: in each interpreter of this machine that it knows.

    test_python_frames.py PROBE_LIBRARY
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import unittest

KNOWN = ("3.11", "3.12", "3.13")


def line_of(function):
    return f"test_python_frames.py:{function.__code__.co_firstlineno}"


# As if a package called the probe: its frame is skipped. ctypes releases the interpreter's lock during the call.
PACKAGE = """
def call(probe):
    text = ctypes.create_string_buffer(256)
    probe(text)
    return text.value.decode()
"""


def make_probe(path):
    names = {"ctypes": ctypes}
    exec(compile(PACKAGE, "/python/site-packages/package.py", "exec"), names)
    return names["call"], ctypes.CDLL(path).probe


def answers(call, probe):
    """What the probe says in functions of several kinds, and what it should say."""
    found = []

    def inner():
        return call(probe)

    def generator():
        yield call(probe)

    class Model:
        def forward(self):
            return call(probe)

        def __lt__(self, other):
            found.append((call(probe), "Model.__lt__ " + line_of(Model.__lt__)))
            return True

    found.append((inner(), "inner " + line_of(inner)))
    found.append((next(generator()), "generator " + line_of(generator)))
    found.append((Model().forward(), "Model.forward " + line_of(Model.forward)))
    sorted([Model(), Model()])  # a Python function that C calls
    by_library = re.sub(".", lambda _: inner(), "x")  # the library's own functions are skipped
    found.append((by_library, "inner " + line_of(inner)))
    in_thread = []
    thread = threading.Thread(target=lambda: in_thread.append(call(probe)))
    thread.start()
    thread.join()
    found.append((in_thread[0].split()[0], "<lambda>"))
    return found


def in_interpreter(path):
    """Runs in each interpreter: the answers, with many threads that change their frames meanwhile."""
    (call, probe), stop, busy = make_probe(path), threading.Event(), []

    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    def work():
        while not stop.is_set():
            fibonacci(8)
            text = call(probe)
            if not text.startswith("work "):
                busy.append(text)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    found = [answers(call, probe) for _ in range(50)]
    stop.set()
    for thread in threads:
        thread.join()
    wrong = sorted({pair for one in found for pair in one if pair[0] != pair[1]})
    print(json.dumps({"version": sys.version, "wrong": wrong, "busy": busy[:3], "answers": found[0]}))


class PythonFrames(unittest.TestCase):
    def test_functions_of_each_known_interpreter(self):
        tried = []
        candidates = {f"python{version}" for version in KNOWN} | {"/usr/bin/python3", sys.executable}
        candidates |= set(os.environ.get("WICPROF_TEST_PYTHONS", "").split(":"))  # further interpreters
        for interpreter in sorted(filter(None, map(shutil.which, candidates))):
            done = subprocess.run([interpreter, __file__, "--inside", sys.argv[-1]], text=True, capture_output=True,
                                  check=False)
            if done.returncode == 127:
                continue  # the name stands for a version that is not installed
            self.assertEqual(done.returncode, 0, done.stderr)
            said = json.loads(done.stdout)
            version = ".".join(said["version"].split(".")[:2])
            tried.append(version)
            if version in KNOWN:
                self.assertEqual((said["wrong"], said["busy"]), ([], []), said)
            else:
                self.assertEqual({answer for answer, _ in said["answers"]}, {"none"}, said)
        print("interpreters:", ", ".join(tried) or "none")
        if not set(tried) & set(KNOWN):
            self.skipTest("no Python of a known version")


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        in_interpreter(sys.argv[2])
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)
