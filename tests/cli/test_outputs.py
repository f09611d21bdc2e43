"""Where outputs go: devices and FIFOs stay what they are, links are not followed into, one recorder per trace."""

import os
import pathlib
import resource
import stat
import subprocess
import threading
import unittest

import harness

AS_ROOT = os.geteuid() == 0


class Devices(harness.Case):
    def null(self):
        """A /dev/null that a mistake may destroy."""
        path = self.work / "null"
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            path.open("w").close()
        except OSError:
            self.skipTest("this user may not make a usable device")
        return path

    def test_trace_never_replaces_a_device(self):
        path = self.null()
        for options in ((), ("-f",)):
            result = self.wic_prof("run", *options, "-o", path, "--", "touch", "started")
            self.assert_refused(result, 2, path)
            self.assertTrue(stat.S_ISCHR(path.lstat().st_mode))
        self.assertFalse((self.work / "started").exists())

    def test_trace_never_replaces_a_link_or_a_fifo(self):
        os.mkfifo(self.work / "fifo")
        (self.work / "link").symlink_to("/dev/null")
        (self.work / "old").write_text("old")
        (self.work / "link-to-file").symlink_to("old")
        for name in ("fifo", "link", "link-to-file"):
            with self.subTest(name=name):
                before = (self.work / name).lstat()
                self.assert_refused(self.wic_prof("run", "-f", "-o", name, "--", "true"), 2, name)
                self.assertEqual((self.work / name).lstat().st_ino, before.st_ino)
        self.assertEqual((self.work / "old").read_text(), "old")

    def test_report_is_written_into_a_device(self):
        self.record("t.wicprof", "--seconds", "0.1")
        path = self.null()
        for options in ((), ("-f",)):
            result = self.wic_prof("report", "t.wicprof", "--format", "md", *options, "-o", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(stat.S_ISCHR(path.lstat().st_mode))
        self.assert_refused(self.wic_prof("analyze", "t.wicprof", "-f", "-o", "/dev/full"), 3, "/dev/full")

    def test_report_takes_the_format_from_the_name(self):
        self.record("t.wicprof", "--seconds", "0.1")
        for name, begin in (("r.html", "<!doctype html>"), ("r.md", "# "), ("r.json", "{"), ("r.csv", "site,"),
                            ("r.perfetto.json", '{"')):
            with self.subTest(name=name):
                result = self.wic_prof("report", "t.wicprof", "-o", name)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual((self.work / name).read_text()[:len(begin)].lower(), begin)
        self.assertIn("traceEvents", (self.work / "r.perfetto.json").read_text())
        self.assertNotIn("traceEvents", (self.work / "r.json").read_text())
        self.assertEqual(self.wic_prof("report", "t.wicprof", "--format", "md", "-o", "r.txt").returncode, 0)
        self.assert_refused(self.wic_prof("report", "t.wicprof"), 2, "-o report.html", "--format html, md")
        self.assert_refused(self.wic_prof("report", "t.wicprof", "-o", "r.pdf"), 2, "-o report.html")
        self.assertFalse((self.work / "r.pdf").exists())

    def test_report_goes_into_a_fifo_and_to_dev_stdout(self):
        self.record("t.wicprof", "--seconds", "0.1")
        os.mkfifo(self.work / "fifo")
        read = []
        reader = threading.Thread(target=lambda: read.append((self.work / "fifo").read_text()))
        reader.start()
        self.assertEqual(self.wic_prof("report", "t.wicprof", "--format", "md", "-o", "fifo").returncode, 0)
        reader.join()
        self.assertTrue(stat.S_ISFIFO((self.work / "fifo").lstat().st_mode))
        self.assertTrue(read[0])
        result = self.wic_prof("report", "t.wicprof", "--format", "md", "-o", "/dev/stdout")
        self.assertEqual((result.returncode, result.stdout), (0, read[0]), result.stderr)
        with open(self.work / "out.md", "w") as out:
            subprocess.run([harness.WICPROF, "report", "t.wicprof", "--format", "md", "-f", "-o", "/dev/stdout"],
                           cwd=self.work, env=self.env, stdout=out, check=True)
        self.assertEqual((self.work / "out.md").read_text(), read[0])
        self.assertTrue(pathlib.Path("/dev/stdout").is_symlink())

    def test_report_replaces_the_file_behind_a_link(self):
        self.record("t.wicprof", "--seconds", "0.1")
        (self.work / "old.md").write_text("old")
        (self.work / "link.md").symlink_to("old.md")
        self.assert_refused(self.wic_prof("report", "t.wicprof", "--format", "md", "-o", "link.md"), 2, "link.md")
        self.assertEqual(self.wic_prof("report", "t.wicprof", "--format", "md", "-f", "-o", "link.md").returncode, 0)
        self.assertTrue((self.work / "link.md").is_symlink())
        self.assertNotEqual((self.work / "old.md").read_text(), "old")


class PlantedLinks(harness.Case):
    def test_temporary_file_of_a_report(self):
        """wic-prof's process number is known here in advance: the shell becomes wic-prof."""
        self.record("t.wicprof", "--seconds", "0.1")
        (self.work / "victim").write_text("precious")
        script = 'ln -s victim "r.md.$$.part"; exec "$0" report t.wicprof --format md -o r.md'
        result = subprocess.run(["sh", "-c", script, harness.WICPROF], cwd=self.work, env=self.env, capture_output=True,
                                text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.work / "victim").read_text(), "precious")
        self.assertFalse((self.work / "r.md").is_symlink())
        self.assertIn("left", (self.work / "r.md").read_text())

    def test_log_of_a_gate(self):
        (self.work / "victim").write_text("precious")
        folder = self.work / "wic-prof-ci"
        folder.mkdir()
        (folder / "run.1.log").symlink_to("../victim")
        (self.work / "c.toml").write_text("[run]\nrepeat = 1\n[limits]\nwait_share = 1.0\n")
        for options in ((), ("-f",)):
            result = self.wic_prof("ci", *options, "-c", "c.toml", "--", harness.TRACED_APP, "--seconds", "0.1")
            self.assertNotEqual(result.returncode, 0)
            self.assertEqual((self.work / "victim").read_text(), "precious")


class TwoRecorders(harness.Case):
    def test_second_recording_into_one_file_is_refused(self):
        process = self.start_app(run_options=("-o", "t.wicprof"))
        result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--", "touch", "started")
        self.assert_refused(result, 2, "t.wicprof", "is being recorded")
        self.assertFalse((self.work / "started").exists())
        self.assertEqual(len(self.sessions()), 1)
        self.interrupt(process)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        self.assertGreater(self.number("t.wicprof", "SELECT count(*) FROM wait"), 0)
        again = self.wic_prof("run", "-f", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", "0.1")
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_after_a_killed_recorder(self):
        process = self.start_app(run_options=("-o", "t.wicprof"), seconds=0.5)
        process.kill()
        process.wait()
        self.until(lambda: self.processes() == [], "the program's end")
        result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", "0.1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.sessions()


class Names(harness.Case):
    def test_program_with_a_percent_sign(self):
        for name in ("100%", "%p%q", "50%h"):
            (self.work / name).write_text("#!/bin/sh\nexit 5\n")
            (self.work / name).chmod(0o755)
            with self.subTest(name=name):
                result = self.wic_prof("run", "--", "./" + name)
                self.assertEqual(result.returncode, 5, result.stderr)
                self.assertEqual(len([t for t in self.traces() if t.startswith(name + ".")]), 1, self.traces())
                self.assertEqual(self.wic_prof("run", "-q", "--repeat", 1, "-o", "r.%%.wicprof", "-f", "--",
                                               "./" + name).returncode, 5)

    def test_folder_of_a_gate_with_a_percent_sign(self):
        (self.work / "c.toml").write_text("[run]\nrepeat = 1\n[limits]\nwait_share = 1.0\n")
        result = self.wic_prof("ci", "-c", "c.toml", "-o", "100%%", "--", harness.TRACED_APP, "--seconds", "0.1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.work / "100%" / "junit.xml").exists())


class RuntimeFolder(harness.Case):
    @unittest.skipUnless(AS_ROOT, "only root can give a folder to another user")
    def test_root_leaves_another_users_runtime_folder_alone(self):
        nobody = 65534
        os.chown(self.runtime, nobody, nobody)
        result = self.wic_prof("run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", "0.1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(list(self.runtime.iterdir()), [])

    @unittest.skipUnless(AS_ROOT, "only root can give a folder to another user")
    def test_folder_of_another_user_is_refused_with_the_cure(self):
        (self.runtime / "wic-prof").mkdir()
        os.chown(self.runtime / "wic-prof", 65534, 65534)
        self.assert_refused(self.wic_prof("sessions"), 3, "wic-prof", "remove it", "XDG_RUNTIME_DIR")


class FileSizeLimit(harness.Case):
    """ulimit -f: the signal SIGXFSZ would kill wic-prof."""

    LIMIT = 11 << 19

    def limited(self, *words, limit=LIMIT):
        return subprocess.run([harness.WICPROF, *map(str, words)], cwd=self.work, env=self.env, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))

    def test_recording_stops_and_the_trace_is_readable(self):
        script = 'for i in 1 2 3 4 5 6 7 8; do "$0" --burst 60000 --seconds 0.1 >/dev/null; done; exit 7'
        result = self.limited("run", "--buffer-size", 4, "-o", "t.wicprof", "--", "sh", "-c", script,
                              harness.TRACED_APP)
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertIn("RECORDING STOPPED", result.stderr)
        self.assertIn("ulimit -f", result.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        self.assertGreater(self.number("t.wicprof", "SELECT count(*) FROM wait"), 100)
        self.assertGreater(self.stats("t.wicprof")["store_lost"], 0)
        self.assertLessEqual((self.work / "t.wicprof").stat().st_size, self.LIMIT)

    def test_program_keeps_its_own_handling(self):
        result = self.limited("run", "--buffer-size", 4, "-q", "-o", "t.wicprof", "--", "sh", "-c",
                              "exec head -c 20000000 /dev/zero > big")
        self.assertEqual(result.returncode, 128 + 25, result.stderr)  # SIGXFSZ

    def test_limit_that_is_too_small_is_refused_before_the_program_starts(self):
        result = self.limited("run", "-o", "t.wicprof", "--", "touch", "started", limit=1 << 20)
        self.assert_refused(result, 3, "ulimit -f")
        self.assertFalse((self.work / "started").exists())
        self.assertEqual(self.traces(), [])

    def test_report(self):
        self.record("t.wicprof", "--seconds", "0.1")
        result = self.limited("report", "t.wicprof", "--format", "html", "-o", "r.html", limit=4096)
        self.assert_refused(result, 3, "ulimit -f")
        self.assertEqual(sorted(p.name for p in self.work.iterdir()), ["t.wicprof"])


if __name__ == "__main__":
    harness.main()
