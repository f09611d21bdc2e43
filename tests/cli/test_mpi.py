"""Programs of MPI: what is recorded of their processes and calls, with both implementations."""

import json
import subprocess

import harness
import mpi_case
from mpi_case import OPERATIONS, launcher, of_each_implementation, program

RANKS = 3
EVERY = ("allreduce", 1, "barrier", 1, "bcast", 1, "split", 1, "ibarrier", 1, "sendrecv", 1, "send", 1,
         "nonblocking", 1, "any", 1, "every")


class Launchers(mpi_case.Case):
    @of_each_implementation
    def test_one_trace_has_all_processes(self, implementation):
        self.run_ranks(implementation, RANKS, "barrier", 1)
        rows = self.query("t.wicprof", "SELECT p.rank, p.ranks, p.local_rank, c.world_rank, c.size FROM process p "
                          "JOIN mpi_communicator c ON c.process_id = p.id ORDER BY 1")
        self.assertEqual(rows, [(rank, RANKS, rank, rank, RANKS) for rank in range(RANKS)])

    @of_each_implementation
    def test_a_trace_for_each_rank(self, implementation):
        variable = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}[implementation]
        done = subprocess.run([*launcher(implementation, RANKS), harness.WICPROF, "run", "-q", "-f", "-o",
                               f"trace.%q{{{variable}}}.wicprof", "--", program(implementation), "barrier", "1"],
                              cwd=self.work, env=self.env, text=True, capture_output=True, timeout=harness.TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        worlds = set()
        for rank in range(RANKS):
            rows = self.query(f"trace.{rank}.wicprof", "SELECT p.rank, p.ranks, c.world_rank, c.communicator FROM "
                              "process p JOIN mpi_communicator c ON c.process_id = p.id")
            self.assertEqual([row[:3] for row in rows], [(rank, RANKS, rank)])
            worlds.add(rows[0][3])
        self.assertEqual(len(worlds), 1, "the communicator's number is the same in all traces")

    @of_each_implementation
    def test_process_without_mpi_has_its_rank(self, implementation):
        done = self.wic_prof("run", "-f", "-o", "t.wicprof", "--", *launcher(implementation, 2), "sh", "-c",
                             "i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.query("t.wicprof", "SELECT rank, ranks FROM process WHERE rank IS NOT NULL ORDER BY 1"),
                         [(0, 2), (1, 2)])
        self.assertEqual(self.query("t.wicprof", "SELECT count(*) FROM mpi_call"), [(0,)])

    @of_each_implementation
    def test_two_jobs_share_no_communicator(self, implementation):
        job = " ".join(map(str, [*launcher(implementation, 2), program(implementation), "barrier", 1]))
        done = self.wic_prof("run", "-f", "-o", "t.wicprof", "--trace", "mpi", "--", "sh", "-c", f"{job}; {job}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.query("t.wicprof", "SELECT count(*) FROM mpi_communicator GROUP BY communicator"),
                         [(2,), (2,)])


class Calls(mpi_case.Case):
    @of_each_implementation
    def test_every_call(self, implementation):
        """The program checks results, statuses and return codes itself."""
        self.run_ranks(implementation, RANKS, *EVERY)
        self.assert_each_call_is_counted_once()
        self.assert_ranks_agree_on_each_collective()
        self.assert_each_message_is_received_by_whom_it_was_sent_to()

    def assert_each_call_is_counted_once(self):
        once = {f"MPI_{name}": RANKS for name in (
            "Init", "Finalize", "Sendrecv", "Isend", "Irecv", "Issend", "Waitall", "Bcast", "Reduce", "Allreduce",
            "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Gather", "Gatherv", "Scatter", "Scatterv",
            "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan", "Ibarrier", "Ibcast", "Ireduce", "Iallreduce",
            "Comm_dup", "Comm_split", "Cart_create", "Wait", "Waitany", "Waitsome", "Test", "Testall", "Testany",
            "Testsome")}
        once.update({"MPI_Isend": 2 * RANKS, "MPI_Issend": 3 * RANKS, "MPI_Barrier": 4 * RANKS,
                     "MPI_Comm_split": 2 * RANKS, "MPI_Ssend": 1, "MPI_Send": RANKS - 1 + RANKS,
                     "MPI_Recv": 1 + RANKS - 1 + 4 * RANKS})
        self.assertEqual(self.counts(), once)

    @of_each_implementation
    def test_further_ways_of_messages(self, implementation):
        self.run_ranks(implementation, RANKS, "ways", source="more.c")
        once = {f"MPI_{name}": RANKS for name in (
            "Init", "Finalize", "Bsend", "Ibsend", "Rsend", "Irsend", "Sendrecv_replace", "Probe")}
        once.update({"MPI_Barrier": 3 * RANKS, "MPI_Recv": 3 * RANKS, "MPI_Irecv": 4 * RANKS, "MPI_Wait": 3 * RANKS,
                     "MPI_Waitall": 5 * RANKS, "MPI_Start of a send": 3 * RANKS, "MPI_Start of a receive": 3 * RANKS,
                     "MPI_Isend": 3 * RANKS, "MPI_Mprobe": 2 * RANKS, "another call of MPI": 2 * RANKS})
        self.assertEqual(self.counts(), once)
        self.assertEqual(self.messages_received(), self.messages_sent())
        self.assertEqual(len(self.messages_sent()), 11 * RANKS)

    @of_each_implementation
    def test_further_collectives(self, implementation):
        self.run_ranks(implementation, RANKS, "collectives", source="more.c")
        further = [name for name, number in OPERATIONS.items() if number >= OPERATIONS["MPI_Ialltoall"]]
        self.assertEqual({name: count for name, count in self.counts().items() if name in further},
                         {name: RANKS * (2 if name == "MPI_Win_fence" else 1) for name in further})
        self.assert_ranks_agree_on_each_collective()

    @of_each_implementation
    def test_errors_are_the_programs_own(self, implementation):
        bare = subprocess.run([*launcher(implementation, 2), program(implementation, "more.c"), "errors"],
                              env=self.env, text=True, capture_output=True, timeout=harness.TIMEOUT)
        self.assertEqual(bare.returncode, 0, bare.stderr)
        self.assertIn("error class", bare.stdout)
        self.assertEqual(self.run_ranks(implementation, 2, "errors", source="more.c").stdout, bare.stdout)

    def assert_ranks_agree_on_each_collective(self):
        rows = self.query("t.wicprof", f"""
            SELECT count(DISTINCT process_id), count(*), count(DISTINCT operation), max(m.size)
            FROM mpi_call c JOIN (SELECT DISTINCT communicator, size FROM mpi_communicator) m USING (communicator)
            WHERE c.operation >= {OPERATIONS['MPI_Barrier']} GROUP BY communicator, sequence""")
        self.assertGreater(len(rows), 20)
        for processes, calls, operations, size in rows:
            self.assertEqual((processes, calls, operations), (size, size, 1))

    def assert_each_message_is_received_by_whom_it_was_sent_to(self):
        self.assertEqual(len(self.messages_sent()), 1 + RANKS - 1 + 5 * RANKS)
        self.assertEqual(self.messages_sent("bytes"), self.messages_received("bytes"))

    def messages_sent(self, *more):
        """Each as communicator, sender, receiver, tag and number."""
        sends = ",".join(str(number) for name, number in OPERATIONS.items()
                         if "send" in name.lower())
        return self.query("t.wicprof", f"""
            SELECT {", ".join(["communicator", "m.world_rank", "peer", "tag", "sequence", *more])} FROM mpi_call c
            JOIN mpi_communicator m USING (communicator, process_id)
            WHERE operation IN ({sends}) AND peer IS NOT NULL ORDER BY 1, 2, 3, 4, 5""")

    def messages_received(self, *more):
        begun = ",".join(str(OPERATIONS[name]) for name in ("MPI_Irecv", "MPI_Recv", "MPI_Start of a receive"))
        return self.query("t.wicprof", f"""
            SELECT {", ".join(["communicator", "peer", "m.world_rank", "tag", "sequence", *more])} FROM (
              SELECT process_id, communicator, peer, tag, sequence, bytes FROM mpi_call WHERE operation IN
              ({OPERATIONS['MPI_Recv']}, {OPERATIONS['MPI_Mprobe']}) AND peer IS NOT NULL
              UNION ALL SELECT process_id, communicator, peer, tag, sequence, bytes FROM mpi_request
              WHERE operation IN ({begun}))
            JOIN mpi_communicator m USING (communicator, process_id) ORDER BY 1, 2, 3, 4, 5""")

    @of_each_implementation
    def test_fortran_is_counted_once(self, implementation):
        for source in ("ring.f90", "ring_f08.f90"):
            with self.subTest(source):
                program(implementation, source)
                self.run_ranks(implementation, RANKS, source=source)
                self.assertEqual(self.counts(), {f"MPI_{name}": RANKS for name in (
                    "Init", "Allreduce", "Irecv", "Isend", "Waitall", "Barrier", "Finalize")})
                peers = self.query("t.wicprof", "SELECT peer FROM mpi_request WHERE operation = "
                                   f"{OPERATIONS['MPI_Irecv']} ORDER BY 1")
                self.assertEqual(peers, [(rank,) for rank in range(RANKS)])

    @of_each_implementation
    def test_thread_level_is_the_one_that_mpi_gives(self, implementation):
        bare = subprocess.run([*launcher(implementation, 1), program(implementation), "threads"], env=self.env,
                              text=True, capture_output=True, timeout=harness.TIMEOUT)
        self.assertIn("provided", bare.stdout)
        self.assertEqual(self.run_ranks(implementation, 1, "threads").stdout, bare.stdout)
        self.assertEqual(self.counts(), {"MPI_Init_thread": 1, "MPI_Finalize": 1})


class Waits(mpi_case.Case):
    LATE_MS = 40

    def analysis(self):
        answer = self.wic_prof("analyze", "t.wicprof", "--format", "json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        answer = json.loads(answer.stdout)
        return answer["mpi"], [each for each in answer["findings"] if each["rule"] == "late_rank"]

    def assert_late(self, mpi, rank, times):
        """The rank came so often so late for each of the others, which the program knows; where the machine is busy,
        another one may come later now and then."""
        times *= 0.75
        first = mpi["ranks"][0]
        self.assertEqual(first["rank"], rank)
        self.assertGreaterEqual(first["times"], times)
        self.assertGreater(first["cost_ns"], 0.8 * times * self.LATE_MS * 1e6)

    @of_each_implementation
    def test_rank_that_is_late_in_a_collective(self, implementation):
        self.run_ranks(implementation, RANKS, "late", 1, self.LATE_MS, "allreduce", 16)
        mpi, findings = self.analysis()
        self.assert_late(mpi, 1, 16 * (RANKS - 1))
        self.assertEqual(mpi["ranks"][0]["most_in"], "MPI_Allreduce")
        waited = {row["rank"]: sum(row["waited_ns"]) for row in mpi["rank_times"]["ranks"]}
        self.assertEqual(waited, {cost["rank"]: cost["waited_ns"] for cost in mpi["ranks"]})
        waited_for = {row["rank"]: sum(row["waited_for_ns"]) for row in mpi["rank_times"]["ranks"]}
        self.assertEqual(max(waited_for, key=waited_for.get), 1)
        self.assertGreaterEqual(len([c for c in mpi["late_collectives"] if c["last_rank"] == 1]), 14)
        self.assertEqual([text["text"].split(":")[0] for text in findings], ["rank 1 came late"])
        self.assertRegex(self.wic_prof("analyze", "t.wicprof").stdout, r"(?s)late_rank.*rank 1 came late.*MPI rank")

    @of_each_implementation
    def test_late_sender_and_late_receiver(self, implementation):
        for late, kind in ((0, "late sender"), (1, "late receiver")):
            with self.subTest(kind):
                self.run_ranks(implementation, 2, "late", late, self.LATE_MS, "send", 5)
                mpi, _ = self.analysis()
                self.assert_late(mpi, late, 5)
                self.assertEqual([wait["kind"] for wait in mpi["longest_waits"][:5]], [kind] * 5)
                self.assertEqual((mpi["messages"], mpi["unmatched"]), (5, 0))

    @of_each_implementation
    def test_late_rank_in_calls_that_do_not_block(self, implementation):
        self.run_ranks(implementation, RANKS, "late", 2, self.LATE_MS, "nonblocking", 8)
        mpi, _ = self.analysis()
        self.assert_late(mpi, 2, 8)
        self.assertEqual(mpi["ranks"][0]["most_in"], "MPI_Waitall")

    @of_each_implementation
    def test_late_sender_among_other_messages(self, implementation):
        """Messages that are buffered, and receives that are cancelled, do not shift which send a receive waits for."""
        for word in ("after", "cancelled"):
            with self.subTest(word):
                self.run_ranks(implementation, 2, "late", 0, self.LATE_MS, word, 5, source="more.c")
                mpi, _ = self.analysis()
                self.assertEqual([wait["kind"] for wait in mpi["longest_waits"][:5]], ["late sender"] * 5)
                self.assert_late(mpi, 0, 5)
                self.assertEqual(mpi["unmatched"], 0)

    @of_each_implementation
    def test_late_rank_in_further_calls(self, implementation):
        for word, most_in in (("probe", "MPI_Probe"), ("persistent", "MPI_Waitall"), ("fence", "MPI_Win_fence"),
                              ("ialltoall", "MPI_Wait"), ("alltoallw", "MPI_Alltoallw")):
            with self.subTest(word):
                self.run_ranks(implementation, RANKS, "late", 1, self.LATE_MS, word, 8, source="more.c")
                mpi, _ = self.analysis()
                self.assert_late(mpi, 1, 8)
                self.assertEqual(mpi["ranks"][0]["most_in"], most_in)

    @of_each_implementation
    def test_ranks_that_are_late_in_turn(self, implementation):
        turns = [word for turn in range(24) for word in ("late", turn % RANKS, self.LATE_MS, "allreduce", 1)]
        self.run_ranks(implementation, RANKS, *turns)
        mpi, late = self.analysis()
        self.assertEqual(late, [])
        answer = json.loads(self.wic_prof("analyze", "t.wicprof", "--format", "json").stdout)
        found = [each for each in answer["findings"] if each["rule"] == "imbalance"]
        if not found:  # other programs took the ranks' CPUs
            self.assertIn("lacked CPUs", json.dumps(answer["refused"]))
            return
        self.assertRegex(found[0]["text"],
                         rf"^the ranks' work differs in turn: in 2[0-4] of 24 collectives, one of {RANKS} ")
        of = mpi["efficiency"]
        self.assertGreater(of["load_balance"], 0.8)
        self.assertLess(of["serialisation"], 0.6)
        self.assertAlmostEqual(of["parallel"], of["load_balance"] * of["serialisation"] * of["transfer"], places=6)

    @of_each_implementation
    def test_equal_ranks_have_no_finding(self, implementation):
        self.run_ranks(implementation, 2, "allreduce", 200, "nonblocking", 50)
        mpi, findings = self.analysis()
        self.assertEqual(findings, [])
        self.assertNotIn("imbalance", [each["rule"] for each in json.loads(
            self.wic_prof("analyze", "t.wicprof", "--format", "json").stdout)["findings"]])
        self.assertEqual((mpi["incomplete"], mpi["unmatched"], mpi["messages"], mpi["collectives"]), (0, 0, 100, 200))

    @of_each_implementation
    def test_trace_of_one_rank_cannot_say_who_was_late(self, implementation):
        self.run_ranks(implementation, 1, "barrier", 3)
        answer = json.loads(self.wic_prof("analyze", "t.wicprof", "--format", "json").stdout)
        self.assertIn("late_rank", [refused["rule"] for refused in answer["refused"]])


class Causes(mpi_case.Case):
    """Two ranks, each with a CPU if the machine has two: rank 1 is late by 20 ms in each of 40 steps."""

    STEPS, LATE_MS = 40, 20

    def assert_cause(self, implementation, cause, expected, longer, call="allreduce"):
        """`longer`: what the rank does longer, of what is recorded of its time between calls."""
        self.run_ranks(implementation, 2, cause, 1, self.LATE_MS * 1000, 1, self.STEPS, 1000, call, 1, source="late.c")
        answer = json.loads(self.wic_prof("analyze", "t.wicprof", "--format", "json").stdout)
        outside = {each["rank"]: each["outside_mpi"] for each in answer["mpi"]["ranks"]}
        self.assertGreater(outside[1][longer] - outside[0][longer], 0.8 * self.STEPS * self.LATE_MS * 1e6, outside)
        for each in outside.values():
            self.assertLessEqual(each["cpu_ns"] + each["run_delay_ns"], each["total_ns"])
        lacked = self.number("t.wicprof", "SELECT coalesce(sum(run_delay_ns), 0) FROM thread_sample "
                             "WHERE process_id IN (SELECT process_id FROM mpi_communicator)")
        if lacked > 0.3 * self.STEPS * self.LATE_MS * 1e6:
            print("other programs took the ranks' CPUs: what else made them late is not tested")
            return
        why = answer["mpi"]["late_cause"]
        self.assertEqual(self.wic_prof("digest", "-f", "-o", "t.digest", "t.wicprof").returncode, 0)
        digest = json.loads(self.wic_prof("analyze", "t.digest", "--format", "json").stdout)
        self.assertEqual((digest["mpi"]["late_cause"], digest["mpi"]["efficiency"]), (why, answer["mpi"]["efficiency"]))
        self.assertEqual(why["rank"], 1, answer["mpi"]["ranks"])
        named = {expected}
        # Samples are rare where the machine is busy, and the last one of a process is missing.
        seen = self.number("t.wicprof", "SELECT coalesce(sum(cpu_ns + run_delay_ns), 0) FROM thread_sample JOIN "
                           "process p ON p.id = process_id WHERE p.parent IN "
                           "(SELECT process_id FROM mpi_communicator)")
        if expected == "child process" and seen < 0.7 * why["longer_ns"]:
            named.add("slept")
        self.assertIn(why["cause"], named)
        for each in answer["findings"]:
            if each["rule"] == "late_rank":
                self.assertIn(f"(confidence {why['confidence']:.2f})", each["text"])

    @of_each_implementation
    def test_rank_that_sleeps(self, implementation):
        self.assert_cause(implementation, "sleep", "slept", "slept_ns")

    @of_each_implementation
    def test_rank_that_computes(self, implementation):
        self.assert_cause(implementation, "compute", "computed", "cpu_ns")

    @of_each_implementation
    def test_rank_that_has_more_data(self, implementation):
        self.assert_cause(implementation, "data", "more data", "cpu_ns", "allgatherv")

    @of_each_implementation
    def test_rank_that_waits_for_its_loader(self, implementation):
        self.assert_cause(implementation, "loader", "child process", "slept_ns")

    @of_each_implementation
    def test_gaps_add_up(self, implementation):
        """Times between calls and times in calls make up each rank's time from MPI_Init to MPI_Finalize."""
        self.run_ranks(implementation, 2, "sleep", 1, 5000, 2, 20, 1000, "barrier", 1, source="late.c")
        rows = self.query("t.wicprof", f"""
            SELECT outside, inside, until - since FROM
              (SELECT process_id, sum(outside_ns) AS outside, min(begin_ns) AS since, max(end_ns) AS until FROM mpi_gap
               GROUP BY process_id) JOIN
              (SELECT process_id, sum(end_ns - begin_ns) AS inside FROM mpi_call WHERE operation NOT IN
                 ({OPERATIONS['MPI_Init']}, {OPERATIONS['MPI_Finalize']}) GROUP BY process_id) USING (process_id)""")
        self.assertEqual(len(rows), 2)
        for outside, inside, all_of_it in rows:
            self.assertEqual(outside + inside, all_of_it)


class Choice(mpi_case.Case):
    def preloaded(self, *words, options=()):
        done = self.wic_prof("run", "-q", "-f", "-o", "t.wicprof", *options, "--", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return "libwicprof_mpi.so" in done.stdout

    @of_each_implementation
    def test_library_is_preloaded_where_a_word_is_linked_with_mpi(self, implementation):
        say = ("sh", "-c", "echo $LD_PRELOAD")
        self.assertFalse(self.preloaded(*say))
        self.assertTrue(self.preloaded(*say, program(implementation)))
        self.assertFalse(self.preloaded(*say, program(implementation), options=("--trace", "cuda,host")))

    def test_library_is_preloaded_where_asked(self):
        self.assertTrue(self.preloaded("sh", "-c", "echo $LD_PRELOAD", options=("--trace", "mpi,host")))


if __name__ == "__main__":
    harness.main()
