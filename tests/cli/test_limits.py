"""Limits of memory (ulimit -d and -v): each verb answers or says that memory is lacking, a program keeps its status,
and no file or session is left. WICPROF_LIMITS=all tries limits from 1 to 64 MiB and beyond in steps of 256 KiB."""

import json
import os
import re
import resource
import shutil
import subprocess

import harness

MIB = 1 << 20
ALL = os.environ.get("WICPROF_LIMITS") == "all"
STATUS = 7  # of the recorded program


def limits(*some):
    """In MiB. A recording needs its rings, so that the address space has further limits."""
    return [part / 4 for part in range(4, 257)] if ALL else some


class Limits(harness.Case):
    def setUp(self):
        super().setUp()
        self.record("t.wicprof", "--waits", "200")
        shutil.copy(harness.SOURCE / "tests" / "cli" / "flag.ptx", self.work)
        (self.work / "ci.toml").write_text("[limits]\nwait_share = 1.0\n[run]\nrepeat = 1\n")
        (self.work / "out").mkdir()

    def limited(self, kind, mib, *words):
        """None: the limit is too low for the loader."""
        def lower():
            resource.setrlimit(kind, (int(mib * MIB), resource.RLIM_INFINITY))
        try:
            result = subprocess.run([harness.WICPROF, *words], cwd=self.work, env=self.env, capture_output=True,
                                    stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT, preexec_fn=lower)
        except (OSError, subprocess.SubprocessError) as error:
            if isinstance(error, subprocess.TimeoutExpired):
                raise
            return None
        loaded = result.returncode != 127 and b"error while loading" not in result.stderr
        return result if loaded and not (kind == resource.RLIMIT_AS and mib < 13) else None

    def tried(self, kind, steps, allowed, *words, check=lambda result: None):
        statuses = set()
        for mib in steps:
            result = self.limited(kind, mib, *words)
            if result is None:
                continue
            with self.subTest(kind=kind, mib=mib, words=words[:2]):
                error = result.stderr.decode(errors="replace")
                self.assertIn(result.returncode, allowed, error)
                if result.returncode == 3 and words[0] != "doctor":  # whose answer it can be
                    self.assertRegex(error, "wic-prof: (?:error|warning): .*(memory|Resource temporarily)", error)
                    self.assertNotRegex(error, r"free some space|raise ulimit -u(?!.*ulimit)", error)
                check(result)
                self.assertEqual(self.session_files(), [])
                self.assertEqual([path.name for path in self.work.rglob("*")
                                  if re.search(r"(-wal|-shm|-journal|\.part|\.new)$", path.name)], [])
            statuses.add(result.returncode)
        return statuses

    def test_reading_verbs(self):
        for verb in (["analyze", "t.wicprof"], ["analyze", "--format=json", "t.wicprof"],
                     ["compare", "t.wicprof", "t.wicprof"], ["rewrite", "flag.ptx"], ["explain"], ["sessions"],
                     ["run", "--help"], ["doctor"],
                     *(["report", "t.wicprof", "-f", "--format", each, "-o", f"out/{each}"]
                       for each in ("html", "md", "json", "csv", "perfetto", "pftrace"))):
            usual = self.wic_prof(*verb).returncode
            for kind in (resource.RLIMIT_DATA, resource.RLIMIT_AS):
                statuses = self.tried(kind, limits(1, 1.5, 2, 4, 16, 24, 64), {usual, 1, 3}, *verb)
                self.assertIn(usual, statuses, verb)

    def test_recording(self):
        trace = self.work / "o.wicprof"

        def is_whole(result):
            kept = trace.exists() and trace.rename(self.work / "kept.wicprof")
            self.assertEqual(bool(kept), result.returncode == STATUS)
            if not kept:
                return
            answer = self.wic_prof("analyze", "--format=json", kept)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            if "INCOMPLETE" in result.stderr.decode():
                losses = [loss["name"] for loss in json.loads(answer.stdout)["loss"]]
                self.assertTrue({"incomplete", "store_stopped", "store_lost"} & set(losses), losses)

        command = ["run", "-o", "o.wicprof", "--buffer-size", "2", "--", harness.TRACED_APP, "--waits", "50"]
        command += ["--status", STATUS]
        data = limits(1, 1.5, 2, 2.5, 2.75, 8, 34, 34.5, 35, 35.25, 35.5, 36, 48, 64)
        space = [part / (4 if ALL else 1) for part in range(13 * (4 if ALL else 1), 80 * (4 if ALL else 1),
                                                           1 if ALL else 8)]
        for kind, steps in ((resource.RLIMIT_DATA, data), (resource.RLIMIT_AS, space)):
            statuses = self.tried(kind, steps, {STATUS, 3}, *map(str, command), check=is_whole)
            self.assertEqual(statuses, {STATUS, 3})

    def test_gate(self):
        statuses = self.tried(resource.RLIMIT_DATA, limits(1, 2, 3, 30, 35.5, 64), {0, 3}, "ci", "-f", "--config",
                              "ci.toml", "--", harness.TRACED_APP, "--waits", "20")
        self.assertIn(0, statuses)


if __name__ == "__main__":
    harness.main()
