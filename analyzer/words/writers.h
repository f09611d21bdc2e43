// Who else than the program's threads can write a word that is waited for, in words.
#pragma once

#include <string_view>

#include "protocol/events/signal.h"

namespace wicprof::analyzer {

struct WriterWords {
  std::string_view name;  ///< for machines
  std::string_view text;  ///< for people; empty: the program, of which the signal names the thread
};

constexpr WriterWords writer_words(SignalWriter writer) {
  switch (writer) {
    case SignalWriter::copy:
    case SignalWriter::unknown_copy:
      return {"copy", "a copy"};
    case SignalWriter::memset:
      return {"memset", "a memset"};
    case SignalWriter::stream_write:
      return {"stream_write", "a stream's write"};
    case SignalWriter::program:
      break;
  }
  return {"program", ""};
}

}  // namespace wicprof::analyzer
