// The recorder with records of any contents, up to the finished trace with its summaries, which its reader reads.
#include "store/write/recorder.h"

#include <unistd.h>

#include "store/read/reader.h"
#include "tests/fuzz/made_records.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

namespace wicprof::fuzz {
namespace {

template <class... Tables>
void read_all(const store::Reader& reader, const std::tuple<Tables...>*) {
  (require(static_cast<bool>(reader.rows<Tables>()), "each table can be read"), ...);
}

}  // namespace

void run(std::string_view text) {
  static const Scratch folder;
  Bytes input(text);
  const auto choices = input.take<std::uint8_t>();
  store::RecorderOptions options;
  options.path = folder / "trace.wicprof";
  options.overwrite = true;
  if ((choices & 1) != 0) options.began = now_ns();
  if ((choices & 2) != 0) options.retention.keep_last = kSecond;
  if ((choices & 4) != 0) options.retention.ranges = {{"step", {}}};
  if ((choices & 8) != 0) options.max_bytes = 300'000;
  {
    Result<store::Recorder> recorder = store::Recorder::create(options);
    require(static_cast<bool>(recorder), "a trace can be created");
    play(input, *recorder);
    const Result<> done = recorder->finish();
    if (!done || !recorder->progress().stopped.empty()) {
      require((choices & 8) != 0, "a trace with space is finished");
      return;
    }
  }
  const Result<store::Reader> reader = store::Reader::open(options.path);
  require(static_cast<bool>(reader), "a finished trace can be opened");
  read_all(*reader, static_cast<const store::ReadTables*>(nullptr));
  require(static_cast<bool>(reader->pc_totals()), "the samples can be read");
  const Result<store::Overview> overview = reader->overview();
  require(static_cast<bool>(overview), "the summaries can be read");
  for (const store::Lane& lane : overview->lanes()) {
    require(static_cast<bool>(overview->cover(lane.id, overview->begin(), overview->end(), 0)), "a lane can be read");
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char choices : {'\0', '\2', '\4', '\x08'}) all.push_back(choices + made_records(2));
  return all;
}

}  // namespace wicprof::fuzz
