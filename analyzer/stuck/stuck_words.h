// How answers about a program that hangs name agents, words and waits.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/stuck/stuck.h"

namespace wicprof::analyzer {

/// A block where it runs, or a host thread.
struct Agent {
  std::uint32_t process = 0;
  bool host = false;
  std::uint32_t block = 0, sm = 0, thread = 0;
  auto operator<=>(const Agent&) const = default;
};

/// Who sent the signal.
Agent agent_of(const LastSignal& signal);

/// "block 3 on SM 7 of process 12"
std::string who(const Agent& agent);

/// What a thread does as the operating system shows it: "runs on a CPU", "sleeps in futex_do_wait".
/// "sleeps in futex_do_wait at queue.py:171 in get, from train.py:60 in step": where Python is known, its innermost
/// function, and the innermost one of the program where that is a library's. Else, where machine code is known, its
/// innermost function that is not of the C library: "sleeps in pipe_read at load_batch of solver".
std::string doing(const SeenThread& thread);

/// "train.py:60 in step"
std::string place_text(const PythonLine& line);
/// Whether a thread of a process that Python's multiprocessing has started is in a function of the program or of a
/// package, rather than waiting for what to do next.
bool is_at_work(const SeenThread& thread);

/// The places of times in their order; times that differ by `error` at most, or are joined by such, have one place.
std::vector<std::size_t> places_of(const std::vector<TimeNs>& times, TimeNs error);

/// How long ago, at least 0.
std::string age(TimeNs now, TimeNs since);

/// "09:12:44.120 UTC": `at` is a time since 1970.
std::string day_time(TimeNs at);

/// "word 0x7f00 of site halo", "a word of site halo"
std::string word_name(const WaitedWord& word);

/// "wants at least 4, has 3"
std::string waiting_for(const WaitedWord& word);

/// "block 3 of 8 waits", "blocks 0 to 3 of 8 wait", "host thread 12 waits".
std::string waiters_wait(const WaitedWord& word);

}  // namespace wicprof::analyzer
