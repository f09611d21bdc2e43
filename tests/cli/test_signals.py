"""Signals of a run: they reach the program wherever it is, none kills wic-prof. --kill and --wait decide what
ends when."""

import os
import pathlib
import pty
import signal
import subprocess
import time
import unittest

import harness

# A program without wic that notes the signals it gets.
NOTES = """
import os, signal, sys, time
def note(number, frame):
    with open('got', 'a') as file: file.write(signal.Signals(number).name + '\\n')
for name in sys.argv[1].split(','): signal.signal(getattr(signal, name), note)
open('ready', 'w').close()
end = time.monotonic() + 60
while not os.path.exists('finish') and time.monotonic() < end: time.sleep(0.02)
sys.exit(11)
"""


OWN_SESSION = "import os; os.setsid(); os.execvp('sh', ['sh', '-c', 'touch ready; exec sleep 60'])"


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        (self.work / "notes.py").write_text(NOTES)

    def notes(self, names):
        return ["python3", "-B", "notes.py", names]

    def is_ready(self):
        self.until(lambda: (self.work / "ready").exists(), "the program")

    def got(self):
        path = self.work / "got"
        return path.read_text().split() if path.exists() else []

    def finish_program(self):
        (self.work / "finish").touch()

    def in_terminal(self, *words):
        """Starts wic-prof as the leader of a terminal's session; returns its pid and the terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execve(harness.WICPROF, [harness.WICPROF, *map(str, words)], self.env)
        return pid, terminal

    def end_of(self, pid, terminal):
        """The exit status, and what the terminal showed."""
        shown = b""
        while True:
            try:
                data = os.read(terminal, 4096)
            except OSError:
                break
            if not data:
                break
            shown += data
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode(errors="replace")


class PassedOn(Case):
    def test_signals_for_the_program_reach_it_and_wic_prof_lives(self):
        names = ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGQUIT", "SIGXCPU", "SIGPWR", "SIGWINCH", "SIGPROF", "SIGVTALRM",
                 "SIGIO", "SIGRTMIN"]
        process = self.start("run", "-o", "t.wicprof", "--", *self.notes(",".join(names)))
        self.is_ready()
        for name in names:
            process.send_signal(getattr(signal, name))
            self.until(lambda: signal.Signals(getattr(signal, name)).name in self.got(), name)
        self.assertIsNone(process.poll())
        self.finish_program()
        self.assertEqual(self.finish(process).returncode, 11)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_signal_that_kills_the_program_does_not_kill_wic_prof(self):
        process = self.start("run", "-o", "t.wicprof", "--", "sh", "-c", "touch ready; exec sleep 60")
        self.is_ready()
        self.until(lambda: any(b"sleep" in command for _, command in self.processes()), "sleep")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(self.finish(process).returncode, 128 + signal.SIGUSR1)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_program_starts_with_the_original_handling(self):
        def quiet():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})

        script = "grep -E 'Sig(Blk|Ign)' /proc/self/status"
        wanted = subprocess.run(["sh", "-c", script], capture_output=True, text=True, preexec_fn=quiet,
                                restore_signals=False).stdout
        result = subprocess.run([harness.WICPROF, "run", "-q", "-o", "t.wicprof", "--", "sh", "-c", script],
                                cwd=self.work, env=self.env, capture_output=True, text=True, preexec_fn=quiet,
                                restore_signals=False)
        self.assertEqual(result.stdout, wanted)


class Terminal(Case):
    def test_ctrl_c_reaches_a_program_in_a_session_of_its_own(self):
        pid, terminal = self.in_terminal("run", "-o", "t.wicprof", "--", "python3", "-B", "-c",
                                         OWN_SESSION)
        self.is_ready()
        self.until(lambda: any(b"sleep" in command for _, command in self.processes()), "sleep")
        os.write(terminal, b"\x03")
        begin = time.monotonic()
        status, shown = self.end_of(pid, terminal)
        self.assertEqual(status, 128 + signal.SIGINT, shown)
        self.assertNotIn("did not end within", shown)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_program_that_handles_ctrl_c_itself_goes_on(self):
        pid, terminal = self.in_terminal("run", "-o", "t.wicprof", "--", *self.notes("SIGINT"))
        self.is_ready()
        os.write(terminal, b"\x03")
        self.until(lambda: self.got() == ["SIGINT"], "the first Ctrl-C")
        time.sleep(5.5)  # a program that is told to end is killed after 5 s
        os.write(terminal, b"\x03")
        self.until(lambda: self.got() == ["SIGINT"] * 2, "the second Ctrl-C")
        self.finish_program()
        status, shown = self.end_of(pid, terminal)
        self.assertEqual(status, 11, shown)
        self.assertIn("handles Ctrl-C itself", shown)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_three_ctrl_c_kill_it(self):
        pid, terminal = self.in_terminal("run", "-o", "t.wicprof", "--", *self.notes("SIGINT"))
        self.is_ready()

        def runs():
            return any(command.startswith(b"python3\0") for _, command in self.processes())

        for _ in range(10):  # on a slow machine, three may take longer than the 2 s within which they kill
            noted = len(self.got())
            for count in range(1, 4):
                os.write(terminal, b"\x03")
                if count < 3:
                    self.until(lambda: len(self.got()) >= noted + count or not runs(), "Ctrl-C")
            late = time.monotonic() + 2
            while runs() and time.monotonic() < late:
                time.sleep(0.02)
            if not runs():
                break
        status, shown = self.end_of(pid, terminal)
        self.assertEqual(status, 128 + 9, shown)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_ctrl_backslash_ends_the_program_alone(self):
        pid, terminal = self.in_terminal("run", "-o", "t.wicprof", "--", "sh", "-c",
                                         "ulimit -c 0; touch ready; exec sleep 60")
        self.is_ready()
        self.until(lambda: any(b"sleep" in command for _, command in self.processes()), "sleep")
        os.write(terminal, b"\x1c")
        self.assertEqual(self.end_of(pid, terminal)[0], 128 + signal.SIGQUIT)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def state_of(self, pid):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def test_stopped_wic_prof_goes_on(self):
        process = self.start("run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", 1.5, "--status", 4)
        self.until(lambda: any(s["answers"] and s["wic_runtime"] for s in self.sessions()), "the session")
        process.send_signal(signal.SIGSTOP)
        self.until(lambda: self.state_of(process.pid) == "T", "the stop")
        time.sleep(1)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(self.finish(process).returncode, 4)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_ctrl_z_stops_both_and_both_go_on(self):
        """The program is in a session of its own, where the terminal's signals do not reach it. An interactive shell
        continues the job."""
        (self.work / "own.py").write_text(OWN_SESSION)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], self.env)
        os.write(terminal, f"{harness.WICPROF} run -o t.wicprof -- python3 -B own.py; echo status=$?\n".encode())
        self.is_ready()

        def pid_of(*begins):
            return next((p for p, command in self.processes() if command.startswith(begins)), None)

        self.until(lambda: pid_of(b"sleep"), "sleep")
        app, recorder = pid_of(b"sleep"), pid_of(harness.WICPROF.encode())
        os.write(terminal, b"\x1a")
        self.until(lambda: self.state_of(app) == "T" and self.state_of(recorder) == "T", "both to stop")
        os.write(terminal, b"fg\n")
        self.until(lambda: self.state_of(app) == "S" and self.state_of(recorder) == "S", "both to go on")
        os.write(terminal, b"\x03")
        self.until(lambda: not pid_of(harness.WICPROF.encode()), "the end")
        os.write(terminal, b"exit\n")
        self.end_of(pid, terminal)
        self.assertEqual(self.meta("t.wicprof")["app_signal"], "2")


class Kill(Case):
    def test_signal_of_choice(self):
        process = self.start("run", "--kill", "USR1", "-o", "t.wicprof", "--", *self.notes("SIGINT"))
        self.is_ready()
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process).returncode, 128 + signal.SIGUSR1)
        self.assertEqual(self.got(), [])

    def test_none_leaves_the_program_running(self):
        with open(self.work / "messages", "w") as messages:  # the program keeps stderr open
            process = subprocess.Popen([harness.WICPROF, "run", "--kill", "none", "-o", "t.wicprof", "--",
                                        *self.notes("SIGTERM")], cwd=self.work, env=self.env, stdin=subprocess.DEVNULL,
                                       stdout=messages, stderr=messages)
        self.started.append(process)
        self.is_ready()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=harness.TIMEOUT), 0)
        self.assertIn("the program goes on", (self.work / "messages").read_text())
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        self.assertNotIn("app_status", self.meta("t.wicprof"))
        self.assertEqual(len(self.processes()), 1)
        self.finish_program()
        self.until(lambda: self.processes() == [], "the program's end")
        self.assertEqual(self.got(), [])

    def test_at_the_end_of_the_duration(self):
        begin = time.monotonic()
        result = self.wic_prof("run", "--duration", "300ms", "--kill", "TERM", "-o", "t.wicprof", "--",
                               harness.TRACED_APP, "--seconds", 50)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(time.monotonic() - begin, 40)
        self.assertEqual(self.meta("t.wicprof")["app_signal"], "15")
        result = self.wic_prof("run", "--duration", "100ms", "-f", "-o", "t.wicprof", "--", harness.TRACED_APP,
                               "--seconds", 0.3, "--status", 4)
        self.assertEqual(result.returncode, 4, result.stderr)

    def test_bad_signals(self):
        for word in ("STOP", "0", "-9", "1000", "TERMINATE", "9x", "CONT", "17"):
            with self.subTest(word=word):
                self.assert_refused(self.wic_prof("run", f"--kill={word}", "--", "touch", "started"), 2, "--kill")
        self.assertFalse((self.work / "started").exists())


class Wait(Case):
    BACKGROUND = '(setsid "$0" --seconds 0.6 >/dev/null 2>&1 &) ; exit 9'  # its parent ends at once

    def waits(self, *options):
        result = subprocess.run([harness.WICPROF, "run", "-f", "-o", "t.wicprof", *options, "--", "sh", "-c",
                                 self.BACKGROUND, harness.TRACED_APP], cwd=self.work, env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                timeout=harness.TIMEOUT)
        self.assertEqual(result.returncode, 9)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        return self.number("t.wicprof", "SELECT count(*) FROM wait")

    def test_all_records_a_program_that_goes_into_the_background(self):
        self.assertGreater(self.waits("--wait", "all"), 100)
        self.assertEqual(self.processes(), [])

    def test_primary_does_not_wait(self):
        self.waits("--wait", "primary")
        self.until(lambda: self.processes() == [], "the background program's end")

    def test_interruption_ends_what_is_left(self):
        process = self.start("run", "--wait", "all", "-o", "t.wicprof", "--", "sh", "-c",
                             "(setsid sleep 61 >/dev/null 2>&1 &); (setsid sleep 62 >/dev/null 2>&1 &); exit 0")
        self.until(lambda: sum(c.startswith(b"sleep") for _, c in self.processes()) == 2 and
                   not any(c.startswith(b"sh\0") for _, c in self.processes()), "the background programs alone")
        self.interrupt(process)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.processes(), [])

    def test_stubborn_ones_are_killed(self):
        process = self.start("run", "--wait", "all", "-o", "t.wicprof", "--", "sh", "-c",
                             "(setsid sh -c 'trap \"\" INT TERM; touch ready; while :; do sleep 0.1; done' "
                             ">/dev/null 2>&1 &); exit 3")
        self.is_ready()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).returncode, 3)
        self.until(lambda: self.processes() == [], "the last sleep's end")


if __name__ == "__main__":
    harness.main()
