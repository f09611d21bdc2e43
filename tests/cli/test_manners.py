"""The collector is a guest: the program keeps its output and exit status, however it ends and whatever is missing."""

import os
import subprocess
import sys
import unittest

import harness

ENDINGS = {"exit": (["exit", "5"], 5), "_exit": (["_exit", "6"], 6), "abort": (["abort"], 128 + 6),
           "kill": (["kill"], 128 + 9)}


class Endings(harness.Case):
    def test_program_keeps_status_and_output_and_flushed_events_arrive(self):
        for name, (words, status) in ENDINGS.items():
            with self.subTest(ending=name):
                result = self.run_cuda("load", "context", "kernels", "9", "flush", "say", "done", *words)
                self.assertEqual((result.returncode, result.stdout), (status, "done\n"), result.stderr)
                self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM kernel"), 9)
                self.assertEqual(self.meta("t.wicprof")["state"], "complete")
                self.assertEqual(self.losses(), [])

    def test_last_events_arrive_after_a_plain_exit(self):
        result = self.run_cuda("load", "context", "kernels", "9", "exit", "0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM kernel"), 9)

    def test_a_trace_says_that_the_last_records_are_missing(self):
        for ending, cut in (("_exit", 1), ("kill", 1), ("exit", 0)):
            with self.subTest(ending=ending):
                result = self.run_cuda("load", "context", "wait", "stream", "2", "1", "kernels", "9",
                                       *ENDINGS[ending][0], env={"WICPROF_FLUSH_MS": "60000"})
                self.assertEqual(result.returncode, ENDINGS[ending][1], result.stderr)
                kernels = self.number("t.wicprof", "SELECT count(*) FROM kernel")
                self.assertEqual(kernels >= 9, cut == 0, kernels)
                self.assertEqual(self.stats("t.wicprof").get("ended_unwritten", 0), cut)
                self.assertEqual("1 process ended before CUPTI handed over its last records" in
                                 self.wic_prof("analyze", "--verbose", "t.wicprof").stdout, cut == 1)
                self.assertEqual("up to some 0.3 s before that" in result.stderr, ending == "kill")
                self.assertEqual(self.losses(), [])

    def test_program_that_never_loads_cuda(self):
        result = self.run_cuda("say", "hello", "exit", "3")
        self.assertEqual((result.returncode, result.stdout), (3, "hello\n"))
        self.assertEqual(self.losses(), [])

    def test_program_that_loads_cuda_late(self):
        result = self.run_cuda("say", "first", "fork", "say", "child", "end", "load", "kernels", "4", "say", "last")
        self.assertEqual((result.returncode, result.stdout), (0, "first\nchild\nlast\n"), result.stderr)
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM kernel"), 4)

    def test_program_that_runs_another(self):
        result = self.run_cuda("chain", "2", "load", "context", "kernels", "4", "flush", "say", "here")
        self.assertEqual((result.returncode, result.stdout), (0, "here\nhere\n"), result.stderr)
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM kernel"), 8)


class Devices(harness.Case):
    def test_every_visible_device_is_declared_with_any_sources(self):
        for sources in ("cuda", "kernels"):
            with self.subTest(trace=sources):
                result = self.run_cuda("load", "context", "kernels", "3", "flush", "say", "done", "_exit", "0",
                                       options=("--trace", sources), env={"WICPROF_FAKE_GPUS": "xy"})
                self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
                self.assertEqual(self.losses(), [])
                self.assertEqual(
                    self.query("t.wicprof", "SELECT d.id, n.value, u.value, d.sm_count, d.memory_bytes FROM device d "
                                            "JOIN string n ON n.id = d.name_id JOIN string u ON u.id = d.uuid_id "
                                            "WHERE d.kind = 1 ORDER BY d.id"),
                    [(0, "GPU x", "GPU-78787878-7878-7878-7878-787878787878", 132, 1 << 30),
                     (1, "GPU y", "GPU-79797979-7979-7979-7979-797979797979", 132, 1 << 30)])

    def test_processes_share_devices_by_uuid(self):
        app = [harness.CUDA_APP, "load", "context", "kernels", "3", "flush", "exit", "0"]
        script = 'WICPROF_FAKE_GPUS=x "$@" && WICPROF_FAKE_GPUS=y "$@" && WICPROF_FAKE_GPUS=x "$@"'
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--trace", "kernels", "--", "sh", "-c", script,
                               "sh", *app, env={"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_FLUSH_MS": "10"})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.query("t.wicprof", "SELECT n.value, count(*) FROM kernel k "
                                                 "JOIN device d ON d.id = k.device_id "
                                                 "JOIN string n ON n.id = d.name_id GROUP BY n.value ORDER BY n.value"),
                         [("GPU x", 6), ("GPU y", 3)])


class Lacks(harness.Case):
    """The trace states what is missing, with the cure, and the program runs undisturbed."""

    def said(self, fake="", words=(), env=None, options=()):
        result = self.run_cuda("load", "context", "kernels", "3", "say", "done", "exit", "4", fake=fake, env=env,
                               options=options)
        self.assertEqual((result.returncode, result.stdout), (4, "done\n"), result.stderr)
        reasons = " | ".join(self.losses())
        for word in words:
            self.assertIn(word, reasons)
        analysis = self.wic_prof("analyze", "t.wicprof")
        self.assertEqual(analysis.returncode, 0)
        for word in words:
            self.assertIn(word, " ".join(analysis.stdout.split()))  # regardless of line breaks

    def test_another_cupti_client(self):
        self.said("fail=cuptiSubscribe", ("another profiler or debugger uses CUPTI", "run without it"))

    def test_another_cupti_client_has_its_name(self):
        self.said("fail=cuptiSubscribe other=CUPTI_for_torch", ("in use by 'CUPTI_for_torch'", "--trace host"))

    def test_program_with_a_cupti_of_its_own(self):
        """Such as PyTorch, whose profiler is shut out."""
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        for options, named in (((), True), (("--trace", "host"), False)):
            result = self.wic_prof("run", "-f", "-o", "t.wicprof", *options, "--", "env",
                                   f"LD_PRELOAD={harness.FAKE_CUPTI}", harness.CUDA_APP, "load", "context", "say",
                                   "done", env={"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI})
            self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
            analysis = self.wic_prof("analyze", "t.wicprof")
            for text in (result.stderr, analysis.stdout):
                text = " ".join(text.split())
                self.assertEqual("torch.profiler, gets no CUDA activity" in text, named, text)
                self.assertEqual("(--trace host)" in text, named, text)
                self.assertNotIn("requested strategy", text)

    def test_words_without_cupti_leave_it_to_the_program(self):
        for words in ("host", "none"):
            result = self.run_cuda("load", "context", "kernels", "3", "say", "done", fake="fail=cuptiSubscribe",
                                   options=("--trace", words))
            self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
            self.assertEqual(self.losses(), [])

    def test_counters_are_locked(self):
        self.said("fail=cuptiSubscribe result=35", ("NVreg_RestrictProfilingToAdminUsers=0", "--cap-add=SYS_ADMIN"))

    def test_no_cupti(self):
        self.said(env={"WICPROF_CUPTI_PATH": str(self.work / "libnone.so")}, words=("libnone.so", "WICPROF_CUPTI_PATH"))

    def test_old_cupti(self):
        self.said("old", ("older than CUDA 11.8",))


class Loading(harness.Case):
    def test_environment_of_the_user_is_kept(self):
        for chosen, seen in ((None, ""), ("LAZY", "LAZY"), ("EAGER", "EAGER")):
            env = {} if chosen is None else {"CUDA_MODULE_LOADING": chosen}
            result = self.wic_prof("run", "-q", "-f", "-o", "t.wicprof", "--", "sh", "-c", "echo $CUDA_MODULE_LOADING",
                                   env=env)
            self.assertEqual(result.stdout, seen + "\n")

    def test_launches_that_block_are_named(self):
        for value, named in (("1", True), ("0", False), ("", False)):
            result = self.wic_prof("run", "-q", "-f", "-o", "t.wicprof", "--", "sh", "-c", "echo $CUDA_LAUNCH_BLOCKING",
                                   env={"CUDA_LAUNCH_BLOCKING": value})
            self.assertEqual((result.returncode, result.stdout), (0, value + "\n"))
            self.assertEqual("CUDA_LAUNCH_BLOCKING=1 makes each launch wait" in " ".join(result.stderr.split()), named,
                             result.stderr)

    def test_dumps_of_the_gpu_need_a_program_without_cupti(self):
        for name in ("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "CUDA_ENABLE_USER_TRIGGERED_COREDUMP"):
            for value, options, named in (("1", (), True), ("1", ("--trace", "host"), False), ("0", (), False)):
                result = self.run_cuda("load", "context", "kernels", "3", "say", "done", env={name: value},
                                       options=options)
                self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
                self.assertEqual(f"{name} has no effect" in " ".join(result.stderr.split()), named, result.stderr)

    def test_a_sleeping_library_leaves_the_driver_its_dumps(self):
        """The driver writes none where InitializeInjection() returns 1."""
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        library = os.path.join(os.path.dirname(harness.WICPROF), "../lib/libwicprof_inject.so")
        call = f"import ctypes; print(ctypes.CDLL('{library}').InitializeInjection())"
        for env, answer in (({}, 1), ({"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1"}, 0)):
            result = subprocess.run([sys.executable, "-c", call], env={**os.environ, **env}, text=True,
                                    capture_output=True, check=True)
            self.assertEqual(result.stdout, f"{answer}\n")


if __name__ == "__main__":
    harness.main()
