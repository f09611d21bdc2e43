"""Installs the .deb files that CPack makes into an empty root and uses the recorder from there."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["WICPROF_BUILD"]
CPACK = os.environ["WICPROF_CPACK"]
SKIPPED = 77


def run(*command, cwd=None, timeout=200):
    return subprocess.run([str(word) for word in command], cwd=cwd, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)


def field(package, name):
    return run("dpkg-deb", "--field", package, name).stdout.strip()


class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="wicprof-deb-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve()
        done = run(CPACK, "-G", "DEB", "-B", cls.folder / "packages", cwd=BUILD)
        assert done.returncode == 0, done.stdout
        cls.packages = {field(path, "Package"): path for path in (cls.folder / "packages").glob("*.deb")}

    def test_the_recorder_depends_on_what_every_system_has(self):
        depends = field(self.packages["wic-prof"], "Depends")
        self.assertEqual(depends, "libc6 (>= 2.28)")  # of Debian 10

    def test_the_window_and_the_headers_are_packages_of_their_own(self):
        self.assertIn("libwic-dev", self.packages)
        for name, package in self.packages.items():
            self.assertRegex(field(package, "Version"), r"^\d")
            self.assertTrue(field(package, "Description"), name)

    def test_installs_records_and_goes_without_a_trace(self):
        root = self.folder / "root"
        status = root / "var" / "lib" / "dpkg" / "status"
        (status.parent / "updates").mkdir(parents=True)
        (status.parent / "info").mkdir()
        status.touch()
        if os.geteuid() == 0:
            # Dependencies are the system's; a file that two packages own is an error. CPack's scripts run ldconfig,
            # which the empty root does not have and this system must not run.
            stubs = self.folder / "stubs"
            stubs.mkdir()
            (stubs / "ldconfig").write_text("#!/bin/sh\n")
            (stubs / "ldconfig").chmod(0o755)
            dpkg = ("env", f"PATH={stubs}:{os.environ['PATH']}", "dpkg", f"--root={root}", "--force-depends",
                    "--force-script-chrootless", "--no-triggers", "--log=/dev/null")
            done = run(*dpkg, "--install", *self.packages.values())
            self.assertEqual(done.returncode, 0, done.stdout)
        else:
            for package in self.packages.values():
                self.assertEqual(run("dpkg-deb", "--extract", package, root).returncode, 0)
        tool = root / "usr" / "bin" / "wic-prof"
        for file in ("man/man1/wic-prof-run.1", "bash-completion/completions/wic-prof", "doc/wic-prof/waiting.md"):
            self.assertTrue((root / "usr" / "share" / file).is_file(), file)
        app = root / "usr" / "libexec" / "wic-prof" / "hot_flag"
        done = run("env", f"XDG_RUNTIME_DIR={self.folder}", tool, "run", "-o", "t.wicprof", "--", app,
                   "--devices", "simt:1", "--seconds", "1", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = run(tool, "analyze", "t.wicprof", "--format", "json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn('"sites"', done.stdout)
        if os.geteuid() == 0:
            done = run(*dpkg, "--purge", *self.packages)
            self.assertEqual(done.returncode, 0, done.stdout)
            left = [path for path in root.rglob("*") if path.is_file() and "dpkg" not in path.parts]
            self.assertEqual(left, [])


if __name__ == "__main__":
    if not shutil.which("dpkg") or not shutil.which("dpkg-deb"):
        print("skipped: dpkg is not installed")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
