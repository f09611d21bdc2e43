"""Something like a pod for the tests: its own /dev/shm of 64 MiB, as Docker and Kubernetes give, and a CPU quota."""

import os
import subprocess
import unittest

import harness
from control_group import Group

PERIOD_US = 100_000  # of a quota in Kubernetes, unless a cluster has another


class Container:
    """A mount namespace in a control group. unittest.SkipTest: this machine lets nobody make one."""

    def __init__(self, case, cpus, period_us=PERIOD_US):
        self.case = case
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            raise unittest.SkipTest("needs the right to mount")
        quota_us = round(cpus * period_us)
        self.group = Group.limited("cpu", {"cpu.cfs_period_us": period_us, "cpu.cfs_quota_us": quota_us},
                                   {"cpu.max": f"{quota_us} {period_us}"})
        case.addCleanup(lambda: case.until(self.group.is_removed, "the group's end"))
        self.env = {**case.env, "KUBERNETES_SERVICE_HOST": "10.0.0.1", "container": ""}
        del self.env["XDG_RUNTIME_DIR"]
        self.first = None  # the process that holds the namespace

    def enter(self, *words):
        """Enters the group, then becomes that program."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', self.group.folder / "cgroup.procs", *map(str, words)]

    def start(self, *words):
        """Starts wic-prof in a new namespace, in which later programs run, too."""
        mount = 'mount -t tmpfs -o size=64m none /dev/shm && exec "$@"'
        self.first = subprocess.Popen(["unshare", "-m", "sh", "-c", mount, "sh", *self.enter(harness.WICPROF, *words)],
                                      cwd=self.case.work, env=self.env, text=True, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.case.started.append(self.first)
        return self.first

    def run(self, *words):
        """Runs wic-prof to its end where the first program runs, as `kubectl exec` does."""
        there = ["nsenter", "-t", str(self.first.pid), "-m", f"--wd={self.case.work}"]
        return subprocess.run([*there, *self.enter(harness.WICPROF, *words)], env=self.env, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT)
