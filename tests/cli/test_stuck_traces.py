"""wic-prof stuck of files: the traces of a job's ranks, and dumps of PyTorch's Flight Recorder."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys

import harness
import mpi_case
import stuck_case
from others_traces import UTC, flight

SECONDS = "90"  # the program's own deadline, should a test fail
LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
NCCL_APP = os.environ["WICPROF_NCCL_APP"]


class Files(stuck_case.Asks, mpi_case.Case):
    of_session = ()

    def of_files(self, *files):
        done = self.wic_prof("stuck", *files, "--format=json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_first(self, answer, kind, text, confidence="likely"):
        cause = answer["causes"][0]
        self.assertEqual((cause["kind"], cause["confidence"]), (kind, confidence), cause)
        self.assertRegex(cause["text"], text)

    def refused(self, text, *files):
        self.assert_refused(self.wic_prof("stuck", *files), 2, text)


class Traces(Files):
    """A trace for each rank: the job hangs until it is told to end."""

    def record(self, implementation, how, kind, ranks=3, name="t", python=False):
        rank = mpi_case.RANK_VARIABLES[implementation]
        words = ["-o", f"{name}.%q{{{rank}}}.wicprof"]
        if python:  # a script is not linked with MPI
            words += ["--trace=mpi,host", "--", sys.executable, mpi_case.SOURCES / how, LIBRARIES[implementation]]
        else:
            words += ["--", mpi_case.program(implementation, "hang.c"), how]
        run = subprocess.Popen([*mpi_case.launcher(implementation, ranks), harness.WICPROF, "run", "-f", *words,
                                SECONDS],
                               cwd=self.work, env=self.env, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.started.append(run)
        self.until_answer(self.is_first(kind, "likely", self.names_the_child if python else lambda answer: None))
        traces = [f"{name}.{rank}.wicprof" for rank in range(ranks)]
        if python:
            self.until(lambda: all(map(self.has_open_work, traces)), "what the ranks are in, in their traces")
        run.send_signal(signal.SIGINT)
        self.finish(run)
        self.until(lambda: not self.sessions(), "the end of all recorders")
        return traces

    def names_the_child(self, answer):
        """Of the two that rank 1 has started, the one that does not wait for what to do."""
        children = [line for line in answer["causes"][0]["evidence"] if line.startswith("its child process")]
        self.assertEqual(len(children), 1, answer["causes"][0])
        self.assertRegex(children[0], r"^its child process \d+ \(python[^)]*\) .* at hang.py:\d+ in decode$")

    def has_open_work(self, trace):
        with contextlib.closing(sqlite3.connect(f"file:{self.work / trace}?mode=ro", uri=True)) as database:
            found = database.execute("SELECT value FROM meta WHERE key = 'open_work'").fetchone()
        return found is not None and found[0] != ""

    @mpi_case.of_each_implementation
    def test_a_rank_that_waits_in_python(self, implementation):
        if not (3, 11) <= sys.version_info[:2] <= (3, 13):
            self.skipTest("no CPython 3.11 to 3.13")
        traces = self.record(implementation, "hang.py", "absent_rank", python=True)
        answer = self.of_files(*traces)
        self.assert_first(answer, "absent_rank",
                          r"^rank 1 of 3 .* its thread \d+ .* at threading.py:\d+ in Condition.wait, from "
                          r"hang.py:\d+ in load_batch; it has not come to MPI_Barrier number 2 ")
        self.names_the_child(answer)

    @mpi_case.of_each_implementation
    def test_a_rank_that_sleeps(self, implementation):
        traces = self.record(implementation, "late", "absent_rank")
        answer = self.of_files(*reversed(traces))
        self.assert_first(answer, "absent_rank", r"^rank 1 of 3 \(process \d+\) keeps ranks 0, 2 waiting: it left "
                          r"MPI_Allreduce number 5 of MPI_COMM_WORLD .* its thread \d+ .*; it has not come to "
                          r"MPI_Allreduce number 6 of MPI_COMM_WORLD$")
        self.assertEqual([rank["waits_for"] for rank in answer["mpi_ranks"]], [[1], [], [1]])
        self.assertEqual(answer["files"], traces[::-1])
        with self.subTest("no trace of the rank that sleeps"):
            self.assert_first(self.of_files(traces[0], traces[2]), "absent_rank",
                              "^rank 1 of 3: no trace was given of it; ranks 0, 2 wait for it", "possible")
            self.assert_first(self.of_files(traces[2]), "absent_rank", "^ranks 0, 1 of 3: no trace was given of them; "
                              "rank 2 waits", "possible")
        with self.subTest("no trace of another rank"):
            self.assert_first(self.of_files(traces[0], traces[1]), "absent_rank", r"^rank 1 of 3 \(process")
        with self.subTest("another machine"), contextlib.closing(sqlite3.connect(self.work / traces[1])) as trace:
            with trace:
                trace.execute("UPDATE meta SET value = 'other' WHERE key = 'host'")
            answer = self.of_files(*traces)
            self.assert_first(answer, "absent_rank", r"^rank 1 of 3 \(process \d+ on other\) keeps ranks 0, 2 waiting")
            self.assertEqual(answer["mpi_ranks"][1]["host"], "other")
        with self.subTest("bad input"):
            self.refused("both hold rank 0", traces[0], traces[0])
            (self.work / "no.wicprof").write_text("nothing\n")
            self.refused("no.wicprof", traces[0], "no.wicprof")
            self.refused("is a dump of PyTorch", traces[0], flight(self.work / "_dump_0"))

    @mpi_case.of_each_implementation
    def test_a_tag_that_nobody_sends_and_another_job(self, implementation):
        traces = self.record(implementation, "tags", "mismatched_call")
        self.assert_first(self.of_files(*traces), "mismatched_call", "rank 1 has sent rank 2 a message with tag 6 that "
                          "no call has received; ranks 1, 2 wait for each other$")
        others = self.record(implementation, "ring", "mutual_wait", ranks=2, name="u")
        self.refused("are not of one job", traces[0], others[1])

    @mpi_case.of_each_implementation
    def test_one_trace_of_all_ranks(self, implementation):
        run = self.hang(*mpi_case.launcher(implementation, 3), mpi_case.program(implementation, "hang.c"), "opposite",
                        SECONDS)
        self.until_answer(self.is_first("mutual_wait", "likely", lambda answer: None))
        self.end(run)
        self.assert_first(self.of_files("t.wicprof"), "mutual_wait", "^ranks 0 to 2 wait for each other: .*different "
                          "communicators in different orders")

    def test_ranks_of_nccl(self):
        words = [NCCL_APP, "--steps", 5, "--how", "none", "--ranks", 2, "--hang", "sleep", "--shared",
                 self.folder / "shared"]
        runs = [self.start("run", "-f", "-o", f"t{rank}.wicprof", "--", *words, "--rank", rank, start_new_session=True)
                for rank in range(2)]
        self.until_answer(self.is_first("absent_rank", "likely", lambda answer: None))
        for run in runs:
            self.end(run)
        self.assert_first(self.of_files("t1.wicprof", "t0.wicprof"), "absent_rank", "^rank 1 of 2 .* keeps rank 0 "
                          "waiting: it enqueued ncclAllReduce number 5 of made .*; it has not enqueued ncclAllReduce "
                          "number 6 of made")


class Dumps(Files):
    """Made dumps of ranks that have completed collective 41."""

    def entry(self, number, name="nccl:all_reduce", state="completed", size=16, group=("0", "default_pg"), at=0):
        return {"record_id": number, "pg_id": int(group[0]), "process_group": group, "collective_seq_id": number,
                "p2p_seq_id": 0, "profiling_name": name, "time_created_ns": UTC + at, "state": state, "is_p2p": False,
                "input_sizes": [[size]], "input_dtypes": ["Float"], "time_discovered_started_ns": None,
                "time_discovered_completed_ns": UTC + at + 1 if state == "completed" else None, "thread_id": "7",
                "frames": [{"name": "all_reduce", "filename": "/x/torch/distributed/c10d.py", "line": 1},
                           {"name": "step", "filename": "/home/me/train.py", "line": 40 + number}]}

    def dumps(self, *entries):
        files = []
        for rank, own in enumerate(entries):
            files.append(self.work / f"_dump_{rank}")
            flight(files[-1], entries=[self.entry(41), *own])
        return files

    def open(self, number, **other):
        return self.entry(number, state="started", at=5, **other)

    def test_a_rank_that_has_not_come(self):
        files = self.dumps([self.open(42)], [])
        text = (r"^rank 1 of 2 keeps rank 0 waiting: it enqueued nccl:all_reduce number 41 of default_pg at [0-9:.]+ "
                "UTC and nothing since, from train.py:81 in step; it has not come to nccl:all_reduce number 42 of "
                "default_pg$")
        answer = self.of_files(*files[::-1])
        self.assert_first(answer, "absent_rank", text)
        self.assertRegex(answer["causes"][0]["evidence"][0], "rank 0 waits in nccl:all_reduce number 42 of default_pg, "
                         "from train.py:82 in step since ")
        imported = self.wic_prof("import", "-f", "-o", "job.wicprof", *files)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        self.assert_first(self.of_files("job.wicprof"), "absent_rank", text)
        self.assert_first(self.of_files(files[0]), "absent_rank", "^rank 1 of 2: no dump was given of it; rank 0 waits",
                          "possible")

    def test_what_does_not_match(self):
        for other, text in ((self.open(42, name="nccl:broadcast"), "0 in nccl:all_reduce and rank 1 in nccl:broadcast"),
                            (self.open(42, size=8), "0 with 16 elements of Float and rank 1 with 8 elements of Float")):
            with self.subTest(text):
                answer = self.of_files(*self.dumps([self.open(42)], [other]))
                self.assert_first(answer, "mismatched_call",
                                  "^number 42 of default_pg is not the same call in all ranks: rank " + text)
        unequal = ([self.open(42, name="nccl:all_to_all", size=size)] for size in (8, 16))
        self.assertEqual(self.of_files(*self.dumps(*unequal))["causes"][0]["kind"], "waiting_call")

    def test_messages(self):
        waits = {**self.open(7, name="nccl:recv 0<-1"), "is_p2p": True, "p2p_seq_id": 7}
        self.assert_first(self.of_files(*self.dumps([waits], [])), "absent_rank", "^rank 1 of 2 keeps rank 0 waiting: "
                          ".*; it has not come to the other side of nccl:recv from rank 1 of rank 0$")

    def test_groups_in_other_orders(self):
        first, second = self.open(42), self.open(1, group=("1", "other"))
        waits = {**first, "state": "scheduled"}, {**second, "state": "scheduled"}
        self.assert_first(self.of_files(*self.dumps([first, waits[1]], [second, waits[0]])), "mutual_wait",
                          "^ranks 0, 1 wait for each other: .*different communicators in different orders")

    def test_a_device_that_does_not_go_on(self):
        ahead = [self.entry(42), self.open(43)]
        self.assert_first(self.of_files(*self.dumps(ahead, [self.open(42), self.open(43)])), "absent_rank",
                          "^rank 1 of 2 keeps rank 0 waiting: it enqueued nccl:all_reduce number 42 of default_pg .*, "
                          "which others have completed and its device has not")

    def test_bad_input(self):
        files = self.dumps([self.open(42)], [])
        (self.work / "other").mkdir()
        again = flight(self.work / "other" / "_dump_1")
        self.refused("are both of rank 1", files[1], again)
        self.refused("does not tell its rank", flight(self.work / "dump"))
        self.refused("nothing of it was run", self.broken(self.work / "_dump_3"))

    def broken(self, path):
        path.write_bytes(b"\x80\x02cos\nsystem\n.")
        return path


if __name__ == "__main__":
    harness.main()
