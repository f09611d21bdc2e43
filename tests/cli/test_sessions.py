"""sessions and toggle: listing running programs and changing how they wait."""

import datetime
import fcntl
import json
import os
import pty
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import termios
import unittest

import harness


OLD_SERVER = """
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
while True:
    client, _ = server.accept()
    client.makefile().readline()
    client.sendall(sys.argv[2].encode() + b"\\n")
"""


class Sessions(harness.Case):
    def test_none(self):
        result = self.wic_prof("sessions")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("no session is running", result.stdout)
        self.assertEqual(self.sessions(), [])

    def test_lists_running_sessions(self):
        process = self.start_app(run_options=("--name", "halo", "-o", "t.wicprof"))
        self.until(lambda: self.sessions()[0]["waits"] > 0, "waits")
        session = self.sessions()[0]
        self.assertEqual((session["name"], session["app"], session["mode"], session["drops"]),
                         ("halo", "traced_app", "poll", 0))
        self.assertEqual(session["sites"], ["left", "right"])
        self.assertEqual(session["trace"], str(self.work / "t.wicprof"))
        self.assertIn(session["pid"], [pid for pid, _ in self.processes()])
        self.assertEqual((session["folder"], session["user"]), (str(self.work.resolve()), os.getuid()))
        started = datetime.datetime.strptime(session["started_utc"], "%Y-%m-%dT%H:%M:%S%z")
        text = self.wic_prof("sessions", env={"COLUMNS": "120", "TZ": "UTC"}).stdout.splitlines()
        self.assertEqual(text[0].split(), ["Name", "pid", "app", "mode", "started", "events", "drops", "trace"])
        row = text[1].split()
        self.assertEqual(row[:4], ["halo", str(session["pid"]), "traced_app", "poll"])
        self.assertIn(f"{started:%H:%M}", text[1])
        self.assertEqual(row[-1], "t.wicprof")
        self.interrupt(process)
        self.assertEqual(self.sessions(), [])

    def test_fits_the_width(self):
        """Where there is no room for the trace's path, the path has a line of its own and stays whole."""
        folder = self.work / ("long" * 10)
        folder.mkdir()
        process = self.start_app(run_options=("--name", "halo", "-o", folder / "t.wicprof"), cwd=folder)
        for columns in (80, 120):
            lines = self.wic_prof("sessions", env={"COLUMNS": str(columns)}, cwd=folder).stdout.splitlines()
            self.assertEqual(len(lines), 2)
            self.assertLessEqual(max(map(len, lines)), columns)
        narrow = self.wic_prof("sessions", env={"COLUMNS": "80"}, cwd=self.runtime).stdout.splitlines()
        self.assertEqual(narrow[2], f"  trace {folder / 't.wicprof'}")
        self.assertLessEqual(max(map(len, narrow[:2])), 80)
        self.interrupt(process)

    def test_same_program_twice_gets_two_names(self):
        first = self.start_app()
        second = self.start("run", "--", harness.TRACED_APP, "--seconds", "30")
        self.until(lambda: [s["name"] for s in self.sessions()] == ["traced_app", "traced_app-2"], "two sessions")
        self.until(lambda: all(s["answers"] and s["wic_runtime"] for s in self.sessions()), "both programs")
        self.interrupt(first)
        self.interrupt(second)

    def test_name_in_use(self):
        process = self.start_app(run_options=("--name", "halo"))
        self.assert_refused(self.wic_prof("run", "--name", "halo", "--", "true"), 2, "halo", "--name")
        self.interrupt(process)

    def test_files_are_owner_only(self):
        process = self.start_app()
        folder = self.runtime / "wic-prof"
        self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
        for name in self.session_files():
            self.assertEqual(stat.S_IMODE((folder / name).stat().st_mode) & 0o077, 0, name)
        self.interrupt(process)


class ControlSocket(harness.Case):
    def exchange(self, data):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(harness.TIMEOUT)
            client.connect(str(self.runtime / "wic-prof" / "s.sock"))
            try:
                client.sendall(data)
                return client.makefile().readline()
            except ConnectionError:  # the server closed the connection early
                return ""

    def test_answers_malformed_requests_and_continues(self):
        process = self.start_app(run_options=("--name", "s"))
        for line in (b"\n", b"hello\n", b"[]\n", b'{"request":1}\n', b'{"request":"fly"}\n', b'{"request":"toggle"}\n',
                     b'{"request":"toggle","mode":3}\n', b'{"request":"toggle","mode":"park","strategy":"x"}\n',
                     b"\xff\xfe\n", b'{"request":"toggle","mode":"park","strategy":"auto","site":7}\n'):
            with self.subTest(line=line):
                answer = json.loads(self.exchange(line))
                self.assertIs(answer["ok"], False)
                self.assertTrue(answer["message"])
        self.assertEqual(self.exchange(b"x" * 100000), "")
        self.assertIs(json.loads(self.exchange(b'{"request":"status"}\n'))["ok"], True)
        self.interrupt(process)

    def test_long_folder(self):
        """Unix socket names hold 107 characters; folders may be longer."""
        self.runtime = self.runtime / ("x" * 100) / ("y" * 100)
        self.runtime.mkdir(parents=True)
        self.env["XDG_RUNTIME_DIR"] = str(self.runtime)
        process = self.start_app(run_options=("--name", "n" * 63))
        self.assertEqual(self.wic_prof("toggle", "park").returncode, 0)
        self.interrupt(process)


    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        self.addCleanup(client.close)
        client.settimeout(harness.TIMEOUT)
        client.connect(str(self.runtime / "wic-prof" / "s.sock"))
        return client

    def test_idle_clients_hold_up_nobody(self):
        process = self.start_app(run_options=("--name", "s"))
        # Each was served for a second, one after the other, before the next.
        idle = [self.connect() for _ in range(12)]
        for client in idle[:6]:
            client.sendall(b'{"request":')
        self.assertEqual(self.wic_prof("toggle", "park").returncode, 0)
        self.assertEqual(self.wic_prof("toggle", "poll").returncode, 0)
        self.assertIs(json.loads(self.exchange(b'{"request":"status"}\n'))["ok"], True)
        many = [self.connect() for _ in range(100)]  # more than are served at one time
        self.assertEqual(self.wic_prof("toggle", "park").returncode, 0)
        for client in many + idle:  # the silent ones are let go
            self.assertEqual(client.recv(1), b"")
        self.interrupt(process)

    def test_line_in_pieces_and_a_client_that_leaves(self):
        process = self.start_app(run_options=("--name", "s"))
        client = self.connect()
        for byte in b'{"request":"status"}\n':
            client.sendall(bytes([byte]))
        self.assertIs(json.loads(client.makefile().readline())["ok"], True)
        for _ in range(20):
            gone = self.connect()
            gone.sendall(b'{"request":"status"}\n')
            gone.close()
        self.assertIs(json.loads(self.exchange(b'{"request":"status"}\n'))["ok"], True)
        self.interrupt(process)


class RemovedFolder(harness.Case):
    def test_recorder_whose_working_folder_is_removed_goes_on(self):
        doomed = self.work / "doomed"
        doomed.mkdir()
        trace = self.work / "t.wicprof"
        process = subprocess.Popen([harness.WICPROF, "run", "-o", str(trace), "--", harness.TRACED_APP, "--seconds",
                                    "30"], cwd=doomed, env=self.env, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(process)
        self.until(lambda: any(s["answers"] and s["wic_runtime"] for s in self.sessions()), "the session")
        doomed.rmdir()
        session = self.sessions()[0]
        self.assertEqual((session["answers"], session["trace"], session["folder"]), (True, str(trace), None))
        self.assertEqual(self.wic_prof("toggle", "park", "--session", session["name"]).returncode, 0)
        self.interrupt(process)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_trace_in_the_removed_folder(self):
        doomed = self.work / "doomed"
        doomed.mkdir()
        process = subprocess.Popen([harness.WICPROF, "run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds",
                                    "0.5", "--status", "6"], cwd=doomed, env=self.env, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(process)
        self.until(lambda: any(s["answers"] and s["wic_runtime"] for s in self.sessions()), "the session")
        shutil.rmtree(doomed)
        self.assertIs(self.sessions()[0]["answers"], True)
        self.assertEqual(self.finish(process).returncode, 6)


class Toggle(harness.Case):
    def test_takes_effect_and_says_when(self):
        process = self.start_app(run_options=("-o", "t.wicprof"))
        text = self.wic_prof("toggle", "park")
        self.assertEqual((text.returncode, text.stderr), (0, ""))
        self.assertRegex(text.stdout, r"all its waits park now \(strategy auto\)")
        self.assertRegex(text.stdout,
                         r"(?m)^in effect \d+\.\d{3} ms after the request, \d+\.\d{3} s after the start of")
        toggled = self.wic_prof("toggle", "park", "--format=json", "--strategy=backoff", "--site", "left")
        answer = json.loads(toggled.stdout)
        self.assertEqual((answer["session"], answer["mode"], answer["strategy"], answer["site"]),
                         ("traced_app", "park", "backoff", "left"))
        self.assertEqual(answer["took_ns"], answer["effective_ns"] - answer["requested_ns"])
        self.assertGreaterEqual(answer["took_ns"], 0)
        self.assertEqual((answer["processes"], answer["span_ns"]), (1, 0))
        self.assertEqual(self.sessions()[0]["mode"], "park")
        self.assertEqual(self.wic_prof("toggle", "poll").returncode, 0)
        self.interrupt(process)
        comparison = json.loads(self.wic_prof("compare", "t.wicprof", "--format=json").stdout)
        self.assertEqual({s["mode"] for s in comparison["segments"]}, {"poll", "park"})

    def elsewhere(self):
        folder = self.folder / "elsewhere"
        folder.mkdir(exist_ok=True)
        return folder

    def test_says_which_program_it_changed_and_how_to_undo(self):
        process = self.start_app(run_options=("--name", "halo", "-o", "t.wicprof"))
        pid = self.sessions()[0]["pid"]
        said = self.wic_prof("toggle", "park").stdout
        self.assertIn(f"traced_app (pid {pid}, recorded into t.wicprof): all its waits park now", said)
        self.assertIn("\nundo: wic-prof toggle poll --session halo\n", said)
        self.assertIn("nothing to undo", self.wic_prof("toggle", "park").stdout)
        answer = json.loads(self.wic_prof("toggle", "poll", "--format=json").stdout)
        self.assertEqual((answer["pid"], answer["app"], answer["trace"]),
                         (pid, "traced_app", str(self.work / "t.wicprof")))
        self.assertEqual(answer["undo"], ["wic-prof toggle park --session halo"])
        self.interrupt(process)

    def test_the_undo_brings_back_every_site(self):
        process = self.start_app()
        for words in (["park", "--strategy=backoff"], ["poll", "--site", "left"]):
            self.assertEqual(self.wic_prof("toggle", *words).returncode, 0)
        changed = json.loads(self.wic_prof("toggle", "poll", "--format=json").stdout)
        ways = [{"site": None, "mode": "park", "strategy": "backoff"},
                {"site": "left", "mode": "poll", "strategy": "poll"}]
        self.assertEqual(changed["before"], ways)
        for command in changed["undo"]:
            result = self.wic_prof(*shlex.split(command)[1:])
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(self.wic_prof("toggle", "park", "--format=json").stdout)["before"], ways)
        self.interrupt(process)

    def test_unasked_it_leaves_a_program_of_another_folder_alone(self):
        process = self.start_app(run_options=("--name", "halo", "-o", "t.wicprof"), start_new_session=True)
        session = self.sessions()[0]
        self.assertIsNone(session["terminal"])
        for words in (["park"], ["ab"]):
            refused = self.wic_prof("toggle", *words, cwd=self.elsewhere())
            self.assert_refused(refused, 2, "halo", session["pid"], session["trace"], session["mode"],
                                f"wic-prof toggle {words[0]} --session halo")
        self.assertEqual(self.sessions()[0]["mode"], "poll")
        named = self.wic_prof("toggle", "park", "--session", "halo", cwd=self.elsewhere())
        self.assertEqual(named.returncode, 0, named.stderr)
        self.interrupt(process)

    def test_unasked_it_changes_the_program_of_this_folder_beside_others(self):
        here = self.start_app(run_options=("--name", "here"))
        there = self.start_app(run_options=("--name", "there"), cwd=self.elsewhere(), start_new_session=True)
        self.assertEqual(self.wic_prof("toggle", "park").returncode, 0)
        self.assertEqual({s["name"]: s["mode"] for s in self.sessions()}, {"here": "park", "there": "poll"})
        self.interrupt(here)
        self.interrupt(there)

    def test_unasked_it_changes_the_program_of_this_terminal(self):
        """One shell on a terminal starts a program, goes to another folder and toggles there."""
        ready = self.folder / "ready"
        script = (f"trap '' INT; {harness.WICPROF} run --name halo -o t.wicprof -- {harness.TRACED_APP} --seconds 30 & "
                  f"cd {self.elsewhere()}; until [ -e {ready} ]; do sleep 0.05; done; "
                  f"{harness.WICPROF} toggle park; wait")
        main_end, terminal = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

        shell = subprocess.Popen(["sh", "-c", script], cwd=self.work, env=self.env, text=True, preexec_fn=take_terminal,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(shell)
        self.until(lambda: any(s["answers"] and s["wic_runtime"] for s in self.sessions()), "the session")
        self.assertRegex(self.sessions()[0]["terminal"], r"^pts/\d+$")
        ready.touch()
        self.until(lambda: self.sessions()[0]["mode"] == "park", "the change")
        os.kill(self.sessions()[0]["wic_prof_pid"], signal.SIGTERM)
        out, err = shell.communicate(timeout=harness.TIMEOUT)
        self.assertIn("all its waits park now", out, err)
        os.close(main_end)
        os.close(terminal)

    def test_a_run_that_does_not_say_where_it_started_is_left_alone(self):
        """A session of an older wic-prof answers without folder, terminal and user."""
        folder = self.runtime / "wic-prof"
        folder.mkdir(mode=0o700)
        process = self.start_app(run_options=("--name", "old"))
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(folder / "old.sock"))
            client.sendall(b'{"request":"status"}\n')
            answer = json.loads(client.makefile().readline())
        for field in ("started_ns", "started_utc", "folder", "terminal", "user"):
            del answer["status"][field]
        os.rename(folder / "old.sock", folder / "hidden.sock")
        server = subprocess.Popen(["python3", "-c", OLD_SERVER, folder / "old.sock", json.dumps(answer)])
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.until(lambda: (folder / "old.sock").exists(), "the old session")
        self.assert_refused(self.wic_prof("toggle", "park"), 2, "old", "--session")
        listed = self.sessions()[0]
        self.assertEqual((listed["answers"], listed["folder"], listed["started_utc"]), (True, None, None))
        os.rename(folder / "hidden.sock", folder / "old.sock")
        self.interrupt(process)

    def test_without_a_session(self):
        self.assert_refused(self.wic_prof("toggle", "park"), 2, "no session is running", "wic-prof run")

    def test_unknown_session(self):
        process = self.start_app(run_options=("--name", "halo"))
        self.assert_refused(self.wic_prof("toggle", "park", "--session", "hello"), 2, "hello", "sessions are halo")
        self.interrupt(process)

    def test_several_sessions_and_none_named(self):
        first = self.start_app(run_options=("--name", "one"))
        second = self.start_app(run_options=("--name", "two"))
        self.assert_refused(self.wic_prof("toggle", "park"), 2, "one, two", "--session")
        self.assertEqual(self.wic_prof("toggle", "park", "--session=two").returncode, 0)
        self.assertEqual([s["mode"] for s in self.sessions()], ["poll", "park"])
        self.interrupt(first)
        self.interrupt(second)

    def test_unknown_site(self):
        process = self.start_app()
        self.assert_refused(self.wic_prof("toggle", "park", "--site", "middle"), 2, "middle", "left, right")
        self.interrupt(process)

    def test_program_without_sites(self):
        process = self.start_app("--sites", 0)
        self.assert_refused(self.wic_prof("toggle", "park"), 3, "no wait sites")
        self.interrupt(process)

    def test_program_without_a_runtime(self):
        process = self.start_app("--no-runtime")
        self.assert_refused(self.wic_prof("toggle", "park"), 3, "no wic runtime")
        self.interrupt(process)

    def test_program_that_does_not_answer(self):
        process = self.start_app("--ignore-toggles")
        self.assert_refused(self.wic_prof("toggle", "park"), 3, "did not apply the change")
        self.interrupt(process)

    def test_stopped_run(self):
        process = self.start_app(run_options=("--name", "s"))
        process.send_signal(signal.SIGSTOP)
        self.assert_refused(self.wic_prof("toggle", "park"), 3, "no answer")
        self.assertIs(self.sessions()[0]["answers"], False)
        process.send_signal(signal.SIGCONT)
        self.until(lambda: self.sessions()[0]["answers"], "the run to continue")
        self.interrupt(process)


if __name__ == "__main__":
    harness.main()
