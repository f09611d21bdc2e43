"""Others remove, move, replace, empty, cut or lock the files of a trace that is being recorded: the program keeps its
exit status, and the trace is whole, or its loss is announced, and no other trace is taken for it."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import harness

STATUS = 7


class Case(harness.Case):
    def begin(self, *options, seconds=1.5, status=STATUS, app=()):
        process = self.start("run", "-q", "-f", "-o", "t.wicprof", *options, "--", harness.TRACED_APP, "--seconds",
                             seconds, "--status", status, *app)
        self.until(lambda: (self.work / "t.wicprof-wal").exists() and self.session_files(), "the trace")
        self.until(lambda: self.waits() > 100, "waits")
        return process

    def waits(self):
        return next((s["waits"] for s in self.sessions() if s["answers"]), 0)

    def program_ended(self):
        return not any(command.startswith(harness.TRACED_APP.encode()) for _, command in self.processes())

    def finished(self, process, status=STATUS):
        result = self.finish(process)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def assert_whole(self, name="t.wicprof", losses=()):
        """The trace can be read, and is complete but for these losses."""
        answer = self.wic_prof("analyze", "--format=json", name)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        lost = {loss["name"] for loss in json.loads(answer.stdout)["loss"]}
        self.assertLessEqual(lost, set(losses))
        self.assertEqual(self.meta(name)["state"], "complete")
        self.assertEqual(self.query(name, "PRAGMA integrity_check"), [("ok",)])
        waits, last = self.query(name, "SELECT count(*), max(iteration) FROM wait WHERE site_id = 1")[0]
        if not losses:
            self.assertEqual(waits, last)
        return waits


class Names(Case):
    def test_removed(self):
        for names in (["t.wicprof"], ["t.wicprof", "t.wicprof-wal", "t.wicprof-shm"]):
            with self.subTest(names=names):
                process = self.begin()
                for name in names:
                    (self.work / name).unlink()
                result = self.finished(process)
                self.assertIn("removed while it was recorded, and is written again", result.stderr)
                self.assertGreater(self.assert_whole(), 200)
                self.assertEqual(self.traces(), ["t.wicprof"])

    def test_copied_while_recorded(self):
        """With its log the copy is a trace; without it, the answer says what is missing, as often as one asks."""
        process = self.begin()
        self.until(lambda: self.waits() > 200, "waits")
        for name in ("t.wicprof", "t.wicprof-wal"):
            shutil.copy(self.work / name, self.work / name.replace("t.", "both."))
        shutil.copy(self.work / "t.wicprof", self.work / "alone.wicprof")
        before = (self.work / "alone.wicprof").read_bytes()
        for verb in (["analyze"], ["analyze"], ["report", "--format", "md"]):
            result = self.wic_prof(*verb, "alone.wicprof")
            self.assertEqual(result.returncode, 0, result.stderr)
            for said in (result.stdout, result.stderr):
                self.assertIn("alone.wicprof-wal is missing", said.replace("\\-", "-"))
        self.assertEqual((self.work / "alone.wicprof").read_bytes(), before)
        result = self.wic_prof("analyze", "both.wicprof")
        self.assertNotIn("-wal is missing", result.stdout + result.stderr)
        self.finished(process)
        self.assertNotIn("missing", self.wic_prof("analyze", "t.wicprof").stdout)

    def test_only_the_log_or_its_index_removed(self):
        for name in ("t.wicprof-wal", "t.wicprof-shm"):
            with self.subTest(name=name):
                process = self.begin()
                (self.work / name).unlink()
                self.finished(process)
                self.assertGreater(self.assert_whole(), 200)
                self.assertEqual(self.traces(), ["t.wicprof"])

    def test_removed_with_its_folder(self):
        folder = self.work / "folder"
        folder.mkdir()
        process = self.start("run", "-q", "-o", "folder/t.wicprof", "--", harness.TRACED_APP, "--seconds", 1)
        self.until(lambda: (folder / "t.wicprof-wal").exists() and self.waits() > 100, "waits")
        shutil.rmtree(folder)
        result = self.finished(process, 3)
        self.assertIn("THE TRACE IS LOST", result.stderr)

    def test_moved(self):
        process = self.begin()
        (self.work / "t.wicprof").rename(self.work / "elsewhere.wicprof")
        result = self.finished(process)
        self.assertIn("was moved to", result.stderr)
        self.assertGreater(self.assert_whole("elsewhere.wicprof"), 200)
        self.assertEqual(self.traces(), ["elsewhere.wicprof"])

    def test_replaced_by_another_trace(self):
        for status, expected in ((STATUS, STATUS), (0, 3)):
            with self.subTest(status=status):
                other = self.record("other.wicprof", "--burst", 5)
                process = self.begin(status=status)
                other.rename(self.work / "t.wicprof")
                result = self.finished(process, expected)
                self.assertIn("THE TRACE IS LOST: another file took the name t.wicprof", result.stderr)
                self.assertIn("what was recorded is in t.recovered.wicprof", result.stderr)
                self.assertGreater(self.assert_whole("t.recovered.wicprof"), 200)
                self.assertLess(self.assert_whole(), 400)
                self.assertEqual(self.traces(), ["t.recovered.wicprof", "t.wicprof"])
                (self.work / "t.recovered.wicprof").unlink()

    def test_no_summary_of_anothers_trace(self):
        other = self.record("other.wicprof", "--burst", 5)
        process = self.start("run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", 1)
        self.until(lambda: (self.work / "t.wicprof-wal").exists() and self.waits() > 100, "waits")
        other.rename(self.work / "t.wicprof")
        result = self.finished(process, 3)
        self.assertNotIn("wic-prof analyze t.wicprof", result.stderr)
        self.assertIn("THE TRACE IS LOST", result.stderr)

    def test_a_large_trace_replaced_by_another(self):
        # Beyond 100,000 events a second connection reads the trace while it is completed.
        other = self.record("other.wicprof", "--burst", 5)
        process = self.start("run", "-q", "-o", "t.wicprof", "--", "sh", "-c",
                             f"{harness.TRACED_APP} --burst 40000; while [ ! -e go ]; do sleep 0.02; done; exit 7")
        self.until(lambda: (self.work / "t.wicprof-wal").exists() and self.waits() > 50_000, "waits")
        self.until(self.program_ended, "the program's end")
        other.rename(self.work / "t.wicprof")
        (self.work / "go").touch()
        self.finished(process)
        self.assertGreaterEqual(self.assert_whole("t.recovered.wicprof", losses=["ring_dropped"]), 25_000)

    def test_emptied(self):
        for status, expected in ((STATUS, STATUS), (0, 3)):
            with self.subTest(status=status):
                process = self.begin(status=status)
                os.truncate(self.work / "t.wicprof", 0)
                result = self.finished(process, expected)
                self.assertIn("THE TRACE IS LOST: t.wicprof was emptied while it was recorded", result.stderr)
                self.assertNotIn("free some space", result.stderr)
                self.assertEqual(self.traces(), ["t.wicprof"])
                self.assert_refused(self.wic_prof("analyze", "t.wicprof"), 2)


class Index(Case):
    def test_cut(self):
        process = self.begin(seconds=2)
        reader = self.start("analyze", "--format=json", "t.wicprof")
        for _ in range(10):
            os.truncate(self.work / "t.wicprof-shm", 0)
            time.sleep(0.05)
        answer = self.wic_prof("analyze", "--format=json", "t.wicprof")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(self.finish(reader).returncode, 0)
        self.finished(process)
        self.assertGreater(self.assert_whole(losses=["store_lost"]), 200)

    def test_readers_of_a_live_trace(self):
        process = self.begin(seconds=2)
        before = self.waits()
        os.truncate(self.work / "t.wicprof-shm", 0)
        self.until(lambda: self.waits() > before + 500, "more waits")
        answer = self.wic_prof("analyze", "--format=json", "t.wicprof")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        seen = sum(site["count"] for site in json.loads(answer.stdout)["sites"])
        self.assertGreater(seen, before + 200)
        self.finished(process)

    def test_cut_log(self):
        process = self.begin()
        os.truncate(self.work / "t.wicprof-wal", 0)
        result = self.finished(process)
        self.assertRegex(result.stderr, r"THE TRACE IS INCOMPLETE: .*others cut its log.* [0-9]+ events are lost")
        self.assertNotIn("free some space", result.stderr)
        self.assert_whole(losses=["store_lost", "store_stopped"])
        self.assertGreater(self.stats("t.wicprof")["store_lost"], 200)


HOLD = """
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
database.execute("ROLLBACK")
"""


class Locks(Case):
    def hold(self, seconds):
        holder = subprocess.Popen([sys.executable, "-B", "-c", HOLD, self.work / "t.wicprof", str(seconds)], text=True,
                                  stdout=subprocess.PIPE, env=self.env)
        self.started.append(holder)
        self.assertEqual(holder.stdout.readline(), "locked\n")
        return holder

    def test_recording_goes_on_after_a_lock(self):
        process = self.begin(seconds=60)
        holder = self.hold(5.5)  # SQLite's own patience was 5 s
        before = self.waits()
        holder.wait(timeout=harness.TIMEOUT)
        self.until(lambda: self.waits() > before + 1000, "waits after the lock")
        self.end_program(process)
        result = self.finished(process, 128 + signal.SIGKILL)
        self.assertRegex(result.stderr, rf"t.wicprof is locked by python[0-9.]* \(process {holder.pid}\)")
        self.assertNotIn("RECORDING STOPPED", result.stderr)
        self.assertGreater(self.assert_whole(), 1000)

    def end_program(self, process):
        os.kill(next(s["pid"] for s in self.sessions()), signal.SIGKILL)
        self.until(self.program_ended, "the program's end")

    def test_a_lock_beyond_the_programs_end(self):
        process = self.begin(seconds=60)
        holder = self.hold(3)
        self.end_program(process)
        result = self.finished(process, 128 + signal.SIGKILL)
        self.assertEqual(holder.wait(timeout=harness.TIMEOUT), 0)
        self.assertNotIn("INCOMPLETE", result.stderr)
        self.assert_whole()

    def test_an_interruption_ends_the_wait(self):
        process = self.begin(seconds=60)
        holder = self.hold(60)
        self.end_program(process)

        def ended():  # wic-prof may take the first for the program
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            return process.poll() is not None

        self.until(ended, "the end of the wait")
        self.assertIsNone(holder.poll())
        holder.kill()
        result = self.finished(process, 128 + signal.SIGKILL)
        self.assertIn(f"(process {holder.pid})", result.stderr)
        self.assertIn("THE TRACE IS INCOMPLETE", result.stderr)
        self.assertNotIn("free some space", result.stderr)
        self.assertEqual(self.wic_prof("analyze", "--format=json", "t.wicprof").returncode, 0)


if __name__ == "__main__":
    harness.main()
