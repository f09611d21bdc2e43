// JSON of other tools, as `wic-prof import` reads it.
#include "import/kineto/json_reader.h"
#include "import/trace/waiting_calls.h"
#include "tests/fuzz/target.h"

namespace wicprof::fuzz {

void run(std::string_view input) {
  imports::Bytes bytes(input);
  imports::JsonReader reader(bytes);
  std::size_t events = 0;
  reader.on_event = [&](const imports::JsonEvent& event) {
    ++events;
    require(event.name.size() <= input.size(), "a name comes from the input");
    (void)imports::known_call(imports::plain_call_name(event.name));
  };
  reader.on_device = [](const imports::JsonDevice&) {};
  const bool whole = reader.read();
  require(whole || !reader.problem().empty() || !bytes.error().empty(), "a refusal has a reason");
  require(events == 0 || reader.has_events(), "events stand in traceEvents");
}

std::vector<std::string> seeds() {
  return {
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 9, "numSms": 132}],
"distributedInfo": {"rank": 1}, "baseTimeNanoseconds": 1711964646000000000, "traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 4458676522690.655, "dur": 156.777,
"args": {"grid": [4, 1, 1], "block": [64, 1, 1], "correlation": 5, "device": 0, "stream": 7, "bytes": 1e3}},
{"ph": "M", "name": "process_name", "pid": 5, "args": {"name": "python"}}]})",
      R"([{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize_ptsz_v7000", "pid": "a", "tid": -1, "ts": 1}])",
      "[[[[[[", "{\"traceEvents\": [{\"args\": {\"grid\": [[1, 2, 3, 4]]}}]", "\xef\xbb\xbf{}"};
}

}  // namespace wicprof::fuzz
