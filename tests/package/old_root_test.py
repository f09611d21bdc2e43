"""The archive on an older system: a Debian 11 (glibc 2.31) that debootstrap makes, with the fake driver of tests/cli.

  old_root_test.py BUILD

BUILD/old_root keeps the system for the next time. Needs root, debootstrap, and the Debian packages that apt is set up
for; without one of them it is skipped (77) and says which.
"""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
SUITE = "bullseye"
ROOT = BUILD / "old_root" / SUITE
SKIPPED = 77
TIMEOUT = 120  # seconds; only a hang takes this long

# The programs of tests/cli name their fakes by the paths of the build, so the fakes have these paths in the root, too.
CUDA_APP, JOIN_APP, REWRITTEN_APP = (BUILD / "bin" / name for name in ("cuda_app", "join_app", "rewritten_app"))
FAKE_CUPTI = BUILD / "lib" / "libwicprof_fake_cupti.so"
FAKES = (CUDA_APP, JOIN_APP, REWRITTEN_APP, FAKE_CUPTI, BUILD / "lib" / "libwicprof_fake_libcuda.so",
         BUILD / "lib" / "libwicprof_fake_rewriting_libcuda.so")

# In a mount namespace of its own: the folders ($2, with : between them) appear in the root ($1) at the same places.
WITHIN = """
set -e
root=$1; folders=$2; shift 2
for folder in /proc /dev $(echo $folders | tr : ' '); do mkdir -p $root$folder; mount --rbind $folder $root$folder; done
exec "$@"
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def make_root():
    """The root, made if it is not there yet."""
    if os.geteuid() != 0:
        skip("changing the root needs root's rights")
    if not shutil.which("debootstrap"):
        skip("debootstrap is not installed")
    if ROOT.is_dir():
        return
    mirrors = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
                              "Origin: Debian", "Component: main"], text=True, capture_output=True).stdout.split()
    if not mirrors:
        skip("apt is not set up for Debian's packages")
    half = ROOT.with_suffix(".half")
    shutil.rmtree(half, ignore_errors=True)
    half.parent.mkdir(exist_ok=True)
    done = subprocess.run(["debootstrap", "--variant=minbase", SUITE, half, mirrors[0]], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    if done.returncode != 0:
        skip("debootstrap failed: " + done.stdout.strip().rpartition("\n")[2])
    half.rename(ROOT)


class OldRoot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="wicprof-old-root-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run(["cpack", "-G", "TGZ", "-B", cls.folder / "packages"], cwd=BUILD, check=True, timeout=200,
                       stdout=subprocess.DEVNULL)
        (archive,) = (cls.folder / "packages").glob("*.tar.gz")
        with tarfile.open(archive) as file:
            file.extractall(cls.folder / "unpacked")
        (unpacked,) = (cls.folder / "unpacked").iterdir()
        cls.tool = unpacked / "bin" / "wic-prof"
        for fake in FAKES:
            to = ROOT / fake.relative_to("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(fake, to)

    def setUp(self):
        self.work = self.folder / self.id().rpartition(".")[2]
        self.work.mkdir(mode=0o700)
        self.env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.work), "XDG_RUNTIME_DIR": str(self.work),
                    "XDG_CACHE_HOME": str(self.work / "cache"), "WICPROF_CUPTI_PATH": str(FAKE_CUPTI),
                    "WICPROF_TEST_CUPTI": "", "WICPROF_FLUSH_MS": "10", "LC_ALL": "C"}

    def call(self, *words, folders=(), root=True):
        """`words` in the old root, where our folder and `folders` are visible; `root` False: outside, with the root
        prepared alike."""
        shown = ":".join(map(str, folders))
        inside = ["chroot", str(ROOT), "sh", "-c", f'cd {self.work}; exec "$@"', "sh"] if root else []
        return subprocess.run(["unshare", "--mount", "sh", "-c", WITHIN, "sh", str(ROOT), shown, *inside,
                               *map(str, words)], cwd=self.work, env=self.env, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT)

    def inside(self, *words):
        done = self.call(*words, folders=[self.folder])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("ERROR: ld.so", done.stderr)
        return done.stdout

    def query(self, sql):
        with sqlite3.connect(self.work / "t.wicprof") as database:
            return database.execute(sql).fetchall()

    def test_this_is_an_older_system(self):
        self.assertIn("2.31", self.inside("ldd", "--version"))
        # A program of the build host itself does not run there.
        own = self.work / "true"
        shutil.copy(BUILD / "bin" / "traced_app", own)
        self.assertIn("GLIBC_2.3", self.call(own, folders=[self.folder]).stderr)

    def test_demo(self):
        self.inside(self.tool, "demo")
        self.assertTrue((self.work / "report.html").is_file())

    def test_doctor_loads_the_collector(self):
        self.assertIn("the collector loads into a program", self.call(self.tool, "doctor",
                                                                      folders=[self.folder]).stdout)

    def test_records_a_cuda_program_and_names_its_waits(self):
        self.inside(self.tool, "run", "-o", "t.wicprof", "--", CUDA_APP, "load", "context", "kernels", "3", "wait",
                    "stream", "5", "1")
        self.assertEqual(self.query("SELECT count(*) FROM stat WHERE severity = 1"), [(0,)])
        analysis = json.loads(self.inside(self.tool, "analyze", "t.wicprof", "--format=json"))
        # Its stack is unwound and its names are read.
        self.assertEqual([(site["site"], site["count"]) for site in analysis["sites"]],
                         [("cudaStreamSynchronize in wait_in_runtime", 5)])
        self.inside(self.tool, "run", "-f", "-o", "t.wicprof", "--mode=park", "--side=host", "--strategy=block", "--",
                    CUDA_APP, "load", "context", "wait", "stream", "3", "30")
        self.assertGreater(self.query("SELECT min(naps) FROM host_wait WHERE id > 1")[0][0], 5)

    def test_exceptions_are_caught(self):
        done = self.call(self.tool, "run", "--no-such-option", "--", "true", folders=[self.folder])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--no-such-option", done.stderr)

    def test_patches_a_program(self):
        self.inside(self.tool, "run", "-o", "t.wicprof", "--rewrite", "--", REWRITTEN_APP, "writers")
        self.assertEqual(self.query("SELECT count(DISTINCT block) FROM wait"), [(7,)])

    def test_joins_a_program_that_runs(self):
        """Its C library has other names, and its parts are files of their own."""
        script = ('"$1" end malloc sleep > said & program=$!; sleep 1; '
                  '"$0" attach $program --for 100ms --trace host_waits -o t.wicprof; joined=$?; '
                  'touch end; wait $program && exit $joined')
        done = self.call("sh", "-c", script, self.tool, JOIN_APP, folders=[self.folder])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("loaded wic-prof's library into", done.stderr)
        self.assertEqual((self.work / "said").read_text(), "right\n")

    def test_a_recorder_outside_records_a_program_inside(self):
        for options in ((), ("--rewrite",)):
            done = self.call(self.tool, "run", "-f", "-o", "t.wicprof", *options, "--", "chroot", ROOT, CUDA_APP,
                             "load", "kernels", "3", "exit", "5", folders=[self.folder], root=False)
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertNotIn("ERROR: ld.so", done.stderr)
            self.assertNotIn("is not recorded", done.stderr)
            self.assertEqual(self.query("SELECT count(*) FROM kernel"), [(3,)])

    def test_a_program_inside_that_sees_nothing_of_ours_runs_as_bare(self):
        for options in ((), ("--rewrite",)):
            done = self.call(self.tool, "run", "-f", "-o", "t.wicprof", *options, "--", "chroot", ROOT, CUDA_APP,
                             "load", "stream", "0.5", "exit", "5", root=False)
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertNotIn("ERROR: ld.so", done.stderr)
            self.assertIn(f"is not recorded: its root, {ROOT}, has no ", done.stderr)
            self.assertEqual(self.query("SELECT count(*) FROM kernel"), [(0,)])
            self.assertEqual(self.query("SELECT count(*) FROM stat WHERE severity = 1"), [(1,)])


if __name__ == "__main__":
    make_root()
    unittest.main(argv=sys.argv[:1], verbosity=2)
