#!/usr/bin/env python3
"""torch.profiler inside a program under `wic-prof run`: who records what.

    beside_torch.py WIC_PROF [OUTPUT.json]      on a GPU, some 60 s; needs PyTorch with CUDA

Each way of recording is tried in both orders: the profiler's first use before the program's first CUDA call, and after.
Prints one line per case and PASS or FAIL. It passes if torch.profiler has CUDA kernels under `--trace host` and `none`,
the program's result is the same everywhere, and with `cuda` and `syncs` wic-prof's own trace has waits for events with
their stream, their event and its time, or says why not.
"""

import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile


def program(order):
    """Runs in the program under wic-prof: prints what torch.profiler recorded."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    if order == "cuda first":
        torch.ones(1, device="cuda").item()
    kernels = 0
    for _ in range(2):  # the first use may only set the profiler up
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
            numbers = torch.arange(1 << 20, device="cuda", dtype=torch.float32)
            side, event = torch.cuda.Stream(), torch.cuda.Event()
            for _ in range(20):
                numbers = numbers * 0.5 + 1
            event.record()
            side.wait_event(event)
            with torch.cuda.stream(side):
                total = (numbers * 2).sum()
            done = torch.cuda.Event()
            done.record(side)
            done.synchronize()
            result = total.item()
        kernels = sum(1 for one in recorded.events() if "CUDA" in str(one.device_type))
    print(json.dumps({"torch_kernels": kernels, "result": result, "torch": torch.__version__}))


def count(database, sql):
    try:
        return database.execute(sql).fetchone()[0]
    except sqlite3.Error as error:
        return str(error)


def recorded(trace):
    with sqlite3.connect(trace) as database:
        return {
            "kernels": count(database, "SELECT count(*) FROM kernel"),
            "event_waits": count(database, "SELECT count(*) FROM sync WHERE event IS NOT NULL"),
            "event_waits_with_their_event": count(
                database, "SELECT count(*) FROM sync s WHERE event IS NOT NULL AND EXISTS"
                " (SELECT * FROM cuda_event e WHERE e.event_sync = s.event_sync)"),
            "stream_waits": count(database, "SELECT count(*) FROM sync WHERE event IS NOT NULL AND stream IS NOT NULL"),
            "events": count(database, "SELECT count(*) FROM cuda_event"),
            "losses": [row[0] for row in database.execute(
                "SELECT d.value FROM stat t LEFT JOIN string d ON d.id = t.detail_id WHERE t.severity = 1")],
        }


def main():
    wic_prof = str(pathlib.Path(sys.argv[1]).resolve())
    cases, passes = [], True
    with tempfile.TemporaryDirectory() as work:
        for trace_words in ("(without wic-prof)", "none", "host", "(default)", "syncs"):
            for order in ("profiler first", "cuda first"):
                trace = f"{work}/t.wicprof"
                command = [sys.executable, str(pathlib.Path(__file__).resolve()), "--program", order]
                if trace_words != "(without wic-prof)":
                    words = [] if trace_words == "(default)" else ["--trace", trace_words]
                    command = [wic_prof, "run", "-f", "-o", trace, *words, "--", *command]
                done = subprocess.run(command, capture_output=True, text=True, timeout=120)
                lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
                case = {"trace": trace_words, "order": order, "status": done.returncode,
                        **(json.loads(lines[-1]) if lines else {}), "stderr": done.stderr[-1500:]}
                if trace_words != "(without wic-prof)" and done.returncode == 0:
                    case["wic_prof"] = recorded(trace)
                    analysis = subprocess.run([wic_prof, "analyze", trace], capture_output=True, text=True, timeout=60)
                    case["analyze_names_the_clash"] = "torch.profiler" in " ".join(analysis.stdout.split())
                cases.append(case)
                good = done.returncode == 0 and case.get("result") == cases[0].get("result")
                if trace_words in ("none", "host"):
                    good = good and case.get("torch_kernels", 0) > 0
                elif trace_words in ("(default)", "syncs"):
                    own = case.get("wic_prof", {})
                    record = all(own.get(name) for name in ("event_waits_with_their_event", "stream_waits"))
                    good = good and (record or bool(own.get("losses")))
                case["holds"] = good
                passes = passes and good
                print(f"{'PASS' if good else 'FAIL'} {trace_words:20} {order:15} torch: {case.get('torch_kernels')} "
                      f"kernels; wic-prof: {case.get('wic_prof')}; clash named: {case.get('analyze_names_the_clash')}",
                      flush=True)
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(json.dumps({"holds": passes, "cases": cases}, indent=2) + "\n")
    print("PASS" if passes else "FAIL")
    return 0 if passes else 1


if __name__ == "__main__":
    if sys.argv[1] == "--program":
        program(sys.argv[2])
    else:
        sys.exit(main())
