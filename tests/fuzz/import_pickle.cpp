// Dumps of PyTorch's Flight Recorder, as `wic-prof import` reads them.
#include "import/flight/pickle.h"
#include "tests/fuzz/target.h"

namespace wicprof::fuzz {

void run(std::string_view input) {
  const Result<imports::Pickle> pickle = imports::Pickle::read(input);
  if (!pickle) {
    require(pickle.error().message.find("byte ") != std::string::npos, "an error names the place");
    return;
  }
  const auto entries = pickle->at(pickle->root(), "entries");
  for (const imports::Pickle::Id entry : pickle->parts(entries)) {
    (void)pickle->integer(pickle->at(entry, "time_created_ns"));
    for (const imports::Pickle::Id part : pickle->parts(pickle->at(entry, "process_group"))) (void)pickle->text(part);
  }
  require(pickle->pairs(pickle->root()).size() % 2 == 0, "each key has a value");
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  return {
      "\x80\x02}q\x00X\x07\x00\x00\x00"s + "entriesq\x01]q\x02}q\x03(X\x0f\x00\x00\x00"s +
          "time_created_nsq\x04\x8a\x08\x00\x00\x64\xa7\xb3\xb6\xe0\x17X\x0d\x00\x00\x00"s +
          "process_groupq\x05X\x01\x00\x00\x00"s + "0q\x06h\x06\x86q\x07uas."s,
      "\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01"s + "aK\x01s."s,
      "(K\x01M\x00\x01J\x00\x00\x00\x80N\x88\x89G\x00\x00\x00\x00\x00\x00\x00\x00lq\x00(h\x00h\x00t0\x85\x87."s,
      "(K\x01K\x02"s + "d."s,
      "cos\nsystem\n."s,
  };
}

}  // namespace wicprof::fuzz
