#!/usr/bin/env python3
"""Writes shared_watch.h with one deliberate mistake.

usage: mutate.py MUTANT SOURCE OUTPUT

Fails unless the source contains the text to replace exactly once: the mutants must follow the source.
"""
import pathlib
import sys

# name: (text in the source, its replacement)
MUTANTS = {
    # A waiter believes its line whatever the ticket: it takes values from before its arrival.
    "tickets_ignored": (
        "fresh_ = fresh_ || reached(ticket_of(line), ticket_);",
        "fresh_ = true;",
    ),
    # The watcher reads the arrivals after the word: they count for a value that was read before them.
    "arrivals_read_late": (
        "    const std::uint32_t arrivals = thread.load(&slot_->arrivals);\n"
        "    const std::uint32_t value = thread.load(wait.word);\n",
        "    const std::uint32_t value = thread.load(wait.word);\n"
        "    const std::uint32_t arrivals = thread.load(&slot_->arrivals);\n"
        "    ticket_ = arrivals;\n",
    ),
    # Later waiters get no value until the word changes.
    "arrivals_not_answered": (
        "if (!known_ || value != value_ || ticket_ != published_ticket_) publish",
        "if (!known_ || value != value_) publish",
    ),
    # The watcher leaves and keeps the role.
    "role_kept": (
        "const std::uint64_t last = pack(false, published_ticket_, value_);",
        "const std::uint64_t last = pack(true, published_ticket_, value_);",
    ),
    # The lines never learn that the watcher has left.
    "lines_not_told": (
        "for (std::uint32_t i = 0; i < lines_; ++i) thread.store(&slot_->lines[i].mirror, last);",
        "",
    ),
    # The role is free before the lines say so: their last store may follow the next watcher's.
    "role_freed_first": (
        "const std::uint64_t last = pack(false, published_ticket_, value_);",
        "const std::uint64_t last = pack(false, published_ticket_, value_);\n"
        "      thread.store(&slot_->master, last);",
    ),
    # Two waiters may take the role at the same time.
    "role_taken_by_a_store": (
        "if (!thread.compare_exchange(&slot_->master, master, pack(true, ticket_of(master), value_of(master)))) "
        "return false;",
        "thread.store(&slot_->master, pack(true, ticket_of(master), value_of(master)));",
    ),
    # Only the first line is written.
    "one_line_written": (
        "for (std::uint32_t i = 0; i < lines_; ++i) thread.store(&slot_->lines[i].mirror, mirror);",
        "thread.store(&slot_->lines[0].mirror, mirror);",
    ),
    # A waiter that leaves is still counted: no other word can take its slot.
    "never_uncounted": (
        "    thread.add(&slot_->key, ~std::uint64_t{0});  // one waiter less\n",
        "",
    ),
    # A word takes the slot of another word that still has waiters.
    "slot_taken_in_use": (
        "if (claiming != 0 && (key & kUsersMask) == 0 && key >> 17 != address) {",
        "if (claiming != 0 && key >> 17 != address) {",
    ),
}


def main() -> int:
    if len(sys.argv) != 4 or sys.argv[1] not in MUTANTS:
        print(__doc__, "mutants:", *MUTANTS, file=sys.stderr)
        return 2
    old, new = MUTANTS[sys.argv[1]]
    source = pathlib.Path(sys.argv[2]).read_text()
    if source.count(old) != 1:
        times = source.count(old)
        print(f"mutate.py: {sys.argv[1]}: {sys.argv[2]} contains its text {times} times, not once", file=sys.stderr)
        return 1
    output = pathlib.Path(sys.argv[3])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(source.replace(old, new))
    return 0


sys.exit(main())
