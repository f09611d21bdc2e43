"""wic-prof stuck: MPI programs that hang on purpose."""

import subprocess

import harness
import mpi_case
import stuck_case

SECONDS = "90"  # the program's own deadline, should a test fail


class MpiStuck(stuck_case.Asks, mpi_case.Case):
    def scenario(self, implementation, how, kind, check, ranks=4):
        app = mpi_case.program(implementation, "hang.c")
        run = self.hang(*mpi_case.launcher(implementation, ranks), app, how, SECONDS)
        try:
            self.until_answer(self.is_first(kind, "likely", check))
            text = self.wic_prof("stuck", "--session=hung")
            self.assertEqual(text.returncode, 0, text.stderr)
            self.assertTrue(text.stdout.startswith(kind), text.stdout)
            self.assertRegex(text.stdout, r"(?m)^ranks")
        finally:
            self.end(run)

    def says(self, *parts):
        def check(answer):
            for part in parts:
                self.assertRegex(answer["causes"][0]["text"], part)
        return check

    @mpi_case.of_each_implementation
    def test_a_rank_that_sleeps(self, implementation):
        def check(answer):
            cause = answer["causes"][0]
            self.assertRegex(cause["text"], r"rank 1 of 4 \(process \d+\) keeps ranks 0, 2, 3 waiting: it left "
                                            r"MPI_Allreduce number 5 of MPI_COMM_WORLD .* outside of MPI .* sleeps in "
                                            rf"\w+ at load_data of {implementation}_hang;")
            self.assertIn("it has not come to MPI_Allreduce number 6 of MPI_COMM_WORLD", cause["text"])
            self.assertEqual(len(cause["evidence"]), 1)
            self.assertEqual([rank["waits_for"] for rank in answer["mpi_ranks"]], [[1], [], [1], [1]])
            self.assertEqual([rank["end_age_ns"] is None for rank in answer["mpi_ranks"]], [True, False, True, True])
            self.assertEqual(len(answer["causes"]), 1)
        self.scenario(implementation, "late", "absent_rank", check)

    @mpi_case.of_each_implementation
    def test_other_collectives(self, implementation):
        self.scenario(implementation, "collectives", "mismatched_call", self.says(
            r"^number 1 of MPI_Comm_dup \(\w{4}\) is not the same call in all ranks: rank 1 in MPI_Bcast and "
            "ranks .* in MPI_Barrier"))

    @mpi_case.of_each_implementation
    def test_communicators_in_opposite_order(self, implementation):
        self.scenario(implementation, "opposite", "mutual_wait", self.says(
            r"^ranks 0 to 3 wait for each other: rank 1 in MPI_Barrier number 1 of MPI_Comm_dup \(\w{4}\) for ranks "
            "0, 2, 3, and ranks 0, 2, 3 in", "different communicators in different orders"))

    @mpi_case.of_each_implementation
    def test_a_tag_that_nobody_sends(self, implementation):
        self.scenario(implementation, "tags", "mismatched_call", self.says(
            r"^rank 2 of 4 \(process \d+\) waits for a message from rank 1 with tag 5 that has not been sent, but "
            "rank 1 has sent rank 2 a message with tag 6 that no call has received"))

    @mpi_case.of_each_implementation
    def test_a_send_that_nobody_receives(self, implementation):
        self.scenario(implementation, "sender", "mismatched_call", self.says(
            "^rank 2 of 4 .* from rank 1 with tag 5 .*but rank 1 sends rank 2 one with tag 6, which no call receives"))

    @mpi_case.of_each_implementation
    def test_a_sender_that_is_not_the_one(self, implementation):
        self.scenario(implementation, "peers", "mismatched_call", self.says(
            "^rank 2 of 4 .* from rank 3 with tag 5 .*but rank 1 has sent rank 2 a message with tag 5 that no call"))

    @mpi_case.of_each_implementation
    def test_both_send_first(self, implementation):
        self.scenario(implementation, "sends", "mutual_wait", self.says(
            "^ranks 1, 2 wait for each other: rank 1 in MPI_Send to rank 2", "deadlock: each sends before it receives"))

    @mpi_case.of_each_implementation
    def test_a_ring_in_which_nobody_sends(self, implementation):
        self.scenario(implementation, "ring", "mutual_wait", self.says(
            "^ranks 0 to 3 wait for each other:", "deadlock: each receives before it sends"))

    @mpi_case.of_each_implementation
    def test_a_rank_that_asks_again_and_again(self, implementation):
        def check(answer):
            self.assertRegex(answer["causes"][0]["text"], "^rank 1 of 4")
            self.assertIn("rank 2 waits in MPI_Testall for MPI_Irecv from rank 0 with tag 6, MPI_Irecv from rank 1",
                          answer["causes"][0]["evidence"][1])
        self.scenario(implementation, "asks", "absent_rank", check)

    @mpi_case.of_each_implementation
    def test_a_session_for_each_rank(self, implementation):
        def check(answer):
            self.assertRegex(answer["causes"][0]["text"], r"^rank 1 of 3 \(process \d+\) keeps ranks 0, 2 waiting")
            self.assertEqual((len(answer["other_sessions"]), len(answer["mpi_ranks"])), (2, 3))
        self.of_session = ()
        app = mpi_case.program(implementation, "hang.c")
        run = subprocess.Popen([*mpi_case.launcher(implementation, 3), harness.WICPROF, "run", "-f", "-o",
                                f"t.%q{{{mpi_case.RANK_VARIABLES[implementation]}}}.wicprof", "--", app, "late",
                                SECONDS],
                               cwd=self.work, env=self.env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
        self.started.append(run)
        try:
            self.until_answer(self.is_first("absent_rank", "likely", check))
            with self.subTest("a further program"):
                other = self.start_app()
                done = self.wic_prof("stuck")
                self.assertEqual(done.returncode, 2)
                self.assertIn("4 sessions are running", done.stderr)
                self.interrupt(other)
        finally:
            self.end(run)


if __name__ == "__main__":
    harness.main()
