#!/usr/bin/env bash
# Records samples of all cases on this machine's GPU (sm_90).
# Usage: tests/analyzer/machine_code_cases/record.sh BUILD_FOLDER OUTPUT_FOLDER
# Writes OUTPUT_FOLDER/O3.sm_90.samples.gz, O1 and G, and sampled.txt with the times of all cases.
set -u
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XDG_RUNTIME_DIR=$(mktemp -d)
export XDG_RUNTIME_DIR
"$here/generate.py" --cubins "$work/cubins" || exit 1
nvcc -std=c++20 -O1 -o "$work/run_cases" "$here/run_cases.cpp" -lcuda || exit 1
for way in O3 G O1; do
  # Few samples per second: each case runs for some milliseconds, and thousands of samples per case are plenty.
  WICPROF_PC_SAMPLES=${WICPROF_PC_SAMPLES:-300000} timeout 40 "$build/bin/wic-prof" run -q -f --trace=pcsampling \
    -o "$work/$way.wicprof" -- "$work/run_cases" "$work/cubins" "$way" >"$work/log" 2>&1
  echo "== $way: exit status $?" | tee -a "$out/sampled.txt"
  cat "$work/log" >>"$out/sampled.txt"
  tail -1 "$work/log"
  ls -l "$work/$way.wicprof"
  "$here/export_samples.py" "$work/$way.wicprof" "$here" "$out/$way.sm_90.samples.gz"
done
