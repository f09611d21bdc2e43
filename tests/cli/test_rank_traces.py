"""Many traces of one job, read together: a trace for each rank gives what one trace of all ranks gives."""

import json
import shutil
import sqlite3
import subprocess

import harness
import mpi_case
from mpi_case import RANK_VARIABLES, launcher, of_each_implementation, program

RANKS, LATE, LATE_MS, TIMES = 3, 1, 20, 16
FILES = [f"rank.{rank}.wicprof" for rank in range(RANKS)]
LENGTHS = ("cpu_ns", "run_delay_ns", "predicted_ns", "median_wait_ns", "look_ns", "clock_error_ns")


class Case(mpi_case.Case):
    def analysis(self, *traces):
        done = self.wic_prof("analyze", *traces, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.stderr = done.stderr
        answer = json.loads(done.stdout)
        return answer["mpi"], [each["text"] for each in answer["findings"] if each["rule"] == "late_rank"]

    def assert_late(self, mpi, findings):
        """Each of the others waited so often so long for the rank, which the program knows."""
        first, known = mpi["ranks"][0], TIMES * (RANKS - 1) * LATE_MS * 1e6
        self.assertEqual((first["rank"], first["most_in"]), (LATE, "MPI_Allreduce"))
        self.assertGreater(first["cost_ns"], 0.75 * known)
        self.assertLess(first["cost_ns"], 1.5 * known)
        self.assertEqual([text.split(":")[0] for text in findings], [f"rank {LATE} came late"])

    def refused(self, *traces):
        done = self.wic_prof("analyze", *traces)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(done.stdout, "")
        return done.stderr


class Recorded(Case):
    @of_each_implementation
    def test_late_rank_in_a_trace_for_each_rank(self, implementation):
        done = subprocess.run([*launcher(implementation, RANKS), harness.WICPROF, "run", "-q", "-f", "-o",
                               f"rank.%q{{{RANK_VARIABLES[implementation]}}}.wicprof", "--", program(implementation),
                               "late", str(LATE), str(LATE_MS), "allreduce", str(TIMES)],
                              cwd=self.work, env=self.env, text=True, capture_output=True, timeout=harness.TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        mpi, findings = self.analysis(*FILES)
        self.assert_late(mpi, findings)
        self.assertEqual([(each["trace"], each["clock"]) for each in mpi["traces"]], [(file, 0) for file in FILES])
        self.assertEqual((mpi["collectives"], mpi["incomplete"], mpi["missing_ranks"]), (TIMES, 0, []))
        self.assertEqual(self.wic_prof("report", "-f", *FILES, "-o", "job.html").returncode, 0)
        self.assertIn(f"rank {LATE} came late", (self.work / "job.html").read_text())


class Split(Case):
    """One trace of all ranks, cut into one for each."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kept = None

    def setUp(self):
        super().setUp()
        implementation = next((name for name in mpi_case.IMPLEMENTATIONS if shutil.which(f"mpicc.{name}")), "openmpi")
        if type(self).kept is None:
            self.run_ranks(implementation, RANKS, "late", LATE, LATE_MS, "allreduce", TIMES, "nonblocking", 2)
            type(self).kept = (self.work / "t.wicprof").read_bytes()
        (self.work / "t.wicprof").write_bytes(self.kept)
        pids = dict(self.query("t.wicprof", "SELECT world_rank, process_id FROM mpi_communicator"))
        for rank, file in enumerate(FILES):
            others = [pid for pid in pids.values() if pid != pids[rank]]
            self.change(file, lambda table, columns: [
                f"DELETE FROM {table} WHERE {column} IN ({', '.join(map(str, others))})"
                for column in (("id",) if table == "process" else ("process_id",)) if column in columns])

    def change(self, file, statements, of="t.wicprof"):
        """A copy of a trace, with the statements for each table."""
        if of != file:
            shutil.copy(self.work / of, self.work / file)
        with sqlite3.connect(self.work / file) as database:
            for table, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
                for statement in statements(table, columns):
                    database.execute(statement)
        database.close()

    def move_clock(self, file, by, host):
        """As if the file came from another machine, or from one whose name is the same."""
        self.change(file, lambda table, columns: [
            f"UPDATE {table} SET {column} = {column} + {by} WHERE {column} > 0"
            for column in columns if column.endswith("_ns") and column not in LENGTHS] if table != "summary" else [],
            of=file)
        self.change(file, lambda table, columns: [
            f"UPDATE meta SET value = value + {by} WHERE key IN ('started_ns', 'ended_ns')",
            f"UPDATE meta SET value = '{host}' WHERE key = 'host'"] if table == "meta" else [], of=file)

    def test_the_same_figures_as_one_trace(self):
        one, finding = self.analysis("t.wicprof")
        self.assert_late(one, finding)
        for files in (FILES, FILES[::-1]):
            many, finding_of_many = self.analysis(*files)
            self.assertEqual([each["trace"] for each in many.pop("traces")], FILES)
            self.assertEqual(many, {key: value for key, value in one.items() if key != "traces"})
            self.assertEqual(finding_of_many, finding)

    def test_clock_of_another_machine(self):
        by = 3_600_123_456_789
        for host, shift in (("another", by), ("another", -by // 3600), (None, 50_000_000)):
            with self.subTest(host=host, shift=shift):
                shutil.copy(self.work / FILES[2], self.work / "moved.wicprof")
                same = self.query("t.wicprof", "SELECT value FROM meta WHERE key = 'host'")[0][0]
                self.move_clock("moved.wicprof", shift, host or same)
                mpi, findings = self.analysis(*FILES[:2], "moved.wicprof")
                *_, moved = mpi["traces"]
                self.assertEqual((moved["host"], moved["aligned_by"]), (host or same, "mpi"))
                self.assertLessEqual(abs(moved["shift_ns"] + shift), moved["error_ns"])
                self.assertLess(moved["error_ns"], LATE_MS * 1e6 / 2)
                self.assert_late(mpi, findings)
                said = self.wic_prof("analyze", *FILES[:2], "moved.wicprof").stdout
                self.assertRegex(" ".join(said.split()), r"joined from 3 traces with \d clocks, aligned within \d")

    def test_traces_that_do_not_belong_together(self):
        error = self.refused(FILES[0], "t.wicprof")
        self.assertRegex(error, rf"{FILES[0]}.*t.wicprof.*both hold rank 0|t.wicprof.*{FILES[0]}.*both hold rank 0")
        self.change("other.wicprof", lambda table, columns: ["UPDATE mpi_communicator SET communicator = communicator"
                    " - 1"] if table == "mpi_communicator" else [], of=FILES[1])
        self.assertRegex(self.refused(FILES[0], "other.wicprof"),
                         rf"{FILES[0]} and other.wicprof are not of one job.*wic-prof compare")
        self.change("none.wicprof", lambda table, columns: [f"DELETE FROM {table}"] if table.startswith("mpi_") else [],
                    of=FILES[1])
        self.assertRegex(self.refused(FILES[0], "none.wicprof"), "none.wicprof has no calls of MPI")

    def test_damaged_or_missing_trace_is_named_and_left_out(self):
        (self.work / "damaged.wicprof").write_bytes((self.work / FILES[2]).read_bytes()[:5000])
        for third in ("damaged.wicprof", "missing.wicprof"):
            mpi, findings = self.analysis(*FILES[:2], third)
            self.assertRegex(self.stderr, rf"left out: .*{third}")
            self.assertIn("no trace has rank 2", self.stderr)
            self.assertEqual((mpi["missing_ranks"], len(mpi["ranks"]), findings), ([2], 2, []))
        self.assertIn("missing.wicprof", self.refused("missing.wicprof", "gone.wicprof"))


if __name__ == "__main__":
    harness.main()
