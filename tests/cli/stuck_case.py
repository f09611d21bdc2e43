"""Programs that hang on purpose, and what wic-prof stuck says of them."""

import json
import os
import signal


class Asks:
    """Of a harness.Case."""

    of_session = ("--session=hung",)

    def hang(self, *words, options=()):
        return self.start("run", "-f", "-o", "t.wicprof", "--name", "hung", *options, "--", *words,
                          start_new_session=True)

    def answer(self):
        result = self.wic_prof("stuck", *self.of_session, "--format=json")
        if result.returncode != 0:
            return None
        return json.loads(result.stdout)

    def until_answer(self, check):
        """Asks until `check` holds: a slow machine may first show what has not settled yet."""
        seen = [None, None]

        def holds():
            seen[0] = self.answer()
            if seen[0] is None:
                return False
            try:
                check(seen[0])
            except (AssertionError, LookupError, TypeError) as error:
                seen[1] = error
                return False
            return True
        try:
            self.until(holds, "the answer")
        except AssertionError as error:
            raise AssertionError(f"{error}: {seen[1]}; the last one: {json.dumps(seen[0], indent=1)}") from seen[1]

    def is_first(self, kind, confidence, check):
        """A check: the first cause has that kind and confidence, and `check` holds, too."""
        def both(answer):
            cause = answer["causes"][0]
            self.assertEqual((cause["kind"], cause["confidence"]), (kind, confidence))
            check(answer)
        return both

    def end(self, run):
        """Ends a run as Ctrl-C in a terminal does, which reaches the program's processes, too."""
        os.killpg(run.pid, signal.SIGINT)
        return self.finish(run)
