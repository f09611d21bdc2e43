#!/usr/bin/env bash
# On a GPU (sm_90), some 60 s: which samples CUPTI delivers for functions that kernels call, in builds with -G.
# Usage: tests/collector/gpu/called_functions.sh BUILD_FOLDER OUTPUT_FOLDER [PREPARED_FOLDER]
# PREPARED_FOLDER keeps what nvcc and g++ make, so that a machine without them can use what another run made.
# Writes OUTPUT_FOLDER/called_functions.json and dump.txt.gz (every record of CUPTI's; see dump_samples.cpp).
# PASS: the trace has samples of called functions under their names. In the JSON, `delivered` says what CUPTI gave.
set -u
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
cases=$here/../../analyzer/machine_code_cases
cuda=${CUDA_HOME:-/usr/local/cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
made=${3:-$work}
mkdir -p "$made/cubins"
made=$(realpath "$made")
XDG_RUNTIME_DIR=$(mktemp -d)
export XDG_RUNTIME_DIR
if [ ! -x "$made/run_cases" ]; then
  cupti=$(find -L "$cuda" -name 'libcupti.so' -print -quit)
  g++ -std=c++20 -O1 -shared -fPIC -o "$made/libcupti_dump.so" "$here/dump_samples.cpp" -I "$cuda/include" \
    -I "$cuda/extras/CUPTI/include" -L "$(dirname "$cupti")" -Wl,-rpath,"$(dirname "$cupti")" -Wl,--no-as-needed \
    -lcupti -ldl || exit 1
  for family in run_kernels calls; do
    nvcc -std=c++20 -arch=sm_90 -G -cubin -o "$made/cubins/$family.G.sm_90.cubin" "$cases/$family.cu" || exit 1
  done
  nvcc -std=c++20 -O1 -o "$made/run_cases" "$cases/run_cases.cpp" -lcuda || exit 1
fi
WICPROF_CUPTI_PATH=$made/libcupti_dump.so WICPROF_DUMP=$work/dump.txt WICPROF_PC_SAMPLES=300000 timeout 40 \
  "$build/bin/wic-prof" run -q -f --trace=pcsampling -o "$work/G.wicprof" -- "$made/run_cases" "$made/cubins" G
echo "exit status $?"
[ -s "$work/dump.txt" ] || { echo "FAIL: CUPTI delivered nothing"; exit 1; }
python3 - "$work/dump.txt" "$work/G.wicprof" "$out/called_functions.json" <<'PYTHON'
import collections, json, re, sqlite3, sys
kernel = re.compile(r"^(wait_|work_|beside_)")
delivered, indexes, totals = collections.Counter(), collections.defaultdict(set), [0, 0, 0]
for line in open(sys.argv[1]):
    words = line.split()
    if words[0] == "fetch":
        totals = [a + int(b) for a, b in zip(totals, words[1:])]
        continue
    what = "without name" if words[4] == "-" else "kernel" if kernel.match(words[4]) else "called function"
    delivered[what] += int(words[3])
    indexes[what].add((words[0], int(words[1]), words[4]))
recorded = collections.Counter()
for name, samples in sqlite3.connect(sys.argv[2]).execute(
        "SELECT s.value, sum(p.samples) FROM pc_sample p LEFT JOIN string s ON s.id = p.symbol_id GROUP BY 1"):
    recorded["without name" if name is None else "kernel" if kernel.match(name) else "called function"] += samples
holds = recorded["called function"] > 0 and recorded["without name"] == 0
json.dump({"holds": holds, "delivered": delivered, "recorded": recorded,
           "fetched": dict(zip(("samples", "dropped", "not_of_the_user"), totals)),
           "functions": {what: sorted(map(list, found)) for what, found in indexes.items()}},
          open(sys.argv[3], "w"), indent=1)
print("delivered:", dict(delivered), "recorded:", dict(recorded), "fetched, dropped, not of the user:", totals)
print("PASS" if holds else "FAIL")
PYTHON
gzip -c "$work/dump.txt" >"$out/dump.txt.gz"
