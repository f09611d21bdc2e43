"""Digests: small files of ranks' traces, which together say what the traces say about who waited for whom."""

import gzip
import json
import random
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
        self.assertRegex(self.refused("analyze", "both.digest", "rank.0.digest"), "both hold rank 0")

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
