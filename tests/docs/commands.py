"""Checks the commands in documents: verbs, options, make targets, benchmark options."""

import functools
import os
import re
import shlex
import subprocess

from markdown import shell_lines

COMMON_BENCH_OPTIONS = {"-o", "--machine", "--driver", "--commit", "--help", "-h"}


@functools.lru_cache(maxsize=None)
def help_options(*command):
    """(exit status, the options that the help text names)."""
    done = subprocess.run([*command, "--help"], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode, frozenset(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", done.stdout)) | {"--help", "-h"}


def options_in(words):
    return [re.split("=", word)[0] for word in words if re.match(r"--?[A-Za-z]", word)]


def split_commands(line):
    """The words of each command of a shell line, without prompts, comments, assignments and redirections."""
    lexer = shlex.shlex(re.sub(r"^\$ ", "", line), posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    command = []
    for word in lexer:
        if set(word) <= set(";&|"):
            yield command
            command = []
        elif command or not re.match(r"\w+=", word):
            command.append(word)
    yield command


def unknown(words, known, whose):
    return [f"{whose} has no option {option}" for option in options_in(words) if option not in known]


def wic_prof_problems(words, tool):
    words = words[1:]
    if not words or words[0].startswith("-"):
        return unknown(words, help_options(tool)[1], "wic-prof")
    program = []
    if "--" in words:
        words, program = words[:words.index("--")], words[words.index("--") + 1:]
    status, known = help_options(tool, words[0])
    if status != 0:
        return [f"wic-prof has no verb '{words[0]}'"]
    problems = unknown(words[1:], known, f"wic-prof {words[0]}")
    return problems + (program_problems(program, tool) if program else [])


def program_problems(words, tool):
    """The options of a sample, if this build has it."""
    sample = os.path.join(os.path.dirname(tool), os.path.basename(words[0]))
    if os.path.basename(words[0]) not in samples_of(os.environ["WICPROF_SOURCE"]) or not os.access(sample, os.X_OK):
        return []
    return unknown(words[1:], help_options(sample)[1], os.path.basename(words[0]))


@functools.lru_cache(maxsize=None)
def samples_of(root):
    folder = os.path.join(root, "samples")
    return frozenset(os.listdir(folder)) - {"common"} if os.path.isdir(folder) else frozenset()


def make_problems(words, root):
    targets = set(re.findall(r"^([\w-]+)\s*:(?!=)", (root / "Makefile").read_text(), re.M))
    folder = words.index("-C") if "-C" in words else None
    if folder is not None:
        return []  # another Makefile
    wanted = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return [f"the Makefile has no target '{target}'" for target in wanted if target not in targets]


def bench_problems(words, root):
    name = os.path.basename(words[0])[len("bench_"):]
    source = root / "bench" / f"{name}.cpp"
    if not source.is_file():
        return [f"there is no benchmark '{name}'"]
    declared = {f"--{option}" for option in re.findall(r'\boption\("([\w-]+)"', source.read_text())}
    return unknown(words[1:], declared | COMMON_BENCH_OPTIONS, f"bench_{name}")


def command_problems(text, root, tool, where):
    """(number of checked commands, list of problems)."""
    count, problems = 0, []
    for number, line in shell_lines(text):
        try:
            commands = list(split_commands(line))
        except ValueError as error:
            problems.append(f"{where}:{number}: no shell could read this: {error}")
            continue
        for words in commands:
            program = os.path.basename(words[0]) if words else ""
            if program == "wic-prof":
                found = wic_prof_problems(words, tool)
            elif program == "make":
                found = make_problems(words, root)
            elif program.startswith("bench_"):
                found = bench_problems(words, root)
            elif program in samples_of(str(root)):
                found = program_problems(words, tool)
            else:
                continue
            count += 1
            problems += [f"{where}:{number}: {problem}" for problem in found]
    return count, problems
