"""Shared by the command-line tests: runs wic-prof with its own runtime folder and checks that nothing stays there."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

WICPROF = os.environ["WICPROF"]
TRACED_APP = os.environ["WICPROF_TRACED_APP"]
CUDA_APP = os.environ.get("WICPROF_CUDA_APP")  # None: built without CUPTI's headers
FAKE_CUPTI = os.environ.get("WICPROF_FAKE_CUPTI")
FAKE_LIBCUDA = os.environ.get("WICPROF_FAKE_LIBCUDA")
SOURCE = pathlib.Path(os.environ["WICPROF_SOURCE"])
VERBS = ["run", "attach", "why", "sessions", "toggle", "dump", "stuck", "analyze", "compare", "report", "digest",
         "import", "gui", "ci", "rewrite", "explain", "doctor", "demo", "help"]
TIMEOUT = 60  # seconds; only a hang takes this long


class Case(unittest.TestCase):
    """A test in its own folder. Fails if a session file, socket or process of it is left at its end."""

    leaves_stale_session = False

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="wicprof-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.runtime = self.folder / "runtime"
        self.runtime.mkdir(mode=0o700)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=str(self.runtime))
        self.env.pop("COLUMNS", None)
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
                self.fail(f"still running at the end of the test: {process.args}")
            for pipe in (process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        self.assertEqual(self.session_files(), [], "left in the session folder")
        self.assertEqual(self.staying_processes(), [], "processes left behind")

    def wic_prof(self, *words, env=None, cwd=None):
        """Runs wic-prof to its end, with stdout and stderr as text."""
        return subprocess.run([WICPROF, *map(str, words)], cwd=cwd or self.work, env={**self.env, **(env or {})},
                              text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT)

    def start(self, *words, **popen):
        popen = {"cwd": self.work, "stdin": subprocess.DEVNULL, **popen}
        process = subprocess.Popen([WICPROF, *map(str, words)], env=self.env, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **popen)
        self.started.append(process)
        return process

    def start_app(self, *app_options, run_options=(), seconds=30, **popen):
        """Starts a run; returns once its program has attached and the control socket answers."""
        process = self.start("run", *run_options, "--", TRACED_APP, "--seconds", seconds, *app_options, **popen)
        name = dict(zip(run_options, run_options[1:])).get("--name", "traced_app")
        wanted = "--no-runtime" not in app_options
        self.until(lambda: any(s["name"] == name and s["answers"] and s["wic_runtime"] == wanted
                               for s in self.sessions()), f"session {name}")
        return process

    def finish(self, process):
        out, err = process.communicate(timeout=TIMEOUT)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def interrupt(self, process):
        process.send_signal(signal.SIGINT)
        return self.finish(process)

    def sessions(self):
        result = self.wic_prof("sessions", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["sessions"]

    def session_files(self):
        folder = self.runtime / "wic-prof"
        return sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []

    def processes(self):
        """The processes that have this test's runtime folder."""
        mark = f"XDG_RUNTIME_DIR={self.runtime}".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((int(entry.name), (entry / "cmdline").read_bytes()))
            except OSError:
                pass
        return found

    def staying_processes(self):
        """As processes(), without those that are just about to end."""
        end = time.monotonic() + 5
        while (found := self.processes()) and time.monotonic() < end:
            time.sleep(0.01)
        return found

    def until(self, condition, what):
        end = time.monotonic() + TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), end, f"timed out waiting for {what}")
            time.sleep(0.01)

    def traces(self):
        return sorted(p.name for p in self.work.glob("*.wicprof*"))

    def record(self, name, *app_options, run_options=()):
        result = self.wic_prof("run", "-o", name, *run_options, "--", TRACED_APP, *app_options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.work / name

    def query(self, trace, sql):
        with sqlite3.connect(self.work / trace) as database:
            return database.execute(sql).fetchall()

    def number(self, trace, sql):
        return self.query(trace, sql)[0][0]

    def stats(self, trace):
        """name -> value, summed over details."""
        return dict(self.query(trace, "SELECT n.value, sum(t.value) FROM stat t JOIN string n ON n.id = t.name_id "
                                      "GROUP BY n.value"))

    def run_cuda(self, *words, options=(), fake="", env=None):
        """Runs the CUDA program without a GPU (cuda_app.cpp), with a fake CUPTI that `fake` controls."""
        if CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        variables = {"WICPROF_CUPTI_PATH": FAKE_CUPTI, "WICPROF_TEST_CUPTI": fake, "WICPROF_FLUSH_MS": "10",
                     **(env or {})}
        return self.wic_prof("run", "-f", "-o", "t.wicprof", *options, "--", CUDA_APP, *words, env=variables)

    def losses(self, trace="t.wicprof"):
        """The reasons of the collector's losses."""
        rows = self.query(trace, "SELECT d.value FROM stat t JOIN string n ON n.id = t.name_id "
                                 "LEFT JOIN string d ON d.id = t.detail_id WHERE t.severity = 1")
        return [row[0] or "" for row in rows]

    def meta(self, trace):
        with sqlite3.connect(self.work / trace) as database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(meta)")]
            rows = database.execute("SELECT * FROM meta").fetchall()
        key, value = columns.index("key"), columns.index("value")
        return {row[key]: str(row[value]) for row in rows}

    def assert_refused(self, result, status, *words):
        """Expects this exit status, an error on stderr with these words, and an empty stdout."""
        self.assertIn(result.returncode, status if isinstance(status, tuple) else (status,), result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn("wic-prof: error: ", result.stderr)
        for word in words:
            self.assertIn(str(word), result.stderr)


def main():
    unittest.main(verbosity=2)
