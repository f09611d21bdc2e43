#!/usr/bin/env bash
# Measures the GPU results of docs/results/.
# Usage: bench/gpu_results.sh BUILD_FOLDER OUTPUT_FOLDER MACHINE [COMMIT] [PART]
# PART: programs (samples under wic-prof), backend (the backend's own benchmarks), applications (all ten, and sweeps
# over threads and sizes), classification (of all ten, recorded in every way of waiting), collector (the cost of
# recording: at most 570 s, of which PyTorch takes 300), rivals (figure 17's, on one GPU), field (samples/field), two_gpus
# (needs a second GPU).
# Default: programs and backend.
# Example: bench/gpu_results.sh build docs/results h200
# Continues after a claim that does not hold and then exits with 1.
set -u
build=$(realpath "$1")
out=$(realpath "$2")
machine=$3
commit=${4:-$(git rev-parse --short HEAD)}
part=${5:-all}
bin=$build/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XDG_RUNTIME_DIR=$(mktemp -d)
export XDG_RUNTIME_DIR
failed=0

alternate() { # TIME COUNT: a schedule that alternates between poll and park
  printf "poll:$1,park:$1%.0s," $(seq "$2") | sed 's/,$//'
}

claim() { # NAME PROGRAM ARGS...: writes one result file within $limit seconds
  local name=$1 program=$2
  shift 2
  echo "== $name"
  timeout "${limit:-60}" "$bin/$program" --machine "$machine" --commit "$commit" -o "$out/$name.$machine.json" "$@" || {
    echo "$name: exit status $?"
    failed=1
  }
}

record() { # NAME RUN_OPTIONS... -- APP ARGS...: records a trace and writes its figures
  local name=$1
  shift
  echo "== $name: wic-prof run $*"
  timeout 120 "$bin/wic-prof" run -q -f -o "$work/$name.wicprof" "$@" || {
    echo "$name: exit status $?"
    failed=1
  }
  claim "$name" bench_trace_figures --trace "$work/$name.wicprof" --program "$name"
}

programs() {
  claim hot_flag bench_hot_flag --devices cuda:0 --rounds 6 --timed 5
  claim record_cost bench_record_cost --devices cuda:0
  claim break_even bench_break_even --devices cuda:0

  record hot_flag_schedule --schedule poll:3s,park:3s -- "$bin/hot_flag" --devices cuda:0 --seconds 6.5
  record hot_flag_toggles --schedule "$(alternate 300ms 10)" -- "$bin/hot_flag" --devices cuda:0 --seconds 6.5
}

backend() {
  limit=120 claim interference bench_interference --devices cuda:0 --rounds 45
  limit=60 claim wake_latency bench_wake_latency --devices cuda:0
  limit=90 claim threads bench_threads --devices cuda:0
  limit=30 claim own_overhead bench_own_overhead --devices cuda:0
  limit=70 claim soak bench_soak --devices cuda:0 --seconds 60
  limit=95 claim channel bench_channel --devices cuda:0
  limit=120 claim tiles bench_tiles --devices cuda:0 --only shapes,vector,neighbours,faults --faults 100 \
    --choices "$out/tiles_choices.$machine.txt"
  limit=80 claim tiles_launches bench_tiles --devices cuda:0 --only launches --launches 1000000
}

answer() { # NAME RUN_OPTIONS... -- APP ARGS...: writes the output of analyze for a recorded program, and its origin
  local name=$1
  shift
  echo "== $name: wic-prof run $*"
  timeout 180 "$bin/wic-prof" run -q -f -o "$work/$name.wicprof" "$@" || {
    echo "$name: exit status $?"
    failed=1
  }
  {
    echo "wic-prof run $*" | sed "s|$bin/||g; s|$work/||g"
    echo "machine $machine, driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)," \
      "$(date -u +%Y-%m-%d), commit $commit"
    echo
    timeout 120 "$bin/wic-prof" analyze "$work/$name.wicprof"
  } | sed "s|$bin/||g; s|$work/||g" > "$out/$name.$machine.txt"
}

collector() {
  answer bare_poll --trace=cuda,nvtx,pcsampling,host -- "$bin/bare_poll" --iterations 100
  answer torch_train --trace=cuda,nvtx,pcsampling,host -- \
    python3 "$(dirname "$0")/collector/torch_train.py" --busy 40 --launch-bound 100
  limit=100 claim collector_overhead bench_collector_overhead --tables tiny --rounds 12
  limit=170 claim collector_sampling bench_collector_overhead --tables sampling --rounds 3
  limit=300 claim collector_torch bench_collector_overhead --tables torch --rounds 3 \
    --torch-script "$(dirname "$0")/collector/torch_train.py"
}

# NAME BENCH_OPTIONS...: measures the applications in three ways of waiting; writes the tables of figures 12 and 16
compare_ways() {
  local name=$1
  limit=330 claim "$name" bench_applications "${@:2}"
  python3 -B "$(dirname "$0")/applications_table.py" "$out/$name.$machine.json" > "$out/$name.$machine.md" || failed=1
}

applications() {
  compare_ways applications --c-devices cuda:0 --g-devices cuda:0,cuda:0 --seconds 4
  compare_ways applications_sweep --c-devices cuda:0 --g-devices cuda:0,cuda:0 --apps c_srs,c_cg,g_bfs,g_stn \
    --seconds 1 --threads 64,512,4096,32768,262144,1048576 \
    --threads-sizes c_srs=16,c_cg=40,g_bfs=131072,g_stn=128 \
    --sizes c_cg=24,c_cg=48,g_stn=64,g_stn=192,g_bfs=16384,g_bfs=524288
}

rivals() {
  limit=560 claim rivals bench_rivals --c-devices cuda:0 --g-devices cuda:0,cuda:0
}

field() {
  limit=260 claim field bench_field --devices cuda:0 --pair cuda:0,cuda:0 --limit 150
}

classification() {
  echo "== classification"
  timeout 590 python3 -B "$(dirname "$0")/classification.py" --wic-prof "$bin/wic-prof" --programs "$bin" \
    --devices cuda:0 --jobs 12 --machine "$machine" --commit "$commit" \
    --driver "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)" \
    -o "$out/classification.$machine.json" || {
    echo "classification: exit status $?"
    failed=1
  }
}

two_gpus() {
  answer many_hosts -- "$bin/many_hosts" --processes 2 --threads 8 --devices 2
  limit=90 claim interference_peer bench_interference --devices cuda:0,cuda:1 --tables peer --rounds 45
  limit=95 claim channel_peer bench_channel --devices cuda:0,cuda:1
  limit=560 claim rivals_peer bench_rivals --c-devices cuda:0,cuda:1 --g-devices cuda:0,cuda:1
  compare_ways applications_peer --c-devices cuda:0,cuda:1 --g-devices cuda:0,cuda:1 --seconds 4
}

case $part in
  all) programs; backend ;;
  programs | backend | applications | classification | collector | rivals | field | two_gpus) "$part" ;;
  *)
    echo "unknown part '$part': choose programs, backend, applications, classification, collector, rivals, field, two_gpus or all" >&2
    exit 2
    ;;
esac
exit $failed
