"""The program keeps its exit status, its signals and its environment, whatever happens to wic-prof beside it."""

import ctypes
import os
import pathlib
import platform
import shutil
import signal
import struct
import subprocess
import unittest

import harness

LIBRARIES = pathlib.Path(harness.WICPROF).parents[1] / "lib"


class AfterTheRun(harness.Case):
    def test_a_reader_of_messages_that_is_gone(self):
        for words in ((), ("-q",), ("--repeat", "2")):
            with self.subTest(words=words):
                read, write = os.pipe()
                os.close(read)
                command = [harness.WICPROF, "run", *words, "-f", "-o", "t.wicprof", "--", "sh", "-c", "exit 7"]
                done = subprocess.run(command, cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, stdout=write,
                                      stderr=write, timeout=harness.TIMEOUT)
                os.close(write)
                self.assertEqual(done.returncode, 7)

    def test_the_gates_reader_is_gone(self):
        (self.work / "c.toml").write_text("[run]\nrepeat = 1\nwarm_up = 0\n")
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([harness.WICPROF, "ci", "-c", "c.toml", "-o", "out", "--", "sh", "-c", "exit 7"],
                              cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=write, timeout=harness.TIMEOUT)
        os.close(write)
        self.assertIn(done.returncode, (1, 3))
        self.assertTrue((self.work / "out" / "junit.xml").exists())

    def test_signals_while_the_summary_is_written(self):
        # The summary waits for the reader of a full pipe.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                read, write = os.pipe()
                os.set_blocking(write, False)
                program = 'until [ -e full ]; do sleep 0.05; done; exec "$0" --seconds 0.1 --status 7'
                process = subprocess.Popen([harness.WICPROF, "run", "-f", "-o", "t.wicprof", "--", "sh", "-c", program,
                                            harness.TRACED_APP], cwd=self.work, env=self.env,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=write)
                self.started.append(process)
                self.until(lambda: (self.work / "t.wicprof").exists(), "the trace")
                try:
                    while True:
                        os.write(write, b"x")
                except BlockingIOError:
                    pass
                os.set_blocking(write, True)
                (self.work / "full").touch()
                self.until(lambda: self.session_files() == [], "the session's end")
                self.assertIsNone(process.poll())

                def ended():  # again, since the first may be taken for one of those that were meant for the run
                    process.send_signal(number)
                    return process.poll() is not None

                self.until(ended, "the end")
                self.assertEqual(process.returncode, 7)
                os.close(read)
                os.close(write)
                self.assertEqual(self.meta("t.wicprof")["state"], "complete")
                (self.work / "t.wicprof").unlink()
                (self.work / "full").unlink()


class OfTheProgram(harness.Case):
    def run_apart(self, script, *options):
        """In a group of its own: a signal to the group reaches the program and wic-prof alone."""
        command = [harness.WICPROF, "run", "-q", "-f", *options, "-o", "t.wicprof", "--", "sh", "-c", script]
        return subprocess.run(command, cwd=self.work, env=self.env, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, start_new_session=True, timeout=harness.TIMEOUT)

    def test_signals_to_its_own_group(self):
        # wic-prof kills a program that goes on after two interruptions.
        for name in ("INT", "TERM", "HUP"):
            for options in ((), ("--wait", "all")):
                with self.subTest(signal=name, options=options):
                    done = self.run_apart(f'trap "" {name} INT; kill -{name} 0; sleep 0.2; kill -INT 0; sleep 0.3; '
                                          "exit 7", *options)
                    self.assertEqual(done.returncode, 7, done.stderr)
                    self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_signals_of_descendants(self):
        child = ("import os, signal, sys, time\n"
                 "if os.fork() != 0: os._exit(0)\n"  # an orphan
                 "for number in (signal.SIGTERM, signal.SIGINT): os.kill(0, number); time.sleep(0.1)\n"
                 "open('sent', 'w').close()\n")
        (self.work / "child.py").write_text(child)
        done = self.run_apart('trap "" INT TERM; python3 -B child.py & '
                              'while [ ! -e sent ]; do sleep 0.02; done; sleep 0.2; exit 7')
        self.assertEqual(done.returncode, 7, done.stderr)

    def test_a_signal_to_the_group_arrives_once(self):
        done = self.run_apart('trap "echo got" USR1; kill -USR1 0; sleep 0.3; sleep 0.3; exit 7')
        self.assertEqual((done.returncode, done.stdout), (7, "got\n"), done.stderr)

    def test_signals_from_outside_still_end_the_run(self):
        process = self.start("run", "-q", "-o", "t.wicprof", "--", "sh", "-c", "touch ready; exec sleep 60")
        self.until(lambda: (self.work / "ready").exists(), "the program")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).returncode, 128 + signal.SIGTERM)


class Inherited(harness.Case):
    def handling_is_kept(self, ignore):
        words = ["grep", "-E", "Sig(Blk|Ign|Cgt)", "/proc/self/status"]
        bare = subprocess.run(words, capture_output=True, text=True, preexec_fn=ignore, restore_signals=False)
        for times in ("1", "2"):
            command = [harness.WICPROF, "run", "-q", "-f", "-o", "t.wicprof", "--repeat", times, "--", *words]
            done = subprocess.run(command, cwd=self.work, env=self.env, capture_output=True, text=True,
                                  preexec_fn=ignore, restore_signals=False, stdin=subprocess.DEVNULL,
                                  timeout=harness.TIMEOUT)
            self.assertEqual(done.stdout, bare.stdout * int(times), done.stderr)

    def test_ignored_signals(self):
        numbers = [n for n in signal.valid_signals()
                   if n not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD) and n < signal.SIGRTMIN]

        def ignore():
            for number in numbers:
                signal.signal(number, signal.SIG_IGN)

        self.handling_is_kept(ignore)

    @unittest.skipUnless(platform.machine() == "x86_64", "names system calls by their numbers")
    def test_signals_of_the_c_library(self):
        rt_sigaction, rt_sigprocmask = 13, 14
        action = struct.pack("4Q", signal.SIG_IGN, 0, 0, 0)
        mask = struct.pack("Q", 1 << 31 | 1 << 32)  # 32 and 33
        system = ctypes.CDLL(None).syscall

        def ignore():
            for number in (32, 33):
                system(rt_sigaction, number, action, None, 8)

        def block():
            system(rt_sigprocmask, signal.SIG_BLOCK, mask, None, 8)

        self.handling_is_kept(ignore)
        self.handling_is_kept(block)

    def test_environment(self):
        # Names come twice, entries are no variables; only execve() by itself makes such an environment.
        entries = ["B=2", "A=1", "no variable", "A=3", "", "=x", "WICPROF_SESSION=old", "WICPROF_SESSION=older",
                   f"XDG_RUNTIME_DIR={self.runtime}", "Z="]
        script = ("import ctypes, sys\n"
                  "words = [w.encode() for w in sys.argv[1].split('|')]\n"
                  "entries = [w.encode() for w in sys.argv[2].split('|')]\n"
                  "def c(list): return (ctypes.c_char_p * (len(list) + 1))(*list, None)\n"
                  "ctypes.CDLL(None).execve(words[0], c(words), c(entries))\n")
        command = [harness.WICPROF, "run", "-q", "-f", "-o", "t.wicprof", "--", "/bin/cat", "/proc/self/environ"]
        done = subprocess.run(["python3", "-B", "-c", script, "|".join(command), "|".join(entries)], cwd=self.work,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = done.stdout.split("\0")[:-1]
        ours = ("WICPROF_", "CUDA_INJECTION64_PATH=", "NVTX_INJECTION64_PATH=", "NCCL_PROFILER_PLUGIN=")
        self.assertEqual([e for e in seen if not e.startswith(ours)],
                         [e for e in entries if not e.startswith(ours)])
        self.assertEqual(len([e for e in seen if e.startswith("WICPROF_SESSION=")]), 1, seen)


class OddFolders(harness.Case):
    @unittest.skipIf(harness.CUDA_APP is None, "built without CUPTI's headers")
    def test_rewrite_from_a_folder_that_ld_preload_cannot_name(self):
        for name in ("a folder", "a:folder", "a$LIB"):
            with self.subTest(folder=name):
                tool = self.folder / name
                (tool / "bin").mkdir(parents=True)
                (tool / "lib").mkdir()
                shutil.copy(harness.WICPROF, tool / "bin" / "wic-prof")
                for library in ("libwicprof_inject.so", "libwicprof_nvrtc.so"):
                    shutil.copy(LIBRARIES / library, tool / "lib" / library)
                env = {key: value for key, value in self.env.items() if key != "LD_PRELOAD"}
                command = [tool / "bin" / "wic-prof", "run", "--rewrite", "-f", "-o", "t.wicprof", "--", "sh", "-c",
                           'echo "preloaded: $LD_PRELOAD"; exit 7']
                done = subprocess.run(command, cwd=self.work, env=env, text=True,
                                      capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT)
                self.assertEqual((done.returncode, done.stdout), (7, "preloaded: \n"), done.stderr)
                self.assertNotIn("ld.so", done.stderr)
                self.assertIn("what NVRTC compiles is not patched", done.stderr)
                self.assertIn("without these", "\n".join(self.losses()))
                shutil.rmtree(tool)


if __name__ == "__main__":
    harness.main()
