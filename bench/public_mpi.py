#!/usr/bin/env python3
"""Whether MPI programs of others give the same results under wic-prof, and what wic-prof finds in them.

    public_mpi.py BUILD LIST -o FILE [--details FILE] [--jobs 2] [--limit 500] [--each 6] [--part 0/1]

Needs BUILD/bin/wic-prof, the recording library of MPI beside it, and what the programs were built with: Open MPI,
MPICH, or both. LIST: a line NAME|FOLDER|LAUNCHER -- PROGRAM per program, such as
`cg|/tmp/npb|mpirun -n 4 -- ./cg.A.x`. Each runs twice bare, then in one trace of all ranks (`all_ranks`: `wic-prof run
LAUNCHER PROGRAM`) and in a trace for each rank (`each_rank`: `LAUNCHER wic-prof run PROGRAM`). What must be the same,
what is left out, and the options are those of public_programs.py.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import public_programs  # noqa: E402

# Ranks that are not the launcher's only processes, such as those of a shell, need MPI to be named.
RUN = '"$1" run -f -q --trace=cuda,nvtx,host,mpi -o "$2" --'


class Job(public_programs.Program):
    ways = {"all_ranks": f"{RUN} {{launcher}} {{program}}", "each_rank": f"{{launcher}} {RUN} {{program}}"}

    def __init__(self, build, text, each):
        super().__init__(build, text, each)
        self.launcher, _, self.program = self.command.partition(" -- ")
        self.command = f"{self.launcher} {self.program}"

    def watched(self, way, trace, limit):
        for earlier in self.traces(trace):
            Path(earlier).unlink()
        command = "exec " + self.ways[way].format(launcher=self.launcher, program=self.program)
        name = trace if way == "all_ranks" else trace.replace(".wicprof", ".%p.wicprof")
        return public_programs.run(["bash", "-c", command, "bash", self.tool, name], self.folder, limit)

    def traces(self, trace):
        return sorted(map(str, Path(trace).parent.glob(f"{Path(trace).stem}.*wicprof")))


if __name__ == "__main__":
    sys.exit(public_programs.measure("public_mpi", __doc__, Job))
