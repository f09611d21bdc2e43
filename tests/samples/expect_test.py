"""Records and analyzes each sample that has an expect.json; the analysis must match that file.

Fields of expect.json:
  "model", "pattern"   expected classification
  "findings_must", "findings_must_not"
                       names of rules, optionally with a site: "no_gain@h3d.face"
  "findings_say"       per rule, words that its finding must contain
  "unknown_for_now"    list of "model" and "pattern": these may also be `unknown`, but not another wrong answer
  "arguments"          the sample's arguments in this test
  "device"             "gpu": the program needs a GPU; exit status 3 skips the test
  "devices"            value of --devices, for samples that need more than simt:1
  "trace"              what to record
  "ranks"              ranks of the processes that must be recorded
"""

import json
import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ["WICPROF_SOURCE"])
os.environ.setdefault("WICPROF_TRACED_APP", "")  # the harness requires it; unused here
sys.path.insert(0, str(SOURCE / "tests" / "cli"))

import harness

PROGRAMS = pathlib.Path(os.environ["WICPROF_SAMPLES"])
REQUIRED = {"model", "pattern", "findings_must", "findings_must_not"}
FIELDS = REQUIRED | {"unknown_for_now", "arguments", "findings_say", "device", "devices", "trace",
                     "ranks"}
NO_GPU = 3  # exit status of a sample that this machine cannot run
RULES = set(re.findall(r"^    \{\"(\w+)\"", (SOURCE / "analyzer" / "rules" / "list.h").read_text(), re.M))


def shape_problems(expected):
    """Faults of an expect.json itself."""
    problems = [f"no field '{name}'" for name in sorted(REQUIRED - set(expected))]
    problems += [f"unknown field '{name}'" for name in sorted(set(expected) - FIELDS)]
    for field in ("findings_must", "findings_must_not"):
        problems += [f"{field}: there is no rule '{finding}'" for finding in expected.get(field, [])
                     if finding.split("@")[0] not in RULES]
    if not expected.get("findings_must") and not expected.get("findings_must_not"):
        problems.append("findings_must and findings_must_not are both empty")
    return problems


def answer_problems(expected, analysis):
    """Differences between the analysis and the expectation."""
    problems = []
    for field in ("model", "pattern"):
        said = analysis["classification"][field]
        allowed = {expected[field]} | ({"unknown"} if field in expected.get("unknown_for_now", []) else set())
        if said not in allowed:
            problems.append(f"{field} is {said}, not {expected[field]}")
    found = {name for finding in analysis["findings"]
             for name in (finding["rule"], f"{finding['rule']}@{finding['site']}")}
    ranks = {process["rank"] for process in analysis.get("processes", [])}
    problems += [f"no process of rank {rank}" for rank in expected.get("ranks", []) if rank not in ranks]
    problems += [f"no finding {name}" for name in expected["findings_must"] if name not in found]
    problems += [f"finding {name}" for name in expected["findings_must_not"] if name in found]
    for rule, words in expected.get("findings_say", {}).items():
        texts = [finding.get("text", "") for finding in analysis["findings"] if finding["rule"] == rule]
        if not any(all(word in text for word in words) for text in texts):
            problems.append(f"no finding {rule} says {words}")
    return problems


class Samples(harness.Case):
    maxDiff = None

    def analysis_of(self, sample, expected):
        trace = f"{sample}.wicprof"
        needs_gpu = expected.get("device") == "gpu"
        if needs_gpu and not (PROGRAMS / sample).exists():
            self.skipTest(f"{sample} was not built: the CUDA toolkit is missing")
        sources = [f"--trace={expected['trace']}"] if "trace" in expected else []
        where = [] if needs_gpu else ["--devices", expected.get("devices", "simt:1")]
        run = self.wic_prof("run", "-q", "-o", trace, *sources, "--", PROGRAMS / sample, *where,
                            *expected.get("arguments", []))
        if needs_gpu and run.returncode == NO_GPU:
            self.skipTest(f"{sample} needs a GPU: {run.stdout + run.stderr}")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        answer = self.wic_prof("analyze", trace, "--format", "json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def test_every_sample_matches_its_expectation(self):
        for folder, prefix in (("samples", ""), ("samples/field", "field_")):
            files = sorted((SOURCE / folder).glob("*/expect.json"))
            self.assertGreaterEqual(len(files), 3)
            self.check_all({prefix + file.parent.name: file for file in files})

    def check_all(self, files):
        for sample, file in files.items():
            with self.subTest(sample=sample):
                expected = json.loads(file.read_text())
                self.assertEqual(shape_problems(expected), [])
                analysis = self.analysis_of(sample, expected)
                self.assertEqual(analysis["loss"], [])
                self.assertEqual(answer_problems(expected, analysis), [], json.dumps(analysis, indent=1))


class Checker(unittest.TestCase):
    """Plants differences, to prove that the test above can fail."""

    EXPECTED = {"model": "multiple", "pattern": "adjacent", "findings_must": ["no_gain@a"],
                "findings_must_not": ["hot_word"]}
    ANALYSIS = {"classification": {"model": "multiple", "pattern": "adjacent"},
                "findings": [{"rule": "no_gain", "site": "a"}, {"rule": "host_spin", "site": None}]}

    def check(self, expected=(), **classification):
        analysis = {**self.ANALYSIS, "classification": {**self.ANALYSIS["classification"], **classification}}
        return answer_problems({**self.EXPECTED, **dict(expected)}, analysis)

    def test_answers(self):
        self.assertEqual(self.check(), [])
        self.assertEqual(self.check(model="unknown"), ["model is unknown, not multiple"])
        lenient = {"unknown_for_now": ["model"]}
        self.assertEqual(self.check(lenient, model="unknown"), [])
        self.assertEqual(self.check(lenient, model="alternating"), ["model is alternating, not multiple"])
        self.assertEqual(self.check(lenient, pattern="unknown"), ["pattern is unknown, not adjacent"])
        self.assertEqual(self.check({"ranks": [0]}), ["no process of rank 0"])
        self.assertEqual(self.check({"findings_must": ["no_gain@b"]}), ["no finding no_gain@b"])
        self.assertEqual(self.check({"findings_must_not": ["host_spin"]}), ["finding host_spin"])
        self.assertEqual(self.check({"findings_say": {"no_gain": ["tiny"]}}), ["no finding no_gain says ['tiny']"])

    def test_shapes(self):
        self.assertEqual(shape_problems(self.EXPECTED), [])
        self.assertEqual(shape_problems({**self.EXPECTED, "findings_must": ["none"]}),
                         ["findings_must: there is no rule 'none'"])
        self.assertEqual(shape_problems({**self.EXPECTED, "finding_must": []}), ["unknown field 'finding_must'"])
        self.assertEqual(shape_problems({**self.EXPECTED, "findings_must": [], "findings_must_not": []}),
                         ["findings_must and findings_must_not are both empty"])
        self.assertEqual(len(shape_problems({})), len(REQUIRED) + 1)


if __name__ == "__main__":
    harness.main()
