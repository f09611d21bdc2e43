"""Programs of MPI that Slurm starts, in both orders of srun and wic-prof run: Debian's slurm-wlm and munge, with two
nodes on this machine. As root; skipped where Slurm is not installed. MPICH's ranks find each other by PMI-2. Open MPI's
do by PMIx, and are on one node: Slurm's PMIx makes a folder in /tmp whose name two nodes of one machine share."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import harness
import mpi_case

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
LATE, LATE_MS, STEPS = 1, 20, 12
CONFIGURATION = """ClusterName=wicprof
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4
PartitionName=all Nodes=n0,n1 Default=YES State=UP
"""


def missing():
    if os.geteuid() != 0:
        return "not root"
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    lacks = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    return f"not installed: {', '.join(lacks)} (slurm-wlm, munge)" if lacks else None


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@unittest.skipIf(missing(), missing())
class Slurm(mpi_case.Case):
    daemons, folder = [], None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory(prefix="wicprof-slurm-")
        folder = pathlib.Path(cls.folder.name)
        for name in ("state", "spool.n0", "spool.n1"):
            (folder / name).mkdir()
        (folder / "key").write_bytes(os.urandom(1024))
        (folder / "key").chmod(0o400)
        (folder / "slurm.conf").write_text(CONFIGURATION.format(host=socket.gethostname(), folder=folder,
                                                                ports=free_ports(3)))
        cls.slurm = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"),
                     "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        cls.start("munged", "--foreground", "--force", "--key-file", folder / "key", "--socket",
                  folder / "munge.socket", "--pid-file", folder / "munged.pid", "--log-file", folder / "munged.log",
                  "--seed-file", folder / "seed")
        cls.wait(lambda: (folder / "munge.socket").exists())
        cls.start("slurmctld", "-D")
        for node in ("n0", "n1"):
            cls.start("slurmd", "-D", "-N", node)
        cls.wait(lambda: subprocess.run(["sinfo", "-h", "-t", "idle", "-o", "%D"], env=cls.slurm, text=True,
                                        capture_output=True).stdout.strip() == "2")

    @classmethod
    def start(cls, *words):
        log = open(pathlib.Path(cls.folder.name) / f"{words[0]}.{len(cls.daemons)}.log", "w")
        cls.daemons.append(subprocess.Popen(list(map(str, words)), env=cls.slurm, stdout=log, stderr=log))
        log.close()

    @classmethod
    def wait(cls, holds):
        until = time.monotonic() + harness.TIMEOUT
        while not holds():
            if time.monotonic() > until or any(each.poll() is not None for each in cls.daemons):
                logs = "\n".join(log.read_text()[-500:] for log in pathlib.Path(cls.folder.name).glob("*.log"))
                cls.tearDownClass()
                raise AssertionError("Slurm did not start: " + logs)
            time.sleep(0.1)

    @classmethod
    def tearDownClass(cls):
        for each in reversed(cls.daemons):
            each.terminate()
        for each in cls.daemons:
            try:
                each.wait(timeout=10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
        cls.daemons.clear()
        cls.folder.cleanup()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.env.update({"SLURM_CONF": self.slurm["SLURM_CONF"], "OMPI_ALLOW_RUN_AS_ROOT": "1",
                         "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})

    def srun(self, implementation):
        if implementation == "mpich":
            return ["srun", "--mpi=pmi2", "-N", "2", "-n", "3"]
        listed = subprocess.run(["srun", "--mpi=list"], env=self.env, text=True, capture_output=True)
        if "pmix" not in listed.stdout + listed.stderr:
            self.skipTest("this Slurm has no PMIx")
        return ["srun", "--mpi=pmix", "-N", "1", "-n", "3"]

    def app(self, implementation):
        return [mpi_case.program(implementation, "late.c"), "sleep", LATE, LATE_MS * 1000, 1, STEPS, 500, "allreduce"]

    def run_words(self, *words):
        done = subprocess.run(list(map(str, words)), cwd=self.work, env=self.env, text=True, capture_output=True,
                              timeout=harness.TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_late(self, *traces):
        done = self.wic_prof("analyze", *traces, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        mpi = json.loads(done.stdout)["mpi"]
        self.assertEqual((len(mpi["ranks"]), mpi["missing_ranks"]), (3, []))
        self.assertEqual((mpi["ranks"][0]["rank"], mpi["late_cause"]["cause"]), (LATE, "slept"))
        self.assertGreater(mpi["ranks"][0]["cost_ns"], 0.75 * 2 * STEPS * LATE_MS * 1e6)

    @mpi_case.of_each_implementation
    def test_srun_outside(self, implementation):
        self.run_words(*self.srun(implementation), harness.WICPROF, "run", "-q", "-f", "-o",
                       "trace.%q{SLURM_PROCID}.wicprof", "--", *self.app(implementation))
        jobs = set()
        for rank in range(3):
            rows = self.query(f"trace.{rank}.wicprof", "SELECT rank, ranks, (SELECT value FROM string WHERE "
                              "id = job_id) FROM process WHERE id IN (SELECT process_id FROM mpi_communicator)")
            self.assertEqual([row[:2] for row in rows], [(rank, 3)])
            jobs.add(rows[0][2])
        self.assertEqual(len(jobs), 1)
        self.assert_late(*(f"trace.{rank}.wicprof" for rank in range(3)))

    @mpi_case.of_each_implementation
    def test_srun_inside(self, implementation):
        self.run_words(harness.WICPROF, "run", "-q", "-f", "-o", "job.wicprof", "--", *self.srun(implementation),
                       *self.app(implementation))
        self.assert_late("job.wicprof")


if __name__ == "__main__":
    harness.main()
