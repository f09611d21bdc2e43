#!/usr/bin/env bash
# Records samples of all cases on this machine's GPU (sm_90).
# Usage: tests/analyzer/machine_code_cases/record.sh BUILD_FOLDER OUTPUT_FOLDER
# Writes OUTPUT_FOLDER/sampled.O1.wicprof, .O3. and .G., and sampled.txt with the times of all cases.
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
for way in O3 O1 G; do
  timeout 100 "$build/bin/wic-prof" run -q -f --trace=cuda,pcsampling -o "$out/sampled.$way.wicprof" -- \
    "$work/run_cases" "$work/cubins" "$way" >"$work/log" 2>&1
  echo "== $way: exit status $?" | tee -a "$out/sampled.txt"
  cat "$work/log" >>"$out/sampled.txt"
  tail -2 "$work/log"
done
