"""What another user of the machine can do to a recording: nothing. docs/security.md names these tests."""

import json
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys
import unittest

import harness

NOBODY = 65534
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable  # that any user may start
BUILD = pathlib.Path(harness.WICPROF).parent.parent

# Prints what succeeded of all that a process can do with another one and with its files.
TRY_ALL = """
import fcntl, os, socket, sys
removes, folder, trace, *pids = sys.argv[1:]
done = []
def attempt(name, action):
    try:
        action()
        done.append(name)
    except OSError:
        pass
attempt("list", lambda: os.listdir(folder))
attempt("plant", lambda: open(folder + "/planted", "w"))
for path in [trace, trace + "-wal", trace + "-shm", *(folder + "/s" + suffix for suffix in (".session", ".sock"))]:
    attempt("read " + path, lambda: open(path, "rb"))
    attempt("write " + path, lambda: open(path, "r+b"))
    attempt("lock " + path, lambda: fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB))
    if removes == "yes":
        attempt("remove " + path, lambda: os.unlink(path))
attempt("connect", lambda: socket.socket(socket.AF_UNIX).connect(folder + "/s.sock"))
for pid in pids:
    for number in range(30):
        attempt("descriptor", lambda: os.open(f"/proc/{pid}/fd/{number}", os.O_RDONLY))
    attempt("mem", lambda: open(f"/proc/{pid}/mem", "rb"))
    for name in ("environ", "maps"):
        attempt(name, lambda: open(f"/proc/{pid}/{name}", "rb").read(1))
    attempt("signal", lambda: os.kill(int(pid), 0))
print("\\n".join(done))
"""


class Modes(harness.Case):
    def test_a_trace_is_for_its_owner(self):
        """Whatever the umask, while recording and afterwards, and every kind of trace."""
        self.assert_private_while("run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", "30")
        self.assert_private_while("run", "-o", "s.wicprof", "--segment", "200ms", "--", harness.TRACED_APP, "--seconds",
                                  "30")
        self.assert_private_while("run", "-o", "d.wicprof", "--keep-last", "1m", "--trigger", "dump", "--",
                                  harness.TRACED_APP, "--seconds", "30")

    def assert_private_while(self, *words):
        process = self.start(*words, umask=0, start_new_session=True)
        self.until(lambda: any(s.get("waits") for s in self.sessions()), "waits")
        if "--trigger" in words:
            self.assertEqual(self.wic_prof("dump").returncode, 0)
        self.assert_private(3)
        self.interrupt(process)
        self.assert_private(1)
        for path in self.work.glob("*.wicprof*"):
            path.unlink()

    def assert_private(self, least):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in self.work.glob("*.wicprof*")}
        self.assertGreaterEqual(len(modes), least, modes)
        self.assertEqual(set(modes.values()), {0o600}, modes)

    def test_an_imported_trace_is_for_its_owner(self):
        (self.work / "torch.json").write_text(json.dumps({"traceEvents": [
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2,
             "args": {"device": 0, "stream": 7, "correlation": 1}}]}))
        old = os.umask(0)
        result = self.wic_prof("import", "torch.json", "-o", "t.wicprof")
        os.umask(old)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_private(1)

    def test_what_is_built_raises_no_rights(self):
        """No set-user-id bit and no file capability."""
        built = [path for folder in ("bin", "lib") for path in (BUILD / folder).glob("*wic*") if path.is_file()]
        self.assertIn(pathlib.Path(harness.WICPROF), built)
        for path in built:
            self.assertEqual(path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID), 0, path)
            self.assertNotIn("security.capability", os.listxattr(path), path)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs two users: root, and setpriv")
class OtherUser(harness.Case):
    def setUp(self):
        super().setUp()
        for folder in (self.folder, self.runtime, self.work):  # all but what wic-prof itself has made is open
            folder.chmod(0o755)
        self.tool = self.folder / "wic-prof"  # where that user may start it
        shutil.copy(harness.WICPROF, self.tool)
        self.tool.chmod(0o755)

    def as_nobody(self, *words):
        return subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *map(str, words)],
                              cwd=self.work, env=self.env, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=harness.TIMEOUT)

    def record(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), umask=0)
        self.until(lambda: self.sessions()[0]["waits"] > 0, "waits")
        return process, self.sessions()[0]

    def test_can_neither_read_nor_change_a_session(self):
        process, session = self.record()
        folder, trace = self.runtime / "wic-prof", self.work / "t.wicprof"
        attempts = [folder, trace, process.pid, session["pid"]]
        by_owner = subprocess.run([PYTHON, "-c", TRY_ALL, "no", *map(str, attempts)], capture_output=True, text=True)
        for done in ("list", "plant", f"read {trace}", f"write {folder}/s.session", "connect", "descriptor", "mem",
                     "signal"):
            self.assertIn(done, by_owner.stdout.splitlines())  # the attempts are real
        (folder / "planted").unlink()
        for mode in (0o700, 0o711):  # a second line of defence: the files' own modes
            folder.chmod(mode)
            tried = self.as_nobody(PYTHON, "-c", TRY_ALL, "yes", *attempts)
            self.assertEqual((tried.returncode, tried.stdout.strip()), (0, ""), tried.stderr)
        self.assertEqual((self.sessions()[0]["answers"], self.sessions()[0]["mode"]), (True, "poll"))
        self.interrupt(process)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_no_verb_reaches_a_session(self):
        process, session = self.record()
        for words in (("toggle", "park", "--session", "s"), ("dump", "--session", "s"), ("stuck", "--session", "s"),
                      ("attach", session["pid"]), ("attach", process.pid), ("analyze", "t.wicprof")):
            refused = self.as_nobody(self.tool, *words)
            self.assertIn(refused.returncode, (2, 3), words)
            self.assertIn("wic-prof: error: ", refused.stderr)
        listed = self.as_nobody(self.tool, "sessions", "--format", "json")
        self.assertNotIn('"s"', listed.stdout)
        self.assertIn("belongs to user 0", self.as_nobody(self.tool, "attach", session["pid"]).stderr)
        self.assertEqual(self.sessions()[0]["mode"], "poll")
        self.interrupt(process)

    def test_who_holds_connections_to_the_metrics_starves_nobody(self):
        process = self.start("run", "--metrics", "0", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", "30",
                             start_new_session=True)
        line = ""
        while "metrics at " not in line:
            line = process.stderr.readline()
            self.assertTrue(line)
        port = line.split(":")[-1].split("/")[0]
        hold = ("import socket, sys\nheld = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) "
                "for _ in range(200)]\nprint('held', flush=True)\nsys.stdin.read()")
        other = subprocess.Popen([PYTHON, "-c", hold, port], user=NOBODY, group=NOBODY, extra_groups=[],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/")
        self.started.append(other)
        self.assertEqual(other.stdout.readline(), "held\n")
        self.assertEqual(self.wic_prof("toggle", "park").returncode, 0)
        with socket.create_connection(("127.0.0.1", int(port)), harness.TIMEOUT) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200"))
        self.interrupt(process)  # while the connections are held
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        other.communicate(timeout=harness.TIMEOUT)


if __name__ == "__main__":
    harness.main()
