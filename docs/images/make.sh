#!/usr/bin/env bash
# Takes pictures of every view of the real window, on recorded traces and on a running program, without a user.
#
#   docs/images/make.sh [--live "APP ARGS..."] [TRACE...]      default: samples/traces/*.wicprof.gz
#
# Writes docs/images/NAME/VIEW.png for each trace, indexed, and docs/images/live/ for a running program (--live; by default
# hot_flag, on a GPU if there is one). Needs a built tree (`make`) and no display. WICPROF replaces build/bin/wic-prof, OUT
# replaces docs/images, SCALES="100 200" also writes VIEW@2x.png. views.sh takes the views at several sizes and themes.
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
wicprof=$(realpath -m "${WICPROF:-$source_dir/build/bin/wic-prof}")
out=$(realpath -m "${OUT:-$source_dir/docs/images}")
views="timeline sites parties findings stalls figures toggle compare"
scales=${SCALES:-100}
live=

if [ "${1:-}" = --live ]; then
  live=$2
  shift 2
fi
if [ $# -eq 0 ]; then
  shopt -s nullglob
  set -- "$source_dir"/samples/traces/*.wicprof.gz
fi
traces=()
for trace in "$@"; do traces+=("$(realpath "$trace")"); done
[ -x "$wicprof" ] || { echo "make.sh: no $wicprof; run make first" >&2; exit 2; }

work=$(mktemp -d)
running=
trap '[ -z "$running" ] || kill "$running" 2> /dev/null || true; rm -rf "$work"' EXIT

suffix() { [ "$1" = 100 ] || echo "@$(($1 / 100))x"; }

# The figures view needs a taller window.
size_of() { [ "$1" = figures ] && echo 1440x1900 || echo 1440x900; }

# Works on copies: files beside a trace (marks, theme) must not affect pictures, and pictures must not create any. Runs
# in the folder of the copy, because findings show the name of the trace.
for trace in "${traces[@]}"; do
  name=$(basename "$trace")
  name=${name%.gz}
  name=${name%.wicprof}
  mkdir -p "$out/$name"
  cp "$trace" "$work/"
  cd "$work"
  file=$(basename "$trace")
  for scale in $scales; do
    at=$(suffix $scale)
    for view in $views; do
      "$wicprof" gui "$file" --light --scale $scale --size "$(size_of $view)" --view $view --screenshot "$out/$name/$view$at.png"
    done
    # A kernel zoomed in, with the wake edges around it; then the whole timeline in the dark theme.
    { echo "wait facts 60"; echo "frames 2"; echo "key e"; echo "key /"; echo "frames 2"; echo "type sample::"; echo "frames 20"
      echo "enter"; echo "frames 10"; for _ in $(seq 8); do echo "key ."; done; echo "frames 3"; echo "key f"
      echo "frames 12"
      echo "shot $out/$name/timeline-near$at.png"; echo quit; } > "$work/near"
    "$wicprof" gui "$file" --light --scale $scale --view timeline --drive "$work/near"
    "$wicprof" gui "$file" --dark --scale $scale --view timeline --screenshot "$out/$name/timeline-dark$at.png"
  done
  # The README's picture: the top of the timeline, of a recording with toggles.
  [ "$name" != hot_flag ] ||
    python3 "$source_dir/docs/images/crop.py" "$out/$name/timeline.png" "$out/$name/toggle.png" 1440x480+0+45
  python3 "$source_dir/docs/images/shrink.py" "$out/$name"/*.png
  echo "make.sh: $out/$name"
done

# A running program and a toggle.
if [ -z "$live" ]; then
  bin=$(dirname "$wicprof")
  device=simt:1
  command -v nvidia-smi > /dev/null && nvidia-smi -L > /dev/null 2>&1 && device=cuda:0
  [ -x "$bin/hot_flag" ] && live="$bin/hot_flag --devices $device --seconds 60"
fi
if [ -n "$live" ]; then
  mkdir -p "$out/live"
  for scale in $scales; do
    session=pictures$$
    # shellcheck disable=SC2086  # a command line
    "$wicprof" run -f --name $session -o "$work/live.wicprof" -- $live > "$work/live.log" 2>&1 &
    running=$!
    until "$wicprof" sessions 2> /dev/null | grep -q "$session.*[1-9]"; do
      kill -0 $running 2> /dev/null || { cat "$work/live.log" >&2; exit 1; }
      sleep 0.2
    done
    sleep 1
    { echo "wait attached 30"; echo "wait waits 200 30"; echo "frames 20"
      echo "click toggle.park"; echo "wait toggled"; echo "wait before_after 30"; echo "key 0"; echo "frames 12"
      echo "shot $out/live/live$(suffix $scale).png"; echo quit; } > "$work/live-script"
    "$wicprof" gui --session $session --light --scale $scale --view live --drive "$work/live-script"
    kill -INT $running
    wait $running || true
    running=
  done
  python3 "$source_dir/docs/images/shrink.py" "$out/live"/*.png
  echo "make.sh: $out/live"
fi
