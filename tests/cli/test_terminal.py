"""A terminal that is lost or full, closed standard streams, a full disk behind stdout: the program keeps its exit
status, the trace is completed, and an answer that did not arrive is a failure."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

import harness


class LostStderr(harness.Case):
    def run_with(self, redirection, *options, status=42):
        """Runs under a shell, because only a shell can close streams."""
        words = [harness.WICPROF, "run", "-f", "-o", "t.wicprof", *options, "--", harness.TRACED_APP, "--seconds",
                 "0.2", "--status", str(status)]
        script = '"$@" ' + redirection
        result = subprocess.run(["sh", "-c", script, "sh", *words], cwd=self.work, env=self.env,
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.TIMEOUT)
        self.assertEqual(result.returncode, status, (redirection, result.stderr))
        self.assertEqual(self.meta("t.wicprof")["state"], "complete", redirection)
        self.assertGreater(self.number("t.wicprof", "SELECT count(*) FROM wait"), 0)

    def test_full_or_closed_streams(self):
        for redirection in ("2>/dev/full", ">/dev/full 2>&1", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">&-", "<&-"):
            with self.subTest(redirection=redirection):
                self.run_with(redirection)

    def test_messages_never_go_into_wic_profs_own_files(self):
        """With stderr closed, the next file would get its number."""
        self.run_with("2>&-", "--schedule", "poll:50ms,park:10s")
        self.assertEqual(self.query("t.wicprof", "PRAGMA integrity_check"), [("ok",)])

    def test_program_sees_the_streams_that_the_user_closed(self):
        result = subprocess.run(["sh", "-c", '"$@" 2>&- <&-', "sh", harness.WICPROF, "run", "-q", "-f", "-o",
                                 "t.wicprof", "--", "sh", "-c",
                                 "for fd in 0 1 2; do [ -e /proc/self/fd/$fd ] && echo $fd; done; exit 0"],
                                cwd=self.work, env=self.env, capture_output=True, text=True, timeout=harness.TIMEOUT)
        self.assertEqual(result.returncode, 0)
        self.assertIn("1", result.stdout.split())
        self.assertNotIn("2", result.stdout.split())

    def test_reader_that_stops_reading(self):
        """A full pipe delays neither the program nor its signals for long."""
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(writing, False)
        try:
            while True:
                os.write(writing, b"x" * 512)
        except BlockingIOError:
            pass
        os.set_blocking(writing, True)
        # quiet: at the end, the summary waits for the reader
        process = subprocess.Popen([harness.WICPROF, "run", "-q", "-o", "t.wicprof", "--schedule", "poll:50ms,park:10s",
                                    "--", "sh", "-c", f"{harness.TRACED_APP} --deaf --seconds 0.5 2>/dev/null; exit 7"],
                                   cwd=self.work, env=self.env, stdout=subprocess.DEVNULL, stderr=writing)
        self.started.append(process)
        self.assertEqual(process.wait(timeout=harness.TIMEOUT), 7)
        os.close(writing)
        os.close(reading)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_terminal_that_vanishes(self):
        """Writing to it gives EIO from then on; the shell's SIGHUP is ignored, as under nohup."""
        script = ('trap "" HUP; "$0" run -o t.wicprof -- sh -c "touch ready; while [ ! -e gone ]; do sleep 0.02; done; '
                  'sleep 0.8; exit 42" >/dev/null; echo $? > status')
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execvpe("sh", ["sh", "-c", script, harness.WICPROF], self.env)
        self.until(lambda: (self.work / "ready").exists(), "the program")
        os.close(terminal)
        (self.work / "gone").touch()
        os.waitpid(pid, 0)
        self.assertEqual((self.work / "status").read_text(), "42\n")
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")


class Screen(harness.Case):
    """Texts fit the terminal and have colours there, and only there."""

    def on_terminal(self, *words, columns=100, env=None):
        """What wic-prof writes to a terminal of so many columns."""
        controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        environment = {key: value for key, value in self.env.items() if key not in ("COLUMNS", "NO_COLOR")}
        process = subprocess.Popen([harness.WICPROF, *map(str, words)], cwd=self.work, stdin=subprocess.DEVNULL,
                                   stdout=terminal, stderr=subprocess.PIPE,
                                   env={**environment, "TERM": "xterm", **(env or {})})
        self.started.append(process)
        os.close(terminal)
        text = b""
        try:
            while part := os.read(controller, 65536):
                text += part
        except OSError:  # EIO: wic-prof has closed the terminal
            pass
        os.close(controller)
        process.wait(timeout=harness.TIMEOUT)
        return text.decode().replace("\r\n", "\n")

    def setUp(self):
        super().setUp()
        self.record("t.wicprof", "--seconds", "0.1")

    def widest(self, text):
        return max(len(re.sub("\x1b[^m]*m", "", line)) for line in text.splitlines())

    def test_width_of_the_terminal(self):
        for columns in (60, 80, 100, 120):
            for words in (["analyze", "t.wicprof"], ["analyze", "--verbose", "t.wicprof"], ["analyze", "--help"]):
                with self.subTest(columns=columns, words=words):
                    self.assertLessEqual(self.widest(self.on_terminal(*words, columns=columns)), columns)
        narrow, wide = (self.on_terminal("analyze", "t.wicprof", columns=columns) for columns in (60, 120))
        self.assertGreater(self.widest(wide), self.widest(narrow))
        self.assertEqual(self.on_terminal("analyze", "t.wicprof", env={"COLUMNS": "60"}), narrow)

    def test_colours_only_on_a_terminal(self):
        for words in (["analyze", "t.wicprof"], ["compare", "t.wicprof", "t.wicprof"]):
            with self.subTest(words=words):
                coloured = self.on_terminal(*words)
                self.assertIn("\x1b[1;3", coloured.splitlines()[0])
                self.assertEqual(coloured.count("\x1b["), 2 * coloured.count("\x1b[0m"))
                plain = re.sub("\x1b[^m]*m", "", coloured)
                self.assertEqual(self.on_terminal(*words, env={"NO_COLOR": "1"}), plain)
                self.assertEqual(self.on_terminal(*words, env={"TERM": "dumb"}), plain)
                self.assertEqual(self.wic_prof(*words, env={"COLUMNS": "100"}).stdout, plain)
                self.on_terminal(*words, "-o", "answer.txt")
                self.assertNotIn("\x1b", (self.work / "answer.txt").read_text())
                (self.work / "answer.txt").unlink()

    def test_columns_are_obeyed_above_120(self):
        for words in (["analyze", "--verbose", "t.wicprof"], ["explain"], ["run", "--help"]):
            with self.subTest(words=words):
                widest = self.widest(self.wic_prof(*words, env={"COLUMNS": "200"}).stdout)
                self.assertGreater(widest, 120)
                self.assertLessEqual(widest, 200)

    def test_without_a_terminal_no_line_is_folded(self):
        for words in (["analyze", "--verbose", "t.wicprof"], ["explain"], ["compare", "t.wicprof", "t.wicprof"]):
            with self.subTest(words=words):
                piped = self.wic_prof(*words, env={"COLUMNS": ""}).stdout
                self.assertEqual(piped, self.wic_prof(*words, env={"COLUMNS": "100000"}).stdout)
                folded = self.wic_prof(*words, env={"COLUMNS": "60"}).stdout
                self.assertLess(len(piped.splitlines()), len(folded.splitlines()))
        self.wic_prof("analyze", "--verbose", "t.wicprof", "-o", "answer.txt")
        self.assertEqual((self.work / "answer.txt").read_text(),
                         self.wic_prof("analyze", "--verbose", "t.wicprof").stdout)
        for line in self.wic_prof("explain").stdout.splitlines():
            self.assertRegex(line, r"^(  \S.*: .*|\w.*|)$")  # a heading, or a word with all of its meaning

    def test_help_into_a_pipe_has_80_columns(self):
        piped = self.wic_prof("run", "--help").stdout
        self.assertEqual(piped, self.wic_prof("run", "--help", env={"COLUMNS": "80"}).stdout)


class FullStdout(harness.Case):
    def test_answers_that_do_not_arrive_are_failures(self):
        self.record("t.wicprof", "--seconds", "0.1")
        for words in (["--version"], ["--help"], ["run", "--help"], ["doctor"], ["doctor", "--format=json"],
                      ["sessions"], ["sessions", "--format=json"], ["analyze", "t.wicprof"], ["report", "t.wicprof",
                                                                                              "--format", "json", "-o",
                                                                                              "-"], ["demo",
                                                                                                     "--recorded"]):
            with self.subTest(words=words):
                with open("/dev/full", "w") as full:
                    result = subprocess.run([harness.WICPROF, *words], cwd=self.work, env=self.env, stdout=full,
                                            stderr=subprocess.PIPE, text=True, timeout=harness.TIMEOUT)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertIn("wic-prof: error: ", result.stderr)

    def test_toggle(self):
        process = self.start_app()
        with open("/dev/full", "w") as full:
            result = subprocess.run([harness.WICPROF, "toggle", "park"], cwd=self.work, env=self.env, stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=harness.TIMEOUT)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.interrupt(process)

    def test_closed_stdout(self):
        result = subprocess.run(["sh", "-c", '"$0" --version >&-', harness.WICPROF], env=self.env,
                                stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 3, result.stderr)


if __name__ == "__main__":
    harness.main()
