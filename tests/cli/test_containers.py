"""wic-prof where memory and CPUs are limited, as in a container: by control groups, of version 1 or 2."""

import json
import os
import re
import shlex
import subprocess

import harness
from control_group import Group

MIB = 1 << 20


class Containers(harness.Case):
    def limited(self, controller, of_v1, of_v2):
        group = Group.limited(controller, of_v1, of_v2)
        self.addCleanup(lambda: self.until(group.is_removed, "the group's end"))
        return group.folder

    def within(self, folder, *words, **env):
        """Runs wic-prof in the group."""
        program = f"echo $$ > {folder}/cgroup.procs && exec \"$@\""
        return subprocess.run(["/bin/sh", "-c", program, "sh", harness.WICPROF, *map(str, words)], cwd=self.work,
                              env={**self.env, **env}, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=harness.TIMEOUT)

    def check(self, folder, name, **env):
        answer = json.loads(self.within(folder, "doctor", "--format", "json", **env).stdout)
        return next(check for check in answer["checks"] if check["name"] == name)

    def test_a_memory_limit(self):
        group = self.limited("memory", {"memory.limit_in_bytes": 200 * MIB}, {"memory.max": 200 * MIB})
        result = self.within(group, "run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--burst", 1000, "--status", 5,
                             container="docker")
        self.assertEqual(result.returncode, 5, result.stderr)
        said = re.search(r"the memory limit leaves (\d+) MiB: events get a buffer of (\d+) MiB in place of 128; "
                         r"another size: --buffer-size, more memory: docker run --memory\n", result.stderr)
        self.assertIsNotNone(said, result.stderr)
        left, taken = map(int, said.groups())
        self.assertLessEqual(left, 200)
        self.assertEqual(taken, left // 4)
        self.assertEqual(self.query("t.wicprof", "SELECT value FROM meta WHERE key = 'state'"), [("complete",)])
        quiet = self.within(group, "run", "-f", "-q", "-o", "t.wicprof", "--", harness.TRACED_APP, "--burst", 10)
        self.assertNotIn("memory limit", quiet.stderr)
        line = self.check(group, "shared memory")
        self.assertEqual(line["state"], "ok")
        self.assertRegex(line["detail"], r"the memory limit leaves \d+ MiB, of which run takes \d+")

    def test_a_cpu_quota(self):
        group = self.limited("cpu", {"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 50_000},
                             {"cpu.max": "50000 100000"})
        spin = "import time\nend = time.monotonic() + 0.6\nwhile time.monotonic() < end: pass"
        result = self.within(group, "run", "-o", "t.wicprof", "--", "python3", "-c", spin)
        self.assertEqual(result.returncode, 0, result.stderr)
        throttled, = self.query("t.wicprof", "SELECT stat.value FROM stat JOIN string ON string.id = stat.name_id "
                                             "WHERE string.value = 'throttled_periods'")
        self.assertGreater(throttled[0], 0)
        line = self.check(group, "CPU quota")
        self.assertRegex(line["detail"], r"^0.5 CPUs; it was used up in \d+ periods.*toggle park --side host")

    def test_a_process_that_cannot_come_to_the_session(self):
        app = ["sleep", 0.5]
        for words, reason in (
                (["env", "-i", *app], r"process \d+ \((env|sleep)\) has lost WICPROF_SESSION from its environment"),
                (["sh", "-c", shlex.join(["env", "-u", "WICPROF_SESSION", *map(str, app)]) + "; exit 3"], "has lost"),
                (["setpriv", "--reuid", 65534, "--clear-groups", *app],
                 "runs as user 65534, who may not open the session")):
            if words[0] == "setpriv" and os.geteuid() != 0:
                continue
            result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--", *words)
            self.assertEqual(result.returncode, 3 if words[0] == "sh" else 0, result.stderr)
            self.assertRegex(result.stderr, "nothing was recorded: .*" + reason)
        for words in (["sleep", 0.3], ["sh", "-c", f"env -i true; exec {harness.TRACED_APP} --seconds 0.3"]):
            result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--", *words)
            self.assertNotIn("nothing was recorded", result.stderr)

    def test_the_cure_is_that_of_the_container(self):
        def line(**env):
            answer = json.loads(self.wic_prof("doctor", "--format", "json", env=env).stdout)
            return next(check for check in answer["checks"] if check["name"] == "container")
        self.assertIn("docker run --gpus all", line(container="docker")["detail"])
        of_pod = line(KUBERNETES_SERVICE_HOST="10.0.0.1", container="")["detail"]
        self.assertIn("nvidia.com/gpu", of_pod)
        self.assertNotIn("docker", of_pod)


if __name__ == "__main__":
    harness.main()
