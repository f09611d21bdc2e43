#!/usr/bin/env bash
# Records the ten applications of samples/ and hot_flag in both modes, a few iterations each, and packs the traces for
# `wic-prof demo --recorded` and the analyzer's tests. One run of each mode has no verdict, so each application also runs
# with `wic-prof run --ab`; of that run, whose trace is too large to ship, NAME.ab.json keeps the comparison.
# Programs without wic's API have no modes and are recorded once: bare_poll with PC samples, bare_poll_patched (the same
# with its loops patched, polled and parked in turn), torch (a PyTorch training loop), and two_ranks (two ranks of MPI
# without a GPU, one of them late; needs Open MPI).
# Usage: bench/record_traces.sh BUILD_FOLDER OUTPUT_FOLDER DEVICES [APPLICATION...]
# Example: AB_TIME=10s bench/record_traces.sh build samples/traces cuda:0,cuda:1
# AB_TIME: the longest comparison of each run with --ab (default: 30s). AB_LIMIT: seconds until such a run is given up,
# its completing included (default: 180). ONLY_AB=1: only the runs with --ab.
# NO_AB=1: all runs but these.
# DEVICES: for the applications between GPUs; a single GPU plays both ends. Applications between the CPU and a GPU use
# the first device.
# Exit status: 0 all traces recorded, 1 a recording failed or the traces together are too large to ship, 2 bad usage.
set -u
[ $# -ge 3 ] || { sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source_dir=$(cd "$(dirname "$0")/.." && pwd)
bin=$(realpath "$1")/bin
[ -x "$bin/wic-prof" ] || { echo "$bin/wic-prof does not exist; build it with make" >&2; exit 2; }
mkdir -p "$2" || exit 2
out=$(realpath "$2")
devices=$3
shift 3
max_bytes=$((5 << 20))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work
failed=0

case $devices in
  simt:*) one=simt:1; several=simt:$((${devices#simt:} < 2 ? 2 : ${devices#simt:})) ;;
  *,*) one=${devices%%,*}; several=$devices ;;
  *) one=$devices; several=$devices,$devices ;;
esac

# Enough iterations for a comparison (ten per mode), and sizes that keep thousands of waiters out of the file and, on
# GPUs, keep set-up and check short.
arguments() {
  case $1 in
    c_srs) echo "--devices $one --iterations 4 --tiles 32" ;;
    hot_flag) echo "--devices $one --iterations 12 --size 64 --passes 1" ;;
    c_*) echo "--devices $one --iterations 12$(size_of "$1")" ;;
    *) echo "--devices $several --iterations 12$(size_of "$1")" ;;
  esac
}

size_of() {
  case $devices/$1 in
    simt:*) ;;
    */c_cg) echo " --size 32" ;;
    */c_fe) echo " --size 20" ;;
    */g_bfs) echo " --size 8192" ;;
    */g_bs) echo " --size 524288 --blocks 8" ;;
    */g_c2d) echo " --size 4096" ;;
    */g_stn) echo " --size 192 --tiles 2" ;;
    */g_gem) echo " --size 2048 --panels 4 --tiles 8" ;;
    */g_kmn) echo " --size 131072 --blocks 32 --part 512" ;;
  esac
}

# Removes what identifies the machine: its name and its GPUs' numbers. record() already uses paths without folders.
without_machine() { # TRACE
  python3 - "$1" << 'PYTHON'
import sqlite3, sys
trace = sqlite3.connect(sys.argv[1], isolation_level=None)
trace.execute("UPDATE meta SET value = 'gallery' WHERE key = 'host'")
trace.execute("DELETE FROM string WHERE id IN (SELECT uuid_id FROM device)")
trace.execute("UPDATE device SET uuid_id = NULL")
trace.execute("VACUUM")
PYTHON
}

# Finishes the trace NAME.wicprof of the work folder.
pack() { # NAME
  without_machine "$work/$1.wicprof" && timeout 60 "$bin/wic-prof" analyze "$work/$1.wicprof" > /dev/null || return 1
  gzip -9 -n -c "$work/$1.wicprof" > "$out/$1.wicprof.gz"
}

record() { # APPLICATION MODE
  # shellcheck disable=SC2046
  (cd "$work" && PATH=$bin:$PATH timeout 120 \
    wic-prof run -q -f --mode "$2" -o "$1.$2.wicprof" -- "$1" $(arguments "$1")) || {
    echo "$1 in mode $2: exit status $?" >&2
    return 1
  }
  pack "$1.$2"
}

record_without_modes() { # PROGRAM
  local options words
  case $1 in
    bare_poll) options=--trace=cuda,pcsampling words="bare_poll --iterations 40" ;;
    bare_poll_patched) options="--rewrite --ab --for 3s --end" words="bare_poll --waiters 8 --iterations 100000" ;;
    torch) options= words="python3 torch_train.py --busy 5" ;;
    two_ranks) options= words="mpirun --allow-run-as-root --oversubscribe -n 2 two_ranks late 1 5 allreduce 20" ;;
  esac
  [ "$1" != torch ] || cp "$source_dir/bench/collector/torch_train.py" "$work"
  [ "$1" != two_ranks ] || mpicc -O2 -o "$work/two_ranks" "$source_dir/tests/cli/mpi/app.c" || return 1
  # shellcheck disable=SC2086
  (cd "$work" && PATH=$bin:$work:$PATH timeout 120 wic-prof run -q -f $options -o "$1.wicprof" -- $words) || {
    echo "$1: exit status $?" >&2
    return 1
  }
  pack "$1"
}

# Of g_kmn the default size: an iteration of the small one takes 9 us, and a second of it is 150 MB of waits, which take
# longer to complete and to read than to record.
arguments_of_comparison() { # APPLICATION
  case $1 in
    g_kmn) echo "--devices $several --seconds 90" ;;
    *) arguments "$1" | sed 's/--iterations [0-9]*/--seconds 90/' ;;
  esac
}

# Both modes in turn in one run.
compare_modes() { # APPLICATION
  # shellcheck disable=SC2046
  (cd "$work" && PATH=$bin:$PATH timeout "${AB_LIMIT:-180}" \
    wic-prof run -q -f --ab --for "${AB_TIME:-30s}" --precision 0.5% --end -o "$1.ab.wicprof" -- \
    "$1" $(arguments_of_comparison "$1") &&
    PATH=$bin:$PATH wic-prof compare "$1.ab.wicprof" --format json -f -o "$out/$1.ab.json") || {
    echo "$1 with --ab: failed" >&2
    return 1
  }
}

without_modes=" bare_poll bare_poll_patched torch two_ranks "
[ $# -gt 0 ] || set -- c_srs c_cg c_fe c_h3d g_bfs g_bs g_c2d g_stn g_gem g_kmn hot_flag $without_modes
for name in "$@"; do
  [ -z "${ONLY_AB:-}" ] || break
  if [ "${without_modes#* "$name" }" != "$without_modes" ]; then
    echo "== $name"
    record_without_modes "$name" || { rm -f "$out/$name.wicprof.gz"; failed=1; }
    continue
  fi
  [ -x "$bin/$name" ] || { echo "$bin/$name does not exist" >&2; failed=1; continue; }
  for mode in poll park; do
    echo "== $name, mode $mode"
    record "$name" "$mode" || { rm -f "$out/$name.$mode.wicprof.gz"; failed=1; }
  done
done
for name in "$@"; do
  [ -z "${NO_AB:-}" ] || break
  [ -x "$bin/$name" ] && [ "${without_modes#* "$name" }" = "$without_modes" ] || continue
  echo "== $name, both modes in turn"
  compare_modes "$name" || { rm -f "$out/$name.ab.json"; failed=1; }
done

# Remove traces whose other mode is missing.
for trace in "$out"/*.p{oll,ark}.wicprof.gz; do
  name=$(basename "$trace" | cut -d . -f 1)
  [ -f "$out/$name.poll.wicprof.gz" ] && [ -f "$out/$name.park.wicprof.gz" ] || rm -f "$trace"
done
bytes=$(cat "$out"/*.wicprof.gz 2> /dev/null | wc -c)
echo "== $(find "$out" -name '*.wicprof.gz' | wc -l) traces, $bytes bytes"
ls -l "$out"
[ "$bytes" -le "$max_bytes" ] || { echo "the traces exceed $max_bytes bytes: record fewer iterations" >&2; failed=1; }
exit $failed
