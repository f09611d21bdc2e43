"""Digests: small files of ranks' traces, which together say what the traces say about who waited for whom."""

import gzip
import json
import random
import re
import signal
import sqlite3
import sys
import time

import harness
import test_schemas

sys.path.insert(0, str(harness.SOURCE / "bench"))
import made_ranks  # noqa: E402

RANKS, LATE = 6, 4
MILLION = 1_000_000


class Case(harness.Case):
    template = None

    def setUp(self):
        super().setUp()
        if Case.template is None:
            done = self.wic_prof("run", "-q", "-o", "template.wicprof", "--", "/bin/true")
            self.assertEqual(done.returncode, 0, done.stderr)
            Case.template = (self.work / "template.wicprof").read_bytes()
        (self.folder / "template").write_bytes(Case.template)

    def job(self, ranks=RANKS, steps=150, **options):
        """The traces of a job, one file per rank."""
        job = made_ranks.Job(self.folder / "template", ranks, steps, **{"per_host": 2, "late": LATE, **options})
        names = [f"rank.{rank}.wicprof" for rank in range(ranks)]
        for rank, name in enumerate(names):
            job.write(self.work / name, rank)
        return names

    def digest(self, *files, to=None):
        done = self.wic_prof("digest", *files, *(["-f", "-o", to] if to else []))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.stderr = done.stderr
        return to

    def analysis(self, *files):
        done = self.wic_prof("analyze", *files, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def of_ranks(self, *files):
        """What must not depend on how the traces are read."""
        answer = self.analysis(*files)
        findings = [each for each in answer["findings"] if each["rule"] == "late_rank"]
        return answer["mpi"], findings, answer["begin_ns"], answer["end_ns"]

    def share(self, name, gpu, pid, turn=2 * MILLION):
        """Kernels of three kinds whose GPU another program has by turns."""
        with sqlite3.connect(self.work / name) as database:
            begin, = database.execute("SELECT min(begin_ns) FROM mpi_call").fetchone()
            texts = {text: 2_000_000 + number for number, text in enumerate((gpu, "gemm", "norm", "add"))}
            database.executemany("INSERT INTO string (id, value) VALUES (?2, ?1)", texts.items())
            self.insert(database, "device", kind=1, id=0, name_id=texts[gpu], uuid_id=texts[gpu])
            database.execute("DELETE FROM kernel")
            for launch in range(120):
                kind = launch % 3
                length = (40_000, 90_000, 200_000)[kind] + (turn if launch % 10 < 3 else 0)
                self.insert(database, "kernel", process_id=pid, context=1, name_id=2_000_001 + kind, start_ns=begin,
                            end_ns=begin + length)
                begin += length + 5_000
        database.close()

    @staticmethod
    def insert(database, table, **values):
        for _, name, _, needed, *_ in database.execute(f"PRAGMA table_info({table})").fetchall():
            if needed and name not in ("id", *values):
                values[name] = 0
        database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
                         tuple(values.values()))

    def shared(self, *files):
        """What is said of GPUs that others have by turns: text, evidence, remedy and command."""
        answer = self.analysis(*files)
        self.assertEqual(test_schemas.faults("analysis", answer), [])
        return [tuple(each[key] for key in ("text", "evidence", "remedy", "command"))
                for each in answer["findings"] if each["rule"] == "shared_device"]

    def refused(self, *words):
        done = self.wic_prof(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr


class Digests(Case):
    def test_the_same_findings_as_from_the_traces(self):
        traces = self.job()
        digests = [self.digest(trace, to=f"{rank}.digest") for rank, trace in enumerate(traces)]
        whole = self.of_ranks(*traces)
        self.assertEqual(whole[1][0]["text"].split(":")[0], f"rank {LATE} came late")
        self.assertEqual((whole[0]["collectives"], whole[0]["incomplete"], whole[0]["unmatched"]), (150, 0, 0))
        self.assertEqual(self.of_ranks(*digests), whole)
        self.assertEqual(self.of_ranks(*digests[::-1]), whole)
        self.assertEqual(self.of_ranks(digests[3], traces[0], *digests[4:], traces[2], digests[1]), whole)
        report = self.wic_prof("report", "-f", *digests, "-o", "job.json")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertEqual(json.loads((self.work / "job.json").read_text())["analysis"]["mpi"], whole[0])

    def test_any_grouping_in_any_order_is_one_digest(self):
        traces = self.job(steps=80)
        whole, answer = (self.work / self.digest(*traces, to="all.digest")).read_bytes(), self.of_ranks(*traces)
        self.assertEqual(self.of_ranks("all.digest"), answer)
        for seed in range(6):
            draw = random.Random(seed)
            files = list(traces)
            for made in range(1000):
                draw.shuffle(files)
                if len(files) == 1:
                    break
                group = [files.pop() for _ in range(draw.randint(1, len(files)))]
                files.append(self.digest(*group, to=f"{seed}.{made}.digest"))
            with self.subTest(seed=seed, groups=made):
                digests = self.digest(*files, to="again.digest")
                self.assertEqual((self.work / digests).read_bytes(), whole)
                self.assertEqual(self.of_ranks(digests), answer)

    def test_condensed_to_a_megabyte_and_said_so(self):
        steps = 25_000
        traces = self.job(ranks=3, steps=steps, late=1, late_ns=200_000, late_every=4)
        digests = [self.digest(trace, to=f"{rank}.digest") for rank, trace in enumerate(traces)]
        self.assertRegex(self.stderr, r"[\d.]+ k of 75\.0 k calls of MPI, and sums of all")
        for digest in digests:
            self.assertLess((self.work / digest).stat().st_size, MILLION)
        whole, part = self.analysis(*traces), self.analysis(*digests)
        kept = part["digest"]["kept_mpi_calls"]
        self.assertEqual(part["digest"]["mpi_calls"], 9 * steps)
        self.assertTrue(0.2 * 9 * steps < kept < 0.8 * 9 * steps, kept)
        exact = [{key: each[key] for key in ("operation", "calls", "total_ns", "max_ns")}
                 for each in whole["mpi"]["operations"]]
        self.assertEqual([{key: each[key] for key in exact[0]} for each in part["mpi"]["operations"]], exact)
        self.assertEqual(part["mpi"]["calls"], 9 * steps)
        for ours, theirs in zip(part["mpi"]["ranks"], whole["mpi"]["ranks"]):
            self.assertEqual(ours["rank"], theirs["rank"])
            self.assertAlmostEqual(ours["cost_ns"] / theirs["cost_ns"], 1, delta=0.1)
            self.assertAlmostEqual(ours["waited_ns"] / theirs["waited_ns"], 1, delta=0.1)
        self.assertEqual([each["text"].split(":")[0] for each in part["findings"]][0], "rank 1 came late")
        said = " ".join(self.wic_prof("analyze", *digests).stdout.split())
        self.assertRegex(said, r"The digests keep [\d.]+ k of 225 k calls of MPI")
        self.assertIn("estimated", said)

    def test_one_long_delay_among_many_calls_is_kept(self):
        steps = 25_000
        traces = self.job(ranks=3, steps=steps, late=2, late_ns=50 * MILLION, late_every=steps - 1)
        digests = [self.digest(trace, to=f"{rank}.digest") for rank, trace in enumerate(traces)]
        longest = self.analysis(*digests)["mpi"]["longest_waits"][:2]
        self.assertEqual([each["late_rank"] for each in longest], [2, 2])
        self.assertGreater(min(each["end_ns"] - each["begin_ns"] for each in longest), 49 * MILLION)

    def test_gpus_that_others_have_by_turns(self):
        traces = self.job()
        for rank, (gpu, turn) in enumerate([("A", 2), ("B", 0), ("C", 2), ("C", 2.5), ("D", 0), ("E", 0)]):
            self.share(traces[rank], f"GPU-{gpu}", 1000 + rank % 2, int(turn * MILLION))
        digests = [self.digest(trace, to=f"{rank}.digest") for rank, trace in enumerate(traces)]
        whole, part = self.shared(*traces), self.shared(*digests)
        self.assertEqual([text for text, *_ in whole], [
            "ranks 3 and 2 have GPU 2 of node1 by turns: rank 3 loses at least 90.0 ms (2.50 ms per turn); "
            "rank 2 loses at least 72.0 ms (2.00 ms per turn)",
            "a program that is not in these traces, or another context of the process, has GPU 0 of node0 by turns: "
            "a turn makes kernels of rank 0 2.00 ms longer, however long they are"])
        supposed = r"; digests show that rank \d ran kernels there meanwhile, not in which turns"
        self.assertEqual([tuple(re.sub(supposed, "", each) for each in finding) for finding in part], whole)
        self.assertEqual(len(re.findall(supposed, part[0][1])), 2)
        self.assertRegex(whole[0][1], r"^rank 3: 36 runs of 3 kernel shapes .* 90.0 ms lost in sum\. rank 2: 36 runs")
        self.assertNotIn("end the other program", whole[0][2])
        self.assertIn("end the other program", whole[1][2])
        self.assertRegex(whole[0][3], "-i GPU-C$")
        self.assertEqual(self.shared(*digests[::-1]), part)
        self.digest(digests[4], digests[2], digests[0], to="even.digest")
        self.digest("even.digest", *traces[1::2], to="all.digest")
        self.assertEqual(self.shared("all.digest"), part)
        self.assertEqual(self.shared("even.digest", *digests[1::2]), part)
        self.assertEqual([text for text, *_ in self.shared(traces[2], *digests[3:], *traces[:2])],
                         [text for text, *_ in whole])
        keys = ("process", "context", "device", "launches", "late_starts", "shapes", "others", "sure")
        of_traces, of_digests = ([[each[key] for key in keys] for each in self.analysis(*files)["interrupted_kernels"]]
                                 for files in (traces, digests))
        self.assertEqual(of_digests, of_traces)
        self.assertEqual(len(of_digests), 3)

    def test_kinds_of_kernels_that_are_left_out_are_said(self):
        trace, = self.job(ranks=1, steps=4, late=None)
        with sqlite3.connect(self.work / trace) as database:
            database.execute("DELETE FROM kernel")
            name, = database.execute("SELECT id FROM string WHERE value = 'step_kernel'").fetchone()
            begin, = database.execute("SELECT min(begin_ns) FROM mpi_call").fetchone()
            for kind in range(1, 161):
                self.insert(database, "kernel", process_id=1000, name_id=name, grid_x=kind, start_ns=begin,
                            end_ns=begin + 1000 * kind)
            self.insert(database, "mpi_gap", process_id=1000, thread=1000, begin_ns=begin, end_ns=begin + MILLION,
                        run_delay_ns=0)
        database.close()
        self.digest(trace, to="0.digest")
        said = " ".join(self.wic_prof("analyze", "0.digest").stdout.split())
        kept = sum(range(33, 161)) / sum(range(1, 161))
        self.assertIn(f"the kinds that take most time: {int(1000 * kept) / 10} % of it or more", said)

    def test_an_older_digest_cannot_say_who_has_its_gpu(self):
        traces = self.job(ranks=2)
        for rank, trace in enumerate(traces):
            self.share(trace, f"GPU-{rank}", 1000 + rank)
        old, new = (self.digest(trace, to=f"{trace}.digest") for trace in traces)
        plain = self.work / "plain.sqlite"
        plain.write_bytes(gzip.decompress((self.work / old).read_bytes()))
        with sqlite3.connect(plain) as database:
            database.execute("DELETE FROM device")
            self.assertGreater(database.execute("DELETE FROM digest_sum WHERE sum_of >= 12").rowcount, 4)
        database.close()
        (self.work / old).write_bytes(gzip.compress(plain.read_bytes()))
        said = self.shared(old, new)
        self.assertEqual(len(said), 1)
        self.assertIn("kernels of rank 1", said[0][0])
        answer = self.analysis(old, new)
        self.assertIsNone(answer["interrupted_kernels"])
        self.assertIn("earlier wic-prof", {each["rule"]: each["reason"] for each in answer["refused"]}["shared_device"])

    def test_what_is_not_in_the_digest_is_not_shown_as_nothing(self):
        traces = self.job(steps=40)
        self.digest(*traces, to="all.digest")
        answer = self.analysis("all.digest")
        missing = answer["digest"]["not_in_digest"]
        self.assertIn("kernels", missing)
        self.assertEqual([answer[key] for key in missing], [None] * len(missing))
        self.assertIsNone(self.analysis(*traces)["digest"])
        self.assertEqual(test_schemas.faults("analysis", answer), [])
        report = json.loads(self.wic_prof("report", "all.digest", "--format", "json").stdout)
        self.assertEqual(test_schemas.faults("report", report), [])
        self.assertEqual((report["devices"], report["host_waits"]), (None, None))
        kernels, = [each for each in answer["digest"]["sums"] if each["of"] == "kernel"]
        self.assertEqual((kernels["name"], kernels["count"], kernels["max_rank"]),
                         ("step_kernel", 40 * RANKS, LATE))
        self.assertIn("not in the digest", {each["rule"]: each["reason"] for each in answer["refused"]}["host_spin"])
        for form in ("text", "html", "md"):
            if form == "text":
                said = self.wic_prof("analyze", "all.digest").stdout
            else:
                self.assertEqual(self.wic_prof("report", "-f", "all.digest", "-o", f"job.{form}").returncode, 0)
                said = (self.work / f"job.{form}").read_text()
            self.assertIn("Not in the digest: wait sites, kernels", " ".join(said.split()))
            self.assertNotIn("neither kernels", said)
            self.assertNotIn("does not wait through wic", said)

    def test_verbs_that_need_the_trace_name_it(self):
        self.job(ranks=1, steps=4, late=None)
        self.digest("rank.0.wicprof")
        for words in (["compare", "rank.0.digest"], ["why", "rank.0.digest"],
                      ["analyze", "--figure", "2", "rank.0.digest"],
                      ["report", "rank.0.digest", "-o", "x.csv"], ["report", "rank.0.digest", "-o", "x.pftrace"],
                      ["gui", "rank.0.digest", "--screenshot", "x.png", "--view", "timeline"]):
            with self.subTest(words[0]):
                self.assertRegex(self.refused(*words), r"rank\.0\.digest is a digest.*name the trace.*rank\.0\.wicprof")

    def test_errors_name_the_file_and_the_cure(self):
        self.job(ranks=2, steps=4, late=None)
        self.assertRegex(self.refused("digest", "rank.0.wicprof", "rank.1.wicprof"), "name it with -o")
        self.digest("rank.0.wicprof")
        self.assertRegex(self.refused("digest", "rank.0.wicprof"), "rank.0.digest exists.*-f")
        self.assertRegex(self.refused("digest", self.folder / "template", "-o", "t.digest"), "no calls of MPI")
        self.digest("rank.0.wicprof", "rank.1.wicprof", to="both.digest")
        (self.work / "cut.digest").write_bytes((self.work / "both.digest").read_bytes()[:-100])
        self.assertRegex(self.refused("analyze", "cut.digest"), "cut.digest is damaged or truncated")
        self.assertRegex(self.refused("analyze", "both.digest", "rank.0.digest"),
                         r"both.digest \(the digest of rank.0.wicprof\) and rank.0.digest \(the digest of "
                         r"rank.0.wicprof\) both hold rank 0 .*name each rank's trace or its digest once")

    def test_digests_and_traces_of_two_jobs_are_named(self):
        traces = self.job(ranks=4, steps=4, late=None)
        digests = [self.digest(trace, to=f"a.{rank}.digest") for rank, trace in enumerate(traces)]
        # The other job's traces have the same names.
        for trace in self.job(ranks=4, steps=4, late=None):
            with sqlite3.connect(self.work / trace) as database:
                for table in ("mpi_communicator", "mpi_call"):
                    database.execute(f"UPDATE {table} SET communicator = communicator + 1")
            database.close()
        others = [self.digest(trace, to=f"b.{rank}.digest") for rank, trace in enumerate(traces)]
        self.digest(*others, to="b.digest")
        one, two = r"a.0.digest \(the digest of rank.0.wicprof\)", r"a.1.digest \(the digest of rank.1.wicprof\)"
        for files, expected in (
                ((digests[0], others[1]), one + r" and b.1.digest \(the digest of rank.1.wicprof\) are not of one job"),
                ((*digests, others[3]), one + ", " + two + r" and 2 more traces, and b.3.digest \(the digest"),
                ((digests[0], traces[1]), one + " and rank.1.wicprof are not of one job"),
                ((traces[1], *digests[:2]), "rank.1.wicprof, and " + one + " and " + two + " are not of one job"),
                ((*digests[:2], "b.digest"), one + " and " + two + r", and b.digest \(the digest of rank.0.wicprof\)")):
            with self.subTest(files=files):
                error = self.refused("analyze", *files)
                self.assertRegex(error, expected)
                self.assertRegex(error, "name the digests or traces of one job$")
        for words in (("report", "x.html"), ("digest", "x.digest")):
            self.assertEqual(self.refused(words[0], *digests, others[3], "-o", words[1]),
                             self.refused("analyze", *digests, others[3]))
        self.assertFalse((self.work / "x.digest").exists())

    def test_a_digest_is_a_packed_trace(self):
        self.job(ranks=1, steps=4, late=None)
        self.digest("rank.0.wicprof")
        (self.work / "plain.sqlite").write_bytes(gzip.decompress((self.work / "rank.0.digest").read_bytes()))
        with sqlite3.connect(self.work / "plain.sqlite") as database:
            self.assertEqual(database.execute("SELECT count(*), max(stands_for) FROM mpi_call").fetchone(), (12, None))
            self.assertEqual(database.execute("SELECT value FROM meta WHERE key = 'digest_of'").fetchone(),
                             ("rank.0.wicprof",))
        database.close()

    def test_an_interrupt_leaves_no_part_of_a_digest(self):
        self.job(ranks=1, steps=30_000, late=None)
        before = sorted(path.name for path in self.work.iterdir())
        for wait in (0.02, 0.1, 0.3):
            process = self.start("digest", "rank.0.wicprof", "-o", "cut.digest")
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            done = self.finish(process)
            left = sorted(path.name for path in self.work.iterdir())
            self.assertEqual(left, sorted([*before, "cut.digest"]) if done.returncode == 0 else before)
            (self.work / "cut.digest").unlink(missing_ok=True)


if __name__ == "__main__":
    harness.main()
