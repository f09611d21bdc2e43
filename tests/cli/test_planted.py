"""What somebody else puts under a name before wic-prof uses it: FIFOs, links, folders and files of another user."""

import os
import pathlib
import shutil
import subprocess
import unittest

import harness

NOBODY = 65534
ROOT = os.geteuid() == 0


def pipe(path):
    os.mkfifo(path)  # opening it waits for the other side


def link(path):
    path.symlink_to("/dev/zero")


def foreign(path):
    path.write_bytes(b"x" * 100)
    os.chown(path, NOBODY, NOBODY)


KINDS = [pipe, link, pathlib.Path.mkdir] + ([foreign] if ROOT else [])


class Companions(harness.Case):
    """Of a trace: names that SQLite opens."""

    def setUp(self):
        super().setUp()
        self.shared = self.work / "shared"
        self.shared.mkdir(mode=0o777)

    def test_a_trace_beside_which_something_lies_is_refused_by_name(self):
        trace = self.record("t.wicprof", "--waits", "3")
        for suffix in ("-journal", "-wal", "-shm"):
            for plant in KINDS:
                with self.subTest(suffix=suffix, plant=plant.__name__):
                    planted = self.work / f"t.wicprof{suffix}"
                    plant(planted)
                    result = self.wic_prof("analyze", "t.wicprof")
                    self.assert_refused(result, 2, f"t.wicprof{suffix} ", "remove it")
                    planted.rmdir() if planted.is_dir() else planted.unlink()
        self.assertEqual(self.wic_prof("analyze", trace).returncode, 0)

    def test_a_recording_removes_them_or_says_what_is_in_the_way(self):
        for suffix in ("-journal", "-wal", "-shm"):
            for plant in KINDS:
                with self.subTest(suffix=suffix, plant=plant.__name__):
                    planted = self.work / f"t.wicprof{suffix}"
                    plant(planted)
                    result = self.wic_prof("run", "-q", "-o", "t.wicprof", "--", "sh", "-c", "exit 7")
                    if planted.is_dir():
                        self.assert_refused(result, 2, f"t.wicprof{suffix} is in the way", "remove it")
                        self.assertNotIn("free some space", result.stderr)
                        planted.rmdir()
                    else:
                        self.assertEqual(result.returncode, 7, result.stderr)
                        self.assertEqual(self.wic_prof("analyze", "t.wicprof").returncode, 0)
                    self.assertEqual([name for name in self.traces() if name != "t.wicprof"], [])
                    (self.work / "t.wicprof").unlink(missing_ok=True)

    def test_the_interpreter_of_a_script(self):
        pipe(self.work / "pipe")
        script = self.work / "script"
        script.write_text(f"#!{self.work}/pipe\n")
        script.chmod(0o755)
        result = self.wic_prof("run", "-o", "t.wicprof", "--", script, env={"CUDA_HOME": str(self.work)})
        self.assertNotIn(result.returncode, (0, 7), result.stderr)

    def test_the_programs_of_the_window_read_no_settings_of_others(self):
        window = pathlib.Path(harness.WICPROF).with_name("wic-prof-gui")
        if not window.exists():
            self.skipTest("built without the window")
        trace = self.record("t.wicprof", "--waits", "3")
        pipe(self.work / "t.wicprof.gui.json")
        pipe(self.work / "t.png.new")
        result = self.wic_prof("gui", trace, "--screenshot", "t.png")
        if result.returncode == 3:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.work / "t.png").is_file())


@unittest.skipUnless(ROOT and shutil.which("setpriv"), "needs two users: root, and setpriv")
class SharedFolder(harness.Case):
    """A folder like /tmp, in which another user was first."""

    def setUp(self):
        super().setUp()
        self.record("t.wicprof", "--waits", "3")
        for folder in (self.folder, self.work):
            folder.chmod(0o755)
        self.shared = self.work / "shared"
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        self.own = self.work / "own"
        self.own.mkdir()

    def as_nobody(self, *words):
        subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *map(str, words)],
                       check=True)

    def outputs(self, name):
        """Each command that writes to `name` in the shared folder."""
        out = self.shared / name
        shutil.copy(harness.SOURCE / "tests" / "cli" / "flag.ptx", self.work)
        (self.work / "ci.toml").write_text("[run]\nrepeat = 1\n")
        yield ["report", "t.wicprof", "-f", "--format", "html", "-o", out]
        yield ["analyze", "t.wicprof", "-f", "-o", out]
        yield ["compare", "t.wicprof", "t.wicprof", "-f", "-o", out]
        yield ["rewrite", "flag.ptx", "-f", "-o", out]
        yield ["run", "-q", "-f", "-o", out, "--", "true"]

    def test_no_output_goes_where_the_link_of_another_user_leads(self):
        victim = self.own / "victim"
        victim.write_text("precious")
        self.as_nobody("ln", "-s", victim, self.shared / "r")
        self.as_nobody("ln", "-s", self.shared / "r", self.shared / "twice")
        self.as_nobody("ln", "-s", self.own / "new", self.shared / "dangling")
        for name in ("r", "twice", "dangling"):
            for command in self.outputs(name):
                with self.subTest(name=name, verb=command[0]):
                    result = self.wic_prof(*command)
                    self.assert_refused(result, (2, 3))
                    self.assertEqual(victim.read_text(), "precious")
                    self.assertEqual([path.name for path in self.own.iterdir()], ["victim"])
        self.assertEqual([path.name for path in self.shared.iterdir() if path.name.endswith(".part")], [])

    def test_ones_own_link_is_followed(self):
        (self.shared / "r").symlink_to("../own/page")
        for _ in range(2):
            result = self.wic_prof("report", "t.wicprof", "-f", "--format", "html", "-o", self.shared / "r")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue((self.shared / "r").is_symlink())
            self.assertIn("<html", (self.own / "page").read_text())

    def test_no_output_goes_into_the_pipe_of_another_user(self):
        self.as_nobody("mkfifo", "-m", "666", self.shared / "r")
        for command in self.outputs("r"):
            with self.subTest(verb=command[0]):
                self.assert_refused(self.wic_prof(*command), (2, 3))

    def test_reports_under_names_of_wic_prof_are_files(self):
        (self.work / "ci.toml").write_text("[run]\nrepeat = 1\n")
        (self.work / "wic-prof-ci").mkdir()
        os.mkfifo(self.work / "wic-prof-ci" / "junit.xml")
        command = ["ci", "-f", "--config", "ci.toml", "--", harness.TRACED_APP]
        self.assert_refused(self.wic_prof(*command), 2, "junit.xml")
        shutil.rmtree(self.work / "wic-prof-ci")
        (self.work / "wic-prof-ci").symlink_to(self.own)
        os.chown(self.work / "wic-prof-ci", NOBODY, NOBODY, follow_symlinks=False)
        self.assert_refused(self.wic_prof(*command), 2, "wic-prof-ci")
        self.assertEqual(list(self.own.iterdir()), [])

    def test_a_window_of_root_leaves_nothing_in_the_home_of_a_user(self):
        if not pathlib.Path(harness.WICPROF).with_name("wic-prof-gui").exists():
            self.skipTest("built without the window")
        home = self.work / "home"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        self.env.update(HOME=str(home))
        self.env.pop("XDG_CACHE_HOME", None)
        self.wic_prof("gui", "t.wicprof", "--screenshot", "t.png")
        self.wic_prof("doctor")
        self.assertEqual(list(home.iterdir()), [])


if __name__ == "__main__":
    harness.main()
