"""What patches cost kernels that wait all the time, on a GPU: python3 patch_cost.py BUILD ORIGINAL FILE... [--turns N]

BUILD holds bin/patch_cost, whose source says how the files are made. The rows of a file have its name's first part
(`patched` of patched.32.cubin); those of `shipped` have the bar of a patched loop that polls, 1.01. With `=recorded`
behind the file's name its waits are recorded, and the bar is 1.03.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import result_file  # noqa: E402

BAR, RECORDED_BAR = 1.01, 1.03


def rows_of(lines, original):
    for line in lines:
        if not line.startswith("{"):
            print(line, file=sys.stderr)
            continue
        each = json.loads(line)
        file, _, recorded = each["file"].partition("=")
        name = pathlib.Path(file).name.split(".")[0]
        is_original = each["file"] == str(original)
        bar = None if name != "shipped" else RECORDED_BAR if recorded else BAR
        yield {"name": f"{each['kernel']}_{name}" + (f"_{recorded}" if recorded else ""),
               "params": {field: each[field] for field in ("low", "high", "turns", "same_result")},
               "value": each["ms"], "unit": "ms", "compared_to": None if is_original else "original",
               "ratio": None if is_original else each["ratio"], "bar": bar,
               "holds": None if bar is None else each["ratio"] <= bar}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("original", type=pathlib.Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--turns", type=int, default=9)
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    done = subprocess.run([options.build / "bin" / "patch_cost", str(options.turns), options.original, *options.files],
                          capture_output=True, text=True)
    rows = list(rows_of(done.stdout.splitlines(), options.original))
    if not rows:
        sys.exit(done.stdout + done.stderr)
    return result_file.write(options, "patch_cost", f"patch_cost.py --turns {options.turns}", rows)


if __name__ == "__main__":
    sys.exit(main())
