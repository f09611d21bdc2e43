"""check_functions.py SOURCE_DIR: no function has more than 80 lines, those of tests and benchmarks left out.

Reads the layout that clang-format gives: a function's last line is a brace in the column where its first line begins.
"""

import pathlib
import subprocess
import sys

MOST = 80


def long_functions(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    for last, line in enumerate(lines):
        if line.strip() != "}" or line[:1] == "\t":
            continue
        column = len(line) - 1
        first = last - 1
        while first > 0 and (not lines[first].strip() or lines[first].startswith(("#", " " * (column + 1)))):
            first -= 1
        if last - first + 1 > MOST:
            yield f"{path}:{first + 1}: {last - first + 1} lines: {lines[first].strip()}"


def main():
    source = pathlib.Path(sys.argv[1])
    names = subprocess.run(["git", "ls-files", "*.cpp", "*.h", "*.cu", "*.cuh"], cwd=source, text=True,
                           capture_output=True, check=False).stdout.split()
    # A package of the sources has no history.
    files = [source / name for name in names] or list(source.rglob("*.cpp"))
    left_out = ("tests", "bench", "build")
    looked_at = [path for path in files if path.relative_to(source).parts[0] not in left_out]
    found = [text for path in looked_at for text in long_functions(path)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
