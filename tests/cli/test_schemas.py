"""The JSON documents against their published schemas (docs/schemas), on traces of several kinds.

Schemas allow nothing that they do not name and want all that they name, so that neither can drift from the other.
"""

import copy
import json
import os
import subprocess
import unittest

import jsonschema

import harness
import stuck_case

SCHEMAS = {path.name: json.loads(path.read_text())
           for path in (harness.SOURCE / "docs" / "schemas").glob("*.schema.json")}
HOT_FLAG = os.environ.get("WICPROF_HOT_FLAG")
C_H3D = os.environ.get("WICPROF_C_H3D")


def validator(name):
    schema = SCHEMAS[f"{name}.schema.json"]
    try:
        from referencing import Registry, Resource
        registry = Registry().with_resources((key, Resource.from_contents(value)) for key, value in SCHEMAS.items())
        return jsonschema.Draft202012Validator(schema, registry=registry)
    except ImportError:  # jsonschema before 4.18
        resolver = jsonschema.RefResolver("", schema, store=dict(SCHEMAS))
        return jsonschema.Draft202012Validator(schema, resolver=resolver)


def faults(name, answer):
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
            for error in validator(name).iter_errors(answer)]


def objects(schema, where="#"):
    """Every object schema inside a schema."""
    if isinstance(schema, dict):
        if schema.get("type") in ("object", ["object", "null"]):
            yield where, schema
        for key, value in schema.items():
            yield from objects(value, f"{where}/{key}")
    elif isinstance(schema, list):
        for i, value in enumerate(schema):
            yield from objects(value, f"{where}/{i}")


class Schemas(harness.Case):
    def answer(self, *words):
        result = self.wic_prof(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def check(self, trace):
        """Validates every document about a trace. Returns the report."""
        for name, words in (("analysis", ["analyze"]), ("comparison", ["compare"]), ("report", ["report"]),
                            *(("figure", ["analyze", f"--figure={n}"]) for n in (2, 6, 12, 15, 16))):
            with self.subTest(trace=trace, words=words):
                answer = self.answer(*words, trace, "--format=json")
                self.assertEqual(faults(name, answer), [])
                if name == "report":
                    report = answer
        return report

    def test_schemas_are_valid_and_strict(self):
        self.assertEqual(sorted(name.split(".")[0] for name in SCHEMAS),
                         ["analysis", "common", "comparison", "figure", "gate", "report", "stuck", "why"])
        for name, schema in SCHEMAS.items():
            with self.subTest(schema=name):
                jsonschema.Draft202012Validator.check_schema(schema)
                self.assertEqual(schema["$id"], name)
                for where, part in objects(schema):
                    if "properties" in part:
                        self.assertIs(part["additionalProperties"], False, where)
                        self.assertEqual(sorted(part["required"]), sorted(part["properties"]), where)
                    else:
                        self.assertIsInstance(part["additionalProperties"], dict, where)

    def test_programs_that_wait(self):
        self.record("t.wicprof", "--seconds", 1, run_options=("--schedule", "poll:500ms,park:500ms"))
        report = self.check("t.wicprof")
        self.assertTrue(report["analysis"]["sites"] and report["comparison"]["segments"] and report["interventions"])
        self.record("b.wicprof", run_options=("--mode", "park"))
        for words in (["compare", "t.wicprof", "b.wicprof"], ["report", "t.wicprof", "b.wicprof"]):
            name = "comparison" if words[0] == "compare" else "report"
            self.assertEqual(faults(name, self.answer(*words, "--format=json")), [])

    def test_kernels_that_follow_each_other(self):
        subprocess.run([os.environ["WICPROF_MAKE_TRACE"], self.work / "t.wicprof", "48", "pairs"], check=True)
        analysis = self.check("t.wicprof")["analysis"]
        self.assertTrue(analysis["crowded_kernels"][0]["carve_out_ns"])
        pairs = analysis["dependent_kernels"]["pairs"]
        self.assertTrue(any(pair["tiles_ns"] for pair in pairs) and any(pair["unknown"] for pair in pairs))

    def test_energy(self):
        for name, iterations in (("a.wicprof", 128), ("b.wicprof", 160)):
            subprocess.run([os.environ["WICPROF_MAKE_TRACE"], self.work / name, str(iterations), "energy"], check=True)
        report = self.check("a.wicprof")
        site = report["analysis"]["energy"][0]["sites"][0]
        row = report["comparison"]["site_energy"][0]
        self.assertEqual(row["site"], site["site"])
        self.assertAlmostEqual(row["before"]["watts"]["value"], 50, delta=2)
        self.assertEqual(row["before"]["joules_per_iteration"], site["joules_per_iteration"])
        self.assertEqual(row["difference"]["watts"]["value"], -site["watts"])
        self.assertIs(row["below_resolution"], False)
        # Iterations, too, are longer: 180 W for 510 ms, and 130 W for 310 ms.
        self.assertAlmostEqual(site["joules_per_iteration"]["value"], 180 * 0.51 - 130 * 0.31, delta=3)
        answer = self.answer("compare", "a.wicprof", "b.wicprof", "--format=json")
        self.assertEqual(faults("comparison", answer), [])
        row = answer["site_energy"][0]
        self.assertTrue(row["before"] and row["after"])
        self.assertIs(row["below_resolution"], True)
        for suffix in ("md", "html"):
            self.assertEqual(self.wic_prof("report", "a.wicprof", "b.wicprof", "-o", f"r.{suffix}").returncode, 0)
            self.assertIn("Site by site: what polling takes", (self.work / f"r.{suffix}").read_text())

    def test_a_program_that_does_not_wait(self):
        self.assertEqual(self.wic_prof("run", "-o", "t.wicprof", "--", "true").returncode, 0)
        self.assertEqual(self.check("t.wicprof")["analysis"]["sites"], [])

    def test_applications(self):
        for program, devices in ((HOT_FLAG, "simt:1"), (C_H3D, "simt:2")):
            if program is None:
                self.skipTest("built without the samples")
            result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--schedule", "poll:500ms,park:500ms", "--",
                                   program, "--devices", devices, "--seconds", "1")
            self.assertEqual(result.returncode, 0, result.stderr)
            analysis = self.check("t.wicprof")["analysis"]
            self.assertTrue(analysis["findings"])
            self.assertTrue(analysis["wait_model"]["sites"])
            self.assertTrue(analysis["critical_path"]["shares"])

    def test_a_cuda_program(self):
        self.assertEqual(self.run_cuda("load", "context", "kernels", "9", "stream", "0.1").returncode, 0)
        analysis = self.check("t.wicprof")["analysis"]
        self.assertTrue(analysis["kernels"] and analysis["threads"])

    def test_a_sampled_program(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--", os.environ["WICPROF_SAMPLED_APP"])
        self.assertEqual(result.returncode, 0, result.stderr)
        analysis = self.check("t.wicprof")["analysis"]
        self.assertTrue(analysis["stalls"] and analysis["polling_loops"])

    def test_why_programs_are_slow(self):
        env = {"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI or "", "WICPROF_TEST_CUPTI": "", "WICPROF_FLUSH_MS": "10"}
        programs = [(["true"], None), ([harness.TRACED_APP, "--status", "3"], None)]
        if harness.CUDA_APP is not None:
            spins = "load context wait stream 9999 5 exit 0".split()
            programs.append(([harness.CUDA_APP, *spins], "host_spin"))
        for words, tried in programs:
            with self.subTest(program=words):
                result = self.wic_prof("why", "-f", "-o", "t.wicprof", "--for", "1s", "--format=json", "--", *words,
                                       env=env)
                answer = json.loads(result.stdout)
                self.assertEqual(faults("why", answer), [])
                if tried is None:
                    self.assertIsNone(answer["comparison"])
                if answer["comparison"]:
                    self.assertEqual(answer["tried"]["rule"], tried)

    def test_host_threads_that_park(self):
        options = ("--schedule", "poll:200ms,park:200ms", "--side=host")
        self.assertEqual(self.run_cuda("load", "context", "wait", "stream", "200", "5", "exit", "0",
                                       options=options).returncode, 0)
        strategies = {segment["strategy"] for segment in self.check("t.wicprof")["comparison"]["segments"]}
        self.assertIn("hybrid", strategies)

    def test_the_gate(self):
        (self.work / "wic-prof.toml").write_text("[run]\nrepeat = 2\nmodes = ['poll', 'park']\n"
                                                 "[limits]\nwait_share = 0.9\npolls_per_wait = 1\n")
        result = self.wic_prof("ci", "-f", "--config", "wic-prof.toml", "--format=json", "--", harness.TRACED_APP,
                               "--period-us", 1000, "--wait-us", 500, "--late-us", 10, "--polls", 10)
        answer = json.loads(result.stdout)
        self.assertEqual(faults("gate", answer), [])
        self.assertTrue(answer["checks"] and answer["sides"] and answer["between_sides"])

    def test_drift_is_noticed(self):
        self.record("t.wicprof")
        report = self.answer("report", "t.wicprof", "--format=json")
        for change in (lambda r: r["analysis"]["sites"][0].update(extra=1),
                       lambda r: r["analysis"]["sites"][0].pop("polls"),
                       lambda r: r["analysis"].update(begin_ns="now"),
                       lambda r: r["analysis"]["classification"].update(model="sideways"),
                       lambda r: r.update(more=[])):
            changed = copy.deepcopy(report)
            change(changed)
            self.assertNotEqual(faults("report", changed), [])


class ProgramsThatHang(stuck_case.Asks, harness.Case):
    def test_of_stuck(self):
        for scenario in ("missing_signal", "ranks"):
            run = self.hang(os.environ["WICPROF_STUCK_APP"], scenario, "simt:1", "40")
            self.until_answer(lambda answer: answer["causes"][0])
            self.assertEqual(faults("stuck", self.answer()), [])
            self.end(run)


if __name__ == "__main__":
    harness.main()
