// What wic-prof changes about its own process, and how a program that it starts gets the original.
#pragma once

namespace wicprof::cli {

/// Opens closed standard streams, so that no file of wic-prof gets the number of stderr; and ignores SIGXFSZ, so that a
/// file at the limit of `ulimit -f` is an error of the write. Call first in main().
void prepare_process() noexcept;

/// For verbs that run programs, to the end of the process and before its first thread: a closed pipe or a terminal that
/// is another's is no reason to end or to stop, since the exit status is the program's; the end of a child is always
/// told; and threads get stacks of 2 MiB. The C library keeps stacks of ended threads up to 40 MB, and aborts where the
/// system does not take back a further one; and under `ulimit -v` each counts whole.
void prepare_for_programs() noexcept;

/// In a child between fork() and exec(): gives these signals back. The opened streams close by themselves at exec().
/// Async-signal-safe.
void restore_process() noexcept;

/// For a process of ours that draws or compiles for a GPU: its drivers keep results below HOME. Root with the home of a
/// user, as under sudo, would leave folders there that lock the user out, so that nothing is kept then.
void spare_home_of_another() noexcept;

}  // namespace wicprof::cli
