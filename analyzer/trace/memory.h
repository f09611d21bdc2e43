// How a process that analyses traces takes memory from the system.
#pragma once

namespace wicprof::analyzer {

/// Before the first trace is read. The lists of a large trace's analysis come and go: all threads take them from one
/// heap, where memory that one list has left serves the next without the system's clearing it again; only the largest
/// go back at once.
void prepare_memory();

}  // namespace wicprof::analyzer
