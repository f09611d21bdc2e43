#!/usr/bin/env bash
# Takes a picture of every view at 1440x900 and 1280x720, light and dark, to look at after a change of the window:
# of the shipped recordings of hot_flag and c_h3d on a GPU (alone, and polled beside parked), and of a plain CPU program.
#
#   docs/images/views.sh FOLDER        writes FOLDER/TRACE/VIEW-WIDTHxHEIGHT-THEME.png
#
# Needs a built tree (`make`) and no display. WICPROF replaces build/bin/wic-prof.
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
wicprof=$(realpath -m "${WICPROF:-$source_dir/build/bin/wic-prof}")
[ $# -eq 1 ] || { echo "views.sh: name a folder for the pictures" >&2; exit 2; }
[ -x "$wicprof" ] || { echo "views.sh: no $wicprof; run make first" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Works on copies: files beside a trace (marks, theme) must not affect pictures, and pictures must not create any.
cp "$source_dir"/samples/traces/{hot_flag,c_h3d}.{poll,park}.wicprof.gz .
"$wicprof" run -o plain.wicprof -- python3 -c '
import threading, time
def spin():
    end = time.time() + 0.5
    while time.time() < end: pass
threads = [threading.Thread(target=spin), threading.Thread(target=time.sleep, args=(0.5,))]
for thread in threads: thread.start()
for thread in threads: thread.join()
' > run.log 2>&1 || { cat run.log >&2; exit 1; }

# picture NAME VIEW TRACE...
picture() {
  local name=$1 view=$2
  shift 2
  mkdir -p "$out/$name"
  for size in 1440x900 1280x720; do
    for theme in light dark; do
      "$wicprof" gui "$@" --$theme --scale 100 --size $size --view "$view" --screenshot "$out/$name/$view-$size-$theme.png"
    done
  done
}

for view in timeline sites findings stalls figures compare; do
  picture plain $view plain.wicprof
  for sample in hot_flag c_h3d; do
    if [ $view = compare ]; then
      picture $sample $view $sample.poll.wicprof.gz $sample.park.wicprof.gz
    else
      picture $sample $view $sample.poll.wicprof.gz
      picture $sample.park $view $sample.park.wicprof.gz
    fi
  done
done
echo "views.sh: $out"
