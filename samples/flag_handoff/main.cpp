#include "flag_handoff/flag_handoff.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/known_delay.h"
#include "common/options.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace {

using sample::Flag;
using sample::HandoffConsumer;
using wic::Array;
using wic::Memory;
using wic::Result;

struct Outcome {
  std::uint32_t iterations = 0;
  std::uint32_t missed = 0;
  std::uint32_t wrong = 0;
  double iteration_us = 0;
};

Result<Outcome> run(const sample::SampleOptions& options, std::uint32_t blocks, std::uint32_t count) {
  auto runtime = wic::Runtime::create(options.runtime());
  if (!runtime) return runtime.error();
  wic::Runtime& rt = **runtime;
  if (!rt.warning().empty()) std::fprintf(stderr, "flag_handoff: %s\n", rt.warning().c_str());
  wic::Device& device = rt.device(0);
  const auto site = rt.add_site({.name = "handoff.flag", .word_memory = wic::WordMemory::pinned_host});
  if (!site) return site.error();
  auto stream = device.make_stream();
  if (!stream) return stream.error();
  auto flags = Array<Flag>::make(device, blocks, Memory::pinned_host);
  auto data = Array<std::uint32_t>::make(device, std::size_t{blocks} * count, Memory::pinned_host);
  auto sums = Array<std::uint32_t>::make(device, blocks + 1, Memory::device);
  auto zeros = Array<std::uint32_t>::make(device, blocks + 1, Memory::pinned_host);
  auto results = Array<std::uint32_t>::make(device, blocks + 1, Memory::pinned_host);
  for (const auto* array : {&data, &sums, &zeros, &results}) {
    if (!*array) return array->error();
  }
  if (!flags) return flags.error();

  Outcome outcome;
  std::vector<double> times;
  const sample::KnownDelay delay(rt);
  for (sample::Progress progress(options); progress.more();) {
    const std::uint32_t iteration = progress.next();
    const wic::TimeNs begin = wic::now_ns();
    const HandoffConsumer consumer{rt.site(*site, options.timeout_ns()),
                                   iteration,
                                   flags->data(),
                                   data->data(),
                                   count,
                                   sums->data(),
                                   sums->data() + blocks};
    if (auto r = (*stream)->copy(sums->data(), zeros->data(), zeros->bytes()); !r) return r.error();
    if (auto r = wic::launch(**stream, {blocks, 128}, consumer); !r) return r.error();
    for (std::uint32_t b = 0; b < blocks; ++b) {  // the kernel already runs and waits
      for (std::uint32_t i = 0; i < count; ++i) (*data)[std::size_t{b} * count + i] = iteration * 31 + b * 7 + i;
      rt.signal(*site, iteration, &(*flags)[b].word, iteration);
    }
    if (auto r = (*stream)->copy(results->data(), sums->data(), sums->bytes()); !r) return r.error();
    if (auto r = (*stream)->synchronize(); !r) return r.error();
    delay.after(begin);
    times.push_back(static_cast<double>(wic::now_ns() - begin) / 1e3);
    outcome.missed += (*results)[blocks];
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const std::uint32_t expected = count * (iteration * 31 + b * 7) + count * (count - 1) / 2;
      outcome.wrong += (*results)[b] != expected ? 1 : 0;
    }
    outcome.iterations = iteration;
  }
  outcome.iteration_us = sample::median(times);
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "flag_handoff: a kernel waits for numbers that the CPU produces.\n"
      "Example: flag_handoff --devices cuda:0 --iterations 1000"};
  sample::SampleOptions options;
  std::uint32_t blocks = 8;
  std::uint32_t count = 4096;
  sample::add_options(app, options);
  app.add_option("--blocks", blocks, "blocks that wait")->check(CLI::Range(1u, 64u))->capture_default_str();
  app.add_option("--size", count, "numbers per block")->check(CLI::Range(1u, 1u << 22))->capture_default_str();
  if (const auto status = sample::parse(app, argc, argv)) return *status;

  const auto outcome = run(options, blocks, count);
  if (!outcome) return sample::fail("flag_handoff", outcome.error());
  const bool ok = outcome->missed == 0 && outcome->wrong == 0;
  std::printf("flag_handoff: %u iterations on %s, %u blocks, iteration p50 %.1f us, %s\n", outcome->iterations,
              options.devices.c_str(), blocks, outcome->iteration_us, ok ? "ok" : "FAILED");
  if (!ok) std::printf("flag_handoff: %u wrong sums, %u missed deadlines\n", outcome->wrong, outcome->missed);
  return ok ? 0 : 1;
}
