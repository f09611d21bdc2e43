// Listings of nvdisasm, and the instructions in them, up to the search for polling loops.
#include <set>

#include "analyzer/machine_code/nvdisasm.h"
#include "analyzer/machine_code/polling_loops.h"
#include "analyzer/machine_code/stalls.h"
#include "tests/analyzer/sass_listings.h"
#include "tests/fuzz/target.h"

namespace wicprof::fuzz {

void run(std::string_view input) {
  using namespace analyzer;
  TraceModel model;
  model.sass = parse_nvdisasm(input, 7, {"f", "g"});
  for (const store::SassRow& row : model.sass) {
    require(!row.text.empty() && !row.symbol.empty(), "an instruction has a text and a function");
    // The loops of all instructions are looked at: each has samples.
    store::PcTotalRow samples{};
    samples.function = samples.symbol = row.symbol;
    samples.module = 7;
    samples.offset = row.offset;
    samples.reason = row.offset % 32 == 0 ? "long_scoreboard" : "barrier";
    samples.samples = 100;
    samples.end = 1'000'000;
    model.pc_totals.push_back(samples);
  }
  for (const PollingLoop& loop : find_polling_loops(model, gather_stalls(model))) {
    require(loop.confidence >= 0 && loop.confidence <= 1, "a confidence is from 0 to 1");
    require(loop.share >= 0 && loop.share <= 1, "a share is from 0 to 1");
    require(loop.begin <= loop.end, "a loop begins before its end");
    (void)place_of(loop);
  }
}

std::vector<std::string> seeds() {
  using namespace analyzer::listings;
  std::vector<std::string> all;
  for (const std::string_view body : {kVolatilePoll, kStreaming}) all.push_back(kernel("f", body));
  all.push_back(
      "\tFunction : f\n/*0000*/ @P0 LDG.E R0, [R2.64+0x10] ; /* 0x1 */\n/*0010*/ CALL.REL.NOINC `(g) ;\n"
      "/*0020*/ BRA 0x0;\n\tFunction : g\n/*0000*/ RET.REL.NODEC R20 `(f);\n");
  return all;
}

}  // namespace wicprof::fuzz
