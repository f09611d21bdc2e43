#!/usr/bin/env python3
"""Compiles the cases and writes their machine code as test data.

Needs nvcc and nvdisasm of CUDA 13; Triton for the families written in Triton (without Triton, they are left out).

    tests/analyzer/machine_code_cases/generate.py -o tests/analyzer/machine_code_data
    tests/analyzer/machine_code_cases/generate.py --cubins FOLDER      # cubins of this machine's GPU only, to be run
    tests/analyzer/machine_code_cases/generate.py --ptx FOLDER         # PTX, to be run with run_cases --once
    tests/analyzer/machine_code_cases/generate.py --barriers -o tests/analyzer/machine_code_barriers

Writes one file BUILD.ARCHITECTURE.txt.gz per build (O1, O3, G, triton) and architecture: the listings of all families,
without encodings and source lines. Each family starts with a line "//## Family NAME". With --barriers, the families are
the kernels of tests/rewriter/indirect that wait at mbarriers and in clusters, for sm_90 alone.
"""

import argparse
import concurrent.futures
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = ["sm_80", "sm_90"]
BUILDS = {"O1": ["-Xptxas", "-O1", "-Xcicc", "-O1"], "O3": ["-O3"], "G": ["-G"]}
NVCC = ["nvcc", "-std=c++17", "-Wno-deprecated-gpu-targets", "-diag-suppress=20054"]


def families():
    return sorted(path.stem for path in HERE.glob("*.cu") if path.stem != "run_kernels")


def compile_family(family, build, architecture, folder, kind="cubin", sources=HERE):
    image = folder / f"{family}.{build}.{architecture}.{kind}"
    subprocess.run([*NVCC, f"-{kind}", f"-arch={architecture}", *BUILDS[build], str(sources / f"{family}.cu"), "-o",
                    str(image)], check=True)
    return image


def compile_triton(family, architecture, folder):
    """One cubin per kernel; runs in a separate process, because Triton may be absent."""
    code = f"""
import pathlib, sys
sys.path.insert(0, {str(HERE)!r})
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
import {family} as family
types = {{"word": "*i32", "data": "*fp32", "out": "*fp32", "want": "i32"}}
for name in sorted(vars(family)):
    if not name.startswith(("wait_", "work_")): continue
    source = ASTSource(getattr(family, name), signature=types, constexprs={{}})
    made = triton.compile(source, target=GPUTarget("cuda", {architecture[3:]}, 32))
    pathlib.Path({str(folder)!r}, f"{family}.{{name}}.{architecture}.cubin").write_bytes(made.asm["cubin"])
    pathlib.Path({str(folder)!r}, f"{family}.{{name}}.{architecture}.ptx").write_text(made.asm["ptx"])
"""
    script = folder / f"{family}.{architecture}.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, str(script)], text=True, capture_output=True)
    if done.returncode != 0:
        print(f"{family} for {architecture}: {done.stderr[-1500:]}", file=sys.stderr)
    return sorted(folder.glob(f"{family}.*.{architecture}.cubin"))


def listing(cubin):
    """Labels and instructions, as nvdisasm prints them."""
    text = subprocess.run(["nvdisasm", "-c", str(cubin)], check=True, text=True, capture_output=True).stdout
    kept = []
    for line in text.splitlines():
        line = line.strip()
        wanted = (line.startswith((".section", ".type")) or line.endswith(":") or
                  re.match(r"/\*[0-9a-f]{4,}\*/", line))
        if wanted:
            kept.append(re.sub(r"\s+", " ", line))
    return "\n".join(kept)


def write(path, parts):
    text = "".join(f"//## Family {family}\n{code}\n" for family, code in parts)
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write(text.encode())
    print(f"{path}: {len(text)} bytes, {path.stat().st_size} compressed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=HERE.parent / "machine_code_data")
    images = parser.add_mutually_exclusive_group()
    images.add_argument("--cubins", type=pathlib.Path, help="only write cubins for sm_90 into this folder")
    images.add_argument("--barriers", action="store_true", help="only write the kernels that wait at mbarriers")
    images.add_argument("--ptx", type=pathlib.Path, help="only write PTX for sm_90 into this folder")
    parser.add_argument("--jobs", type=int, default=16)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        only = options.cubins or options.ptx
        folder = only or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        architectures = ["sm_90"] if only else ARCHITECTURES
        kind = "ptx" if options.ptx else "cubin"
        if options.barriers:
            sources = HERE.parents[1] / "rewriter" / "indirect"
            options.output.mkdir(parents=True, exist_ok=True)
            for build in BUILDS:
                write(options.output / f"{build}.sm_90.txt.gz",
                      [(half, listing(compile_family(half, build, "sm_90", folder, sources=sources)))
                       for half in ("barriers_held", "barriers_work")])
            return 0
        names = families() + (["run_kernels"] if only else [])
        compiled = {(build, architecture, family):
                    pool.submit(compile_family, family, build, architecture, folder, kind)
                    for build in BUILDS for architecture in architectures for family in names}
        if only:
            for job in compiled.values():
                job.result()
            return 0
        options.output.mkdir(parents=True, exist_ok=True)
        triton = {(architecture, family): pool.submit(compile_triton, family, architecture, folder)
                  for architecture in ARCHITECTURES for family in sorted(p.stem for p in HERE.glob("triton_*.py"))}
        for build in BUILDS:
            for architecture in ARCHITECTURES:
                listings = [(family, pool.submit(listing, compiled[build, architecture, family].result()))
                            for family in families()]
                write(options.output / f"{build}.{architecture}.txt.gz", [(f, job.result()) for f, job in listings])
        for architecture in ARCHITECTURES:
            parts = [(family, "\n".join(listing(cubin) for cubin in job.result()))
                     for (arch, family), job in triton.items() if arch == architecture]
            if any(code for _, code in parts):
                write(options.output / f"triton.{architecture}.txt.gz", parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
