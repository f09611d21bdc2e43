#!/usr/bin/env python3
"""Compiles the cases to PTX and writes it as test data.

Needs nvcc of CUDA 13:

    tests/rewriter/waits/generate.py -o tests/rewriter/waits_data

Writes one file BUILD.ARCHITECTURE.txt.gz per build (O1, O3, G) and architecture: the PTX of all families. Each family
starts with a line "//## Family NAME". Debug information other than .loc and .file is left out.
"""

import argparse
import concurrent.futures
import gzip
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = ["80", "90"]
BUILDS = {"O1": ["-Xcicc", "-O1"], "O3": ["-O3"], "G": ["-G"]}
NVCC = ["nvcc", "-ptx", "-std=c++17", "-diag-suppress=20054", "-Wno-deprecated-gpu-targets"]


def ptx_of(family, build, architecture, folder):
    made = folder / f"{family}.{build}.{architecture}.ptx"
    subprocess.run([*NVCC, f"-arch=compute_{architecture}", *BUILDS[build], str(HERE / f"{family}.cu"), "-o",
                    str(made)], check=True)
    text = re.sub(r"\n\t?\.section\s+\.debug[^{]*\{[^}]*\}", "\n", made.read_text())
    return re.sub(r'(\.file\s+\d+ )"[^"]*/', r'\1"', text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    output = parser.parse_args().output
    families = sorted(path.stem for path in HERE.glob("*.cu"))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for build in BUILDS:
            for architecture in ARCHITECTURES:
                texts = pool.map(lambda family: ptx_of(family, build, architecture, pathlib.Path(folder)), families)
                text = "".join(f"//## Family {family}\n{ptx}\n" for family, ptx in zip(families, texts))
                path = output / f"{build}.sm_{architecture}.txt.gz"
                with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
                    packed.write(text.encode())


if __name__ == "__main__":
    main()
