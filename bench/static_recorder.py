"""What a wic-prof linked with a static glibc would be: its size, and whether it can open a library (CUPTI, the CUDA
driver, the collector), on this system and in the root of another one.

    python3 bench/static_recorder.py --build build --root build/old_root/bullseye -o FILE.json

The other root (`make test-old-root` makes one) needs root's rights: the programs run in it by chroot.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import result_file

# Every system has it, and like CUPTI it needs the system's C library.
LIBRARY = "/lib/x86_64-linux-gnu/libm.so.6"


def static_link(build, output):
    """Links the objects of wic-prof again, with all libraries static. Returns the linker's words; empty: done."""
    commands = subprocess.run(["ninja", "-t", "commands", "bin/wic-prof"], cwd=build, capture_output=True, text=True,
                              check=True).stdout
    (command,) = [line for line in commands.splitlines() if " -o bin/wic-prof " in line]
    command = re.sub(r"-static-libstdc\+\+ -static-libgcc|-Wl,--push-state\S+|\S*wic_old_glibc\S*\.o", "", command)
    command = command.replace(" -o bin/wic-prof ", f" -static -o {shlex.quote(str(output))} ")
    done = subprocess.run(["sh", "-c", command], cwd=build, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def glibc_of(root):
    said = subprocess.run(["chroot", root, "ldd", "--version"], capture_output=True, text=True).stdout
    return said.splitlines()[0].rsplit(" ", 1)[-1]


def opening(program, root):
    """(whether doctor opens the library in that root, what it says)"""
    with tempfile.TemporaryDirectory(prefix="wicprof-static-", dir=root / "tmp") as folder:
        copy = pathlib.Path(folder) / "wic-prof"
        shutil.copy(program, copy)
        os.chmod(folder, 0o755)
        within = "" if str(root) == "/" else f"mount -t proc proc {shlex.quote(str(root))}/proc; "
        done = subprocess.run(["unshare", "--mount", "sh", "-c", within + 'exec chroot "$@"', "sh", root,
                               "/" + str(copy.relative_to(root)), "doctor", "--format", "json"],
                              capture_output=True, text=True, env=dict(os.environ, WICPROF_CUPTI_PATH=LIBRARY))
    if done.returncode < 0 or not done.stdout:
        return False, f"ended with status {done.returncode}: {done.stderr.strip()}"
    check = next(check for check in json.loads(done.stdout)["checks"] if check["name"] == "CUPTI")
    return "does not load" not in check["detail"], check["detail"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="the root of another system")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="wicprof-static-") as folder:
        static = pathlib.Path(folder) / "wic-prof"
        dynamic = pathlib.Path(folder) / "dynamic"
        if said := static_link(options.build, static):
            sys.exit(said)
        shutil.copy(options.build / "bin" / "wic-prof", dynamic)
        for program in (static, dynamic):
            subprocess.run(["strip", program], check=True)
        sizes = {"static": static.stat().st_size, "dynamic": dynamic.stat().st_size}
        rows.append({"name": "size", "params": sizes, "value": sizes["static"] / 1e6, "unit": "MB",
                     "compared_to": "dynamic", "ratio": sizes["static"] / sizes["dynamic"], "bar": None, "holds": None})
        for name, program in (("static", static), ("dynamic", dynamic)):
            for where, root in (("here", pathlib.Path("/")), ("elsewhere", options.root.resolve())):
                opens, said = opening(program, root)
                rows.append({"name": f"{name}_{where}_opens_a_library",
                             "params": {"glibc": glibc_of(root), "said": said}, "value": int(opens), "unit": "1",
                             "compared_to": None, "ratio": None, "bar": None, "holds": None})
    return result_file.write(options, "static_recorder", "static_recorder.py", rows)


if __name__ == "__main__":
    sys.exit(main())
