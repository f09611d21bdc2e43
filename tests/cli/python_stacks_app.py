#!/usr/bin/env python3
"""Threads that wait in all kinds of Python functions, for test_stuck.py. Once they do, forks a process and prints as
JSON {"threads": {thread: [[function, file, line], ...]}, "forked": process}, the innermost function first, as Python
itself says. Ends when its input does."""

import json
import os
import sys
import threading

END = threading.Event()


def wait():
    END.wait()


def deep(levels):
    return deep(levels - 1) if levels else wait()


class Model:
    def step(self, *values):
        return self.loss(
            *values,
            (
                wait()
            ),
        )

    def loss(self, *values):
        return values

    @property
    def loaded(self):
        return [wait()
                for _ in range(1)]


def batches():
    yield 1
    try:
        raise ValueError
    except ValueError:
        with threading.Lock():
            wait()


def of_long_lines():
    """The lines and columns of such a function need numbers of several bytes."""
    source = "def far():\n" + "    x = 1\n" * 1500 + "    y = (" + "1 + " * 200 + "\n" * 300 + " 1, wait())[0]\n"
    names = {"wait": wait}
    exec(compile(source, "/generated/far.py", "exec"), names)
    return names["far"]


def go_back():
    for each in range(2):
        if each:
            wait()
        each = [
            other
            for other in range(3)]


def lines_of(frame):
    while frame is not None:
        yield frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back


def stacks():
    numbers = {thread.ident: thread.native_id for thread in threading.enumerate()}
    return {numbers[ident]: list(lines_of(frame)) for ident, frame in sys._current_frames().items()
            if ident != threading.get_ident()}


def ask(text):
    return [print(text, flush=True), sys.stdin.read()]


def main():
    functions = [wait, lambda: deep(50), Model().step, lambda: Model().loaded, lambda: list(batches()),
                 of_long_lines(), go_back, lambda: list(map(lambda _: wait(), [1]))]
    for function in functions:
        threading.Thread(target=function, daemon=True).start()
    while any(lines[0][0] != "Condition.wait" for lines in stacks().values()) or stacks() != stacks():
        pass
    all_ = stacks()
    forked = os.fork()
    if forked == 0:
        sys.stdin.read()
        os._exit(0)
    here = list(lines_of(sys._getframe()))
    all_[threading.get_native_id()] = [("ask", __file__, ask.__code__.co_firstlineno + 1),
                                       ("main", __file__, here[0][2] + 3), *here[1:]]
    ask(json.dumps({"threads": all_, "forked": forked}))
    os.waitpid(forked, 0)


main()
