"""Programs of MPI for tests: those of tests/cli/mpi, compiled with each implementation that is installed."""

import functools
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

RANK_VARIABLES = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}  # of the launchers
IMPLEMENTATIONS = tuple(RANK_VARIABLES)
SOURCES = harness.SOURCE / "tests" / "cli" / "mpi"
FOLDER = tempfile.TemporaryDirectory(prefix="wicprof-mpi-")
CALLS = (harness.SOURCE / "docs" / "schema.md").read_text().split("### mpi_call")[1].split("###")[0]
OPERATIONS = {name: int(number) for number, name in 
              re.findall(r"(\d+) (MPI_\w+(?: of a \w+)?|another call of MPI)", CALLS)}


@functools.cache
def program(implementation, source="app.c"):
    """The program's path; skips the test where the implementation, or Fortran, is not installed."""
    compiler = f"{'mpicc' if source.endswith('.c') else 'mpif90'}.{implementation}"
    if not shutil.which(compiler) or not shutil.which(f"mpirun.{implementation}"):
        raise unittest.SkipTest(f"{compiler} is not installed")
    if source.endswith(".f90") and not shutil.which("gfortran"):
        raise unittest.SkipTest("gfortran is not installed")
    text = (SOURCES / source.replace("ring_f08", "ring")).read_text()
    if "f08" in source:
        text = text.replace("use mpi\n", "use mpi_f08\n").replace(", got, requests(2)\n",
                                                                   ", got\n  type(MPI_Request) :: requests(2)\n")
    path = pathlib.Path(FOLDER.name) / f"{implementation}_{source}"
    path.write_text(text)
    built = path.with_suffix("")
    done = subprocess.run([compiler, "-O1", "-w", path, "-o", built], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return built


def launcher(implementation, ranks):
    root = ["--allow-run-as-root", "--oversubscribe"] if implementation == "openmpi" else []
    return [f"mpirun.{implementation}", *root, "-n", str(ranks)]


def of_each_implementation(test):
    """The test runs once for each, as a subtest, and is skipped where there is none."""
    @functools.wraps(test)
    def run(self):
        missing = []
        for implementation in IMPLEMENTATIONS:
            try:
                program(implementation)
            except unittest.SkipTest as reason:
                missing.append(str(reason))
                continue
            with self.subTest(implementation):
                test(self, implementation)
        if len(missing) == len(IMPLEMENTATIONS):
            self.skipTest("; ".join(missing))
        for reason in missing:
            print(f"not tested: {reason}")
    return run


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        for name in list(self.env):  # of a launcher around the tests
            other = name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LD_PRELOAD")
            if other or name.startswith(("OMPI_", "PMI", "SLURM_")):
                del self.env[name]

    def run_ranks(self, implementation, ranks, *words, source="app.c", options=()):
        done = self.wic_prof("run", "-f", "-o", "t.wicprof", *options, "--", *launcher(implementation, ranks),
                             program(implementation, source), *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def counts(self, trace="t.wicprof"):
        """How often all ranks together called each operation."""
        names = {number: name for name, number in OPERATIONS.items()}
        return {names[number]: count for number, count in
                self.query(trace, "SELECT operation, count(*) FROM mpi_call GROUP BY 1")}
