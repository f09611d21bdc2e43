"""run: a program that cannot load the collector runs as without wic-prof, and run says why with the loader's words."""

import os
import pathlib
import shutil
import subprocess
import unittest

import harness

LIBRARIES = pathlib.Path(harness.WICPROF).parents[1] / "lib"
NAMES = ("libwicprof_inject.so", "libwicprof_nvrtc.so")
MACHINE_AT = 18  # of an ELF file: 2 bytes
OTHER_MACHINE = {"x86_64": (183, "aarch64"), "aarch64": (62, "x86_64")}[os.uname().machine]

# In a mount namespace of its own: another root with this system's programs, in which nothing of ours is visible.
OTHER_ROOT = """
set -e
for folder in usr bin lib lib64 proc; do
  if [ -e /$folder ]; then mkdir $2/$folder; mount --rbind /$folder $2/$folder; fi
done
program=$1; root=$2; shift 2
exec "$program" run "$@" -- chroot $root sh -c 'echo "in $0"; sleep 1; exit 7' there
"""
NOEXEC = """
set -e
mount -t tmpfs -o noexec none $2
cp $3/* $2
program=$1; shift 3
exec "$program" run "$@"
"""


@unittest.skipIf(harness.CUDA_APP is None, "built without CUPTI's headers")
class Unloadable(harness.Case):
    def setUp(self):
        super().setUp()
        self.tool = self.folder / "tool"
        (self.tool / "bin").mkdir(parents=True)
        shutil.copy(harness.WICPROF, self.tool / "bin" / "wic-prof")
        shutil.copytree(LIBRARIES, self.tool / "lib", ignore=lambda _, names: set(names) - set(NAMES))

    def change(self, change):
        for name in NAMES:
            path = self.tool / "lib" / name
            path.write_bytes(change(path.read_bytes()))

    def run_tool(self, *words, shell=None, preload=None):
        """`words` follow `run`; `shell`: a script and its first words, which starts it in a mount namespace."""
        tool = self.tool / "bin" / "wic-prof"
        command = [tool, "run", *words]
        if shell:
            command = ["unshare", "--mount", "sh", "-c", shell[0], "sh", tool, *shell[1:], *words]
        env = dict(self.env, WICPROF_CUPTI_PATH=harness.FAKE_CUPTI, WICPROF_TEST_CUPTI="")
        for name in ("LD_PRELOAD", "CUDA_MODULE_LOADING"):
            env.pop(name, None)
        if preload:
            env["LD_PRELOAD"] = preload
        return subprocess.run(command, cwd=self.work, env=env, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT)

    def assert_runs_as_bare(self, done, reason):
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr,
                         "(?s)no CUDA activity recorded: .*does not load .*libwicprof_inject.so: .*" + reason)
        self.assertNotIn("ERROR: ld.so", done.stderr)
        self.assertIn("none set", done.stdout)
        self.assertRegex("\n".join(self.losses()), reason)

    SEE = ('test -z "$CUDA_INJECTION64_PATH$NVTX_INJECTION64_PATH$LD_PRELOAD$CUDA_MODULE_LOADING" && echo none set; '
           f'{harness.CUDA_APP} load kernels 3 exit 5')

    def try_both(self, reason):
        for options in ((), ("--rewrite",)):
            with self.subTest(options=options):
                done = self.run_tool("-f", "-o", "t.wicprof", *options, "--", "sh", "-c", self.SEE)
                self.assert_runs_as_bare(done, reason)

    def test_that_needs_a_newer_c_library(self):
        self.change(lambda code: code.replace(b"\0GLIBC_2.14\0", b"\0GLIBC_9.14\0"))
        self.try_both(r"version .GLIBC_9\.14. not found")

    @unittest.skipIf(shutil.which("g++") is None, "needs g++")
    def test_program_with_address_sanitizer_starts(self):
        (self.work / "app.cpp").write_text("int main() { return 5; }\n")
        subprocess.run(["g++", "-fsanitize=address", "app.cpp", "-o", "app"], cwd=self.work, check=True)
        done = self.run_tool("-f", "-o", "t.wicprof", "--rewrite", "--", "./app")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(" ".join(done.stderr.split()), "what NVRTC compiles is not patched: .*AddressSanitizer")

    def test_what_the_user_preloads_comes_first(self):
        done = self.run_tool("-f", "-o", "t.wicprof", "--rewrite", "--", "sh", "-c", "echo $LD_PRELOAD",
                             preload=harness.FAKE_CUPTI)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, f"(?m)^{harness.FAKE_CUPTI}:.*libwicprof_nvrtc.so$")

    def test_for_another_machine(self):
        number, name = OTHER_MACHINE
        self.change(lambda code: code[:MACHINE_AT] + number.to_bytes(2, "little") + code[MACHINE_AT + 2:])
        self.try_both(f"it is built for {name}, the program for {os.uname().machine}")

    def test_that_is_damaged(self):
        self.change(lambda code: code[:200])
        self.try_both("file too short|cannot read|truncated|invalid")

    @unittest.skipUnless(os.geteuid() == 0, "mounting needs root")
    def test_in_a_folder_without_the_right_to_execute(self):
        (self.tool / "lib").rename(self.tool / "kept")
        (self.tool / "lib").mkdir()
        done = self.run_tool("-f", "-o", "t.wicprof", "--rewrite", "--", "sh", "-c", self.SEE,
                             shell=(NOEXEC, self.tool / "lib", self.tool / "kept"))
        self.assert_runs_as_bare(done, "failed to map segment")

    @unittest.skipUnless(os.geteuid() == 0, "another root needs root")
    def test_in_another_root_the_program_runs_and_run_says_what_is_missing_there(self):
        for options in ((), ("--rewrite",)):
            with self.subTest(options=options):
                root = self.folder / f"root{len(options)}"
                root.mkdir()
                done = self.run_tool("-f", "-o", "t.wicprof", *options, shell=(OTHER_ROOT, root))
                self.assertEqual((done.returncode, done.stdout.splitlines()[:1]), (7, ["in there"]), done.stderr)
                self.assertNotIn("ERROR: ld.so", done.stderr)
                said = " ".join(done.stderr.split())
                self.assertRegex(said, f"is not recorded: its root, {root}, has no .*; mount")
                self.assertIn("libwicprof_inject.so", said)
                self.assertRegex("\n".join(self.losses()), "is not recorded: its root")


if __name__ == "__main__":
    harness.main()
