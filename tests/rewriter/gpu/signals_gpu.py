"""Who wrote the words of patched waits, and what stuck says of hangs, on a GPU: python3 signals_gpu.py BUILD OUT

BUILD holds bin/wic-prof, bin/signals and lib/libwicprof_inject.so. Records each case of signals.cu with run --rewrite
and compares the writers in the trace with the case; asks wic-prof stuck about the hangs. Writes OUT/signals.json (rows
as docs/results/README.md says) and OUT/signals.txt, the answers of analyze and stuck; prints PASS or FAIL.
"""

import argparse
import json
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import result_file  # noqa: E402

# case -> what releases its waits, in the words of analyze --format json; None: they stay open
RELEASED = {"copy": "copies", "small_copy_async": "copies", "memset": "memsets", "stream_write": "stream_writes",
            "kernel": None, "host": None}
BAR = 0.95  # of the recorded waits have the right end, or none where nobody sees the writer


class Run:
    def __init__(self, options):
        self.bin = options.build.resolve() / "bin"
        self.out = options.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.text = open(self.out / "signals.txt", "w")
        self.rows, self.failures = [], []

    def say(self, text):
        print(text[:400], flush=True)
        self.text.write(text + "\n")
        self.text.flush()

    def command(self, *words, limit=40):
        return subprocess.run(["timeout", "-k", "2", str(limit), *map(str, words)], capture_output=True, text=True)

    def record(self, case):
        trace = self.out / f"{case}.wicprof"
        done = self.command(self.bin / "wic-prof", "run", "-q", "-f", "-o", trace, "--rewrite", "--",
                            self.bin / "signals", case)
        self.say(f"=== {case}: status {done.returncode}\n{done.stdout}{done.stderr}")
        if done.returncode != 0 or '"failed": 0' not in done.stdout:
            self.failures.append(f"{case}: the program failed")
        answer = self.command(self.bin / "wic-prof", "analyze", "--format", "json", trace)
        sites = [site for site in json.loads(answer.stdout)["sites"] if site.get("edges")] if answer.stdout else []
        self.say(self.command(self.bin / "wic-prof", "analyze", "--verbose", trace).stdout)
        waits = matched = right = 0
        candidates = set()
        for site in sites:
            edges = site["edges"]
            ends = edges["copies"] + edges["memsets"] + edges["stream_writes"]
            waits += ends + edges["open"]
            matched += ends
            right += edges["open"] if RELEASED[case] is None else edges[RELEASED[case]]
            candidates |= {candidate["kernel"].split("(")[0] for candidate in edges["candidates"]}
        if case == "kernel":
            right = right if "raises" in candidates else 0
        if trace.exists():
            with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
                memories = [row[0] for row in database.execute("SELECT DISTINCT memory FROM polled_word")]
            trace.unlink()
        else:
            memories = []
        ratio = right / waits if waits else 0.0
        self.rows.append({"name": f"{case}_right", "params": {"waits": waits, "with_an_end": matched,
                                                              "candidates": ",".join(sorted(candidates)),
                                                              "memories": ",".join(map(str, memories))},
                          "value": float(right), "unit": "recorded waits", "compared_to": "recorded waits",
                          "ratio": ratio, "bar": BAR, "holds": ratio >= BAR})
        if ratio < BAR:
            self.failures.append(f"{case}: {right} of {waits} waits have the right end")

    def hang(self, case, words):
        trace = self.out / f"{case}.wicprof"
        run = subprocess.Popen([str(self.bin / "wic-prof"), "run", "-q", "-f", "-o", str(trace), "--name", case,
                                "--rewrite", "--trace", "cuda,launches", "--", str(self.bin / "signals"), case, "8"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        answer, text = {}, ""
        for _ in range(25):
            time.sleep(0.2)
            done = self.command(self.bin / "wic-prof", "stuck", f"--session={case}", "--format=json", limit=10)
            if done.returncode != 0:
                continue
            answer = json.loads(done.stdout)
            if answer["waits"] and any(wait["age_ns"] > 1_500_000_000 for wait in answer["waits"]):
                text = self.command(self.bin / "wic-prof", "stuck", f"--session={case}", limit=10).stdout
                break
        run.send_signal(signal.SIGINT)
        try:
            run.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            run.kill()
        self.say(f"=== {case}\n{text}\n{json.dumps(answer, indent=1)}")
        trace.unlink(missing_ok=True)
        missing = [word for word in words if word not in " ".join(text.split())]
        holds = bool(answer.get("causes")) and answer["causes"][0]["kind"] == "missing_signal" and not missing
        value = 1.0 if holds else 0.0
        self.rows.append({"name": f"{case}_named", "params": {"missing": ", ".join(missing)}, "value": value,
                          "unit": "", "compared_to": None, "ratio": value, "bar": 1.0, "holds": holds})
        if not holds:
            self.failures.append(f"{case}: stuck's answer lacks {missing or 'a missing signal as its first cause'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    run = Run(options)
    for case in RELEASED:
        run.record(case)
    run.hang("hang_missing", ("wants at least 4, has 3", "by a copy"))
    run.hang("hang_kernel", ("wants other than 0, has 0", "the CPU may be its writer",
                             "the only kernel whose code stores to the word waits itself"))
    options.output = str(options.out / "signals.json")
    result_file.write(options, "signals_gpu", "signals_gpu.py " + " ".join(sys.argv[3:]), run.rows)
    for failure in run.failures:
        print("FAIL", failure)
    print("FAIL" if run.failures else "PASS")
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
