#!/usr/bin/env bash
# Takes a picture of every view at 1440x900 and 1280x720, light and dark, to look at after a change of the window: of the
# shipped recordings of hot_flag and c_h3d on a GPU (polled; A/B shows them beside the parked ones), of a PyTorch training
# loop and of a program whose loop was patched and toggled, of a plain CPU program, and of further recordings.
#
#   docs/images/views.sh FOLDER [NAME=TRACE...]      writes FOLDER/NAME/VIEW-WIDTHxHEIGHT-THEME.png, indexed
#
# Needs a built tree (`make`) and no display. WICPROF replaces build/bin/wic-prof.
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
wicprof=$(realpath -m "${WICPROF:-$source_dir/build/bin/wic-prof}")
[ $# -ge 1 ] || { echo "views.sh: name a folder for the pictures" >&2; exit 2; }
[ -x "$wicprof" ] || { echo "views.sh: no $wicprof; run make first" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Works on copies: files beside a trace (marks, theme) must not affect pictures, and pictures must not create any.
names=(hot_flag c_h3d torch patched plain)
cp "$source_dir"/samples/traces/{hot_flag,c_h3d}.{poll,park}.wicprof.gz "$work"
gunzip -c "$source_dir/samples/traces/torch.wicprof.gz" > "$work/torch.wicprof"
gunzip -c "$source_dir/samples/traces/bare_poll_patched.wicprof.gz" > "$work/patched.wicprof"
for named in "$@"; do
  cp "${named#*=}" "$work/${named%%=*}.wicprof"
  names+=("${named%%=*}")
done
cd "$work"
"$wicprof" run -o plain.wicprof -- python3 -c '
import threading, time
def spin():
    end = time.time() + 0.5
    while time.time() < end: pass
threads = [threading.Thread(target=spin), threading.Thread(target=time.sleep, args=(0.5,))]
for thread in threads: thread.start()
for thread in threads: thread.join()
' > run.log 2>&1 || { cat run.log >&2; exit 1; }

for name in "${names[@]}"; do
  mkdir -p "$out/$name"
  for view in timeline sites parties findings stalls figures toggle compare live; do
    traces=("$name.wicprof")
    [ -e "$name.wicprof" ] || traces=("$name.poll.wicprof.gz")
    [ -e "$name.wicprof" ] || [ $view != compare ] || traces+=("$name.park.wicprof.gz")
    for size in 1440x900 1280x720; do
      for theme in light dark; do
        "$wicprof" gui "${traces[@]}" --$theme --scale 100 --size $size --view $view \
          --screenshot "$out/$name/$view-$size-$theme.png"
      done
    done
  done
  python3 "$source_dir/docs/images/shrink.py" "$out/$name"/*-{light,dark}.png
  echo "views.sh: $out/$name"
done
