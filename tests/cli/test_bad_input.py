"""Bad input: each kind has its exit status and a message with object and cure; no files are left behind."""

import gzip
import os
import sqlite3
import subprocess
import unittest

import harness

READERS = (["analyze", "FILE"], ["why", "FILE"], ["compare", "FILE"], ["report", "FILE", "--format", "md"])


class TraceFile(harness.Case):
    def refused_by_all(self, name, *words):
        for verb in READERS:
            with self.subTest(verb=verb[0]):
                result = self.wic_prof(*[name if word == "FILE" else word for word in verb])
                self.assert_refused(result, 2, name, *words)

    def test_a_folder_is_called_a_folder(self):
        (self.work / "folder").mkdir()
        (self.work / "file").write_text("x")
        for command in (["analyze"], ["why"], ["compare"], ["report", "--format", "csv", "-o", "-"], ["gui"],
                        ["rewrite"], ["ci", "--config"]):
            rest = ["--", "true"] if command[0] == "ci" else []
            self.assert_refused(self.wic_prof(*command, "folder", *rest), 2, "folder is a folder")
            result = self.wic_prof(*command, "file/x", *rest)
            self.assert_refused(result, 2, "Not a directory")
            self.assertNotIn("exist", result.stderr)

    def test_missing(self):
        self.refused_by_all("none.wicprof")

    def test_not_a_trace(self):
        (self.work / "text.wicprof").write_text("this is a letter, not a trace\n" * 100)
        self.refused_by_all("text.wicprof")

    def test_empty(self):
        (self.work / "empty.wicprof").touch()
        self.refused_by_all("empty.wicprof")

    def test_folder(self):
        (self.work / "folder.wicprof").mkdir()
        self.refused_by_all("folder.wicprof")

    def test_another_database(self):
        with sqlite3.connect(self.work / "other.wicprof") as database:
            database.execute("CREATE TABLE wait (id INTEGER)")
        self.refused_by_all("other.wicprof")

    def test_truncated(self):
        whole = self.record("whole.wicprof").read_bytes()
        for share in (0.05, 0.5, 0.95):
            with self.subTest(share=share):
                (self.work / "cut.wicprof").write_bytes(whole[: int(len(whole) * share)])
                self.refused_by_all("cut.wicprof")

    def test_newer_version(self):
        trace = self.record("newer.wicprof")
        with sqlite3.connect(trace) as database:
            database.execute("PRAGMA user_version = 9999")
        self.refused_by_all("newer.wicprof", "9999")

    def test_second_file_of_a_comparison(self):
        self.record("good.wicprof")
        (self.work / "bad.wicprof").write_text("no")
        self.assert_refused(self.wic_prof("compare", "good.wicprof", "bad.wicprof"), 2, "bad.wicprof")


class Cures(harness.Case):
    """A message names the cure of its cause, not of another."""

    def test_missing_table(self):
        trace = self.record("t.wicprof", "--seconds", "0.1")
        with sqlite3.connect(trace) as database:
            database.execute("DROP TABLE wait")
        for verb in READERS:
            result = self.wic_prof(*["t.wicprof" if word == "FILE" else word for word in verb])
            self.assert_refused(result, 2, "t.wicprof", "record again")
            self.assertNotIn("copy it to a folder", result.stderr)

    def with_descriptors(self, count, *words):
        return subprocess.run(["sh", "-c", f'ulimit -n {count}; exec "$@"', "sh", harness.WICPROF, *map(str, words)],
                              cwd=self.work, env=self.env, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=harness.TIMEOUT)

    def test_too_few_descriptors(self):
        self.record("t.wicprof", "--seconds", "0.1")
        for count in range(3, 8):
            result = self.with_descriptors(count, "analyze", "t.wicprof")
            with self.subTest(verb="analyze", count=count):
                if result.returncode != 0 and "loading shared libraries" not in result.stderr:
                    self.assert_refused(result, 3, "ulimit -n")
        for count in range(3, 20):
            (self.work / "started").unlink(missing_ok=True)
            result = self.with_descriptors(count, "run", "-q", "-f", "-o", "r.wicprof", "--", "touch", "started")
            with self.subTest(verb="run", count=count):
                if result.returncode != 0 and "loading shared libraries" not in result.stderr:
                    self.assert_refused(result, 3, "ulimit -n")
                    self.assertFalse((self.work / "started").exists())
                    self.assertFalse((self.work / "r.wicprof").exists())
                (self.work / "r.wicprof").unlink(missing_ok=True)

    def test_bad_temporary_folder(self):
        trace = self.record("t.wicprof", "--seconds", "0.1")
        with gzip.open(self.work / "t.wicprof.gz", "wb") as packed:
            packed.write(trace.read_bytes())
        for folder in (self.work / "missing", trace):
            result = self.wic_prof("analyze", "t.wicprof.gz", env={"TMPDIR": str(folder)})
            self.assert_refused(result, 3, "t.wicprof.gz", folder, "TMPDIR")
            self.assertNotIn("Success", result.stderr)
        self.assertEqual(self.wic_prof("analyze", "t.wicprof.gz", env={"TMPDIR": ""}).returncode, 0)

    def test_tolerance_that_is_no_share(self):
        self.record("t.wicprof", "--seconds", "0.1")
        for value in ("nan", "NaN", "-nan", "inf", "-inf", "-0.1", "1", "1e300", "x"):
            with self.subTest(value=value):
                self.assert_refused(self.wic_prof("compare", "t.wicprof", f"--tolerance={value}"), 2, "tolerance",
                                    value)
        for value in ("0", "0.99", "0.02"):
            self.assertEqual(self.wic_prof("compare", "t.wicprof", f"--tolerance={value}").returncode, 0)

    def test_other_numbers_that_are_none(self):
        for words in (["--ab", "--precision", "nan%"], ["--ab", "--for", "nans"], ["--delay", "nans"],
                      ["--duration", "inf"], ["--max-size", "nanG"], ["--schedule", "poll:nans"],
                      ["--keep-last", "infs"], ["--buffer-size", "nan"]):
            with self.subTest(words=words):
                self.assert_refused(self.wic_prof("run", *words, "--", "touch", "started"), 2)
        self.assertFalse((self.work / "started").exists())


class Output(harness.Case):
    """Detected before the program starts."""

    def refused(self, output, status, *words):
        result = self.wic_prof("run", "-o", output, "--", "touch", self.work / "started")
        self.assert_refused(result, status, *words)
        self.assertFalse((self.work / "started").exists(), "the program was started")

    def test_missing_folder(self):
        self.refused("nowhere/t.wicprof", (2, 3), "nowhere/t.wicprof")

    def test_folder_without_write_access(self):
        self.refused("/proc/t.wicprof", (2, 3), "/proc/t.wicprof")

    @unittest.skipIf(os.geteuid() == 0, "root writes into read-only folders")
    def test_read_only_folder(self):
        locked = self.work / "locked"
        locked.mkdir(mode=0o500)
        self.refused("locked/t.wicprof", (2, 3), "locked/t.wicprof")

    def test_stdout(self):
        self.refused("-", 2, "wic-prof report")

    def test_unknown_placeholder(self):
        self.refused("%z.wicprof", 2, "%z.wicprof", "%p")

    def test_variable_that_is_not_set(self):
        self.refused("%q{NOT_SET_HERE}.wicprof", 2, "NOT_SET_HERE")

    def test_of_a_report(self):
        self.record("t.wicprof")
        (self.work / "existing.md").write_text("mine")
        report = ("report", "t.wicprof", "--format", "md", "-o")
        self.assert_refused(self.wic_prof(*report, "existing.md"), 2, "existing.md", "-f")
        self.assertEqual((self.work / "existing.md").read_text(), "mine")
        self.assert_refused(self.wic_prof(*report, "no/existing.md"), 2, "no/existing.md")
        self.assertEqual(sorted(os.listdir(self.work)), ["existing.md", "t.wicprof"])


class Program(harness.Case):
    def refused(self, program, *words):
        self.assert_refused(self.wic_prof("run", "--", program), 2, program, *words)
        self.assertEqual(self.traces(), [])

    def test_missing(self):
        self.refused("no-such-program", "PATH")
        self.refused("./no-such-program", "No such file")

    def test_not_executable(self):
        (self.work / "plain").write_text("#!/bin/sh\n")
        self.refused("./plain", "chmod +x")

    def test_program_is_a_folder(self):
        self.refused("/tmp", "not a regular file")

    def test_not_a_program(self):
        (self.work / "garbage").write_bytes(b"\x01\x02 not a program")
        (self.work / "garbage").chmod(0o755)
        self.refused("./garbage", "Exec format error")

    def test_missing_from_the_command_line(self):
        self.assert_refused(self.wic_prof("run", "-q"), 2, "wic-prof run -- APP")

    def test_crashes_at_once(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--", "sh", "-c", "kill -SEGV $$")
        self.assertEqual(result.returncode, 128 + 11)
        self.assertIn("killed by signal 11 (Segmentation fault)", result.stderr)
        self.assertEqual(self.wic_prof("analyze", "t.wicprof").returncode, 0)


class SharedMemory(harness.Case):
    def test_none_left(self):
        result = self.wic_prof("run", "--buffer-size", 1 << 36, "--", "touch", "started")
        self.assert_refused(result, 3, "shared memory", "--buffer-size")
        self.assertEqual(os.listdir(self.work), [])

    def test_session_folder_cannot_be_created(self):
        self.env["XDG_RUNTIME_DIR"] = str(self.folder / "missing")
        result = self.wic_prof("run", "--", "touch", "started")
        self.assert_refused(result, 3, "XDG_RUNTIME_DIR")
        self.assertEqual(os.listdir(self.work), [])
        self.assertEqual(self.wic_prof("doctor").returncode, 3)


class Usage(harness.Case):
    def test_errors(self):
        for words, expected in (
            (["frobnicate"], "unknown verb 'frobnicate'"),
            ([], "name one of these verbs"),
            (["run", "--frobnicate", "--", "true"], "--frobnicate"),
            (["run", "--mode", "sideways", "--", "true"], "sideways"),
            (["run", "--mode", "poll", "--strategy", "backoff", "--", "true"], "--strategy"),
            (["run", "--mode", "park", "--strategy", "sideways", "--", "true"], "predicted_sleep"),
            (["run", "--schedule", "poll", "--", "true"], "poll:2s"),
            (["run", "--schedule", "poll:2", "--", "true"], "ms, s and m"),
            (["run", "--schedule", "poll:-1s", "--", "true"], "poll:-1s"),
            (["run", "--schedule", "poll:1s,", "--", "true"], "poll:1s,"),
            (["run", "--schedule", "poll:1s", "--mode", "park", "--", "true"], "--mode"),
            (["run", "--buffer-size", "0", "--", "true"], "--buffer-size"),
            (["run", "--name", "a/b", "--", "true"], "a/b"),
            (["analyze"], "wic-prof analyze --help"),
            (["analyze", "a", "--format", "csv"], "csv"),
            (["report", "a"], "--format"),
            (["report", "a", "--format", "pdf"], "pdf"),
            (["toggle"], "MODE"),
            (["toggle", "sideways"], "sideways"),
        ):
            with self.subTest(words=words):
                self.assert_refused(self.wic_prof(*words), 2, expected)
                self.assertEqual(os.listdir(self.work), [])


if __name__ == "__main__":
    harness.main()
