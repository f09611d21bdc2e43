"""Unpacks the .tar.gz that CPack makes and uses the tool from there, as on a machine without an installed wic-prof."""

import os
import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

BUILD = os.environ["WICPROF_BUILD"]
CPACK = os.environ["WICPROF_CPACK"]
HAS_COLLECTOR = os.environ["WICPROF_HAS_COLLECTOR"] == "1"

# What every Linux machine has. All else is linked statically.
BASE = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
        # parts of libc until glibc 2.34
        "libpthread.so.0", "libdl.so.2", "librt.so.1"}


def call(*command, cwd, timeout=120):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cwd), "XDG_RUNTIME_DIR": str(cwd)}
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=timeout, cwd=cwd, env=environment)


def needed(path):
    """The shared libraries that a program or library names as needed."""
    said = subprocess.run(["readelf", "--dynamic", "--wide", str(path)], capture_output=True, text=True,
                          check=True).stdout
    return set(re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", said))


class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="wicprof-archive-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve()
        done = subprocess.run([CPACK, "-G", "TGZ", "-B", str(cls.folder / "packages")], cwd=BUILD, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200)
        assert done.returncode == 0, done.stdout
        (archive,) = (cls.folder / "packages").glob("*.tar.gz")
        with tarfile.open(archive) as file:
            file.extractall(cls.folder / "unpacked")
        (cls.root,) = (cls.folder / "unpacked").iterdir()
        cls.tool = cls.root / "bin" / "wic-prof"

    def test_the_recorder_needs_only_what_every_machine_has(self):
        programs = [self.tool, self.root / "libexec" / "wic-prof" / "hot_flag", self.root / "lib" / "libwicprof_mpi.so"]
        if HAS_COLLECTOR:
            programs += [self.root / "lib" / "libwicprof_inject.so", self.root / "lib" / "libwicprof_nvrtc.so"]
        for path in programs:
            with self.subTest(path.name):
                self.assertIn("libc.so.6", needed(path))
                self.assertEqual(needed(path) - BASE, set())

    def test_it_has_man_pages_completions_and_what_messages_cite(self):
        share = self.root / "share"
        for file in ("man/man1/wic-prof.1", "man/man1/wic-prof-run.1", "bash-completion/completions/wic-prof",
                     "zsh/vendor-completions/_wic-prof", "fish/vendor_completions.d/wic-prof.fish",
                     "doc/wic-prof/examples/ci/wic-prof.toml"):
            self.assertTrue((share / file).is_file(), file)
        said = call(self.tool, "explain", "--format", "json", cwd=self.folder).stdout
        cited = set(re.findall(r"\b(share/[\w/.-]+\w)", said))
        self.assertGreater(len(cited), 2)
        for file in cited:
            self.assertTrue((self.root / file).is_file(), file)

    def test_it_records_and_analyzes_where_it_was_unpacked(self):
        app = self.root / "libexec" / "wic-prof" / "hot_flag"
        done = call(self.tool, "run", "-o", "t.wicprof", "--", app, "--devices", "simt:1", "--seconds", "1",
                    cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = call(self.tool, "analyze", "t.wicprof", "--format", "json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"sites"', done.stdout)

    def test_the_window_is_a_program_of_its_own(self):
        window = self.root / "bin" / "wic-prof-gui"
        kept = self.folder / "wic-prof-gui"
        if window.exists():
            window.rename(kept)
            self.addCleanup(kept.rename, window)
        for words in (["gui", "t.wicprof"], ["run", "--gui", "--", "true"]):
            done = call(self.tool, *words, cwd=self.folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("wic-prof-gui", done.stderr)
            self.assertIn("install", done.stderr)

    def test_a_window_without_its_libraries_says_which_are_missing(self):
        window = self.root / "bin" / "wic-prof-gui"
        kept = window.read_bytes() if window.exists() else None
        window.write_text("#!/bin/sh\necho 'cannot open shared object file' >&2\nexit 127\n")
        window.chmod(0o755)
        try:
            for words in (["gui", "t.wicprof"], ["run", "--gui", "--", "true"]):
                done = call(self.tool, *words, cwd=self.folder)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("libglfw3", done.stderr)
        finally:
            window.unlink()
            if kept is not None:
                window.write_bytes(kept)
                window.chmod(0o755)


if __name__ == "__main__":
    unittest.main(verbosity=2)
