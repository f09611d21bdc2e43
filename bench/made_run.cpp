// Runs a made program (tests/analyzer/made_programs) on devices, drawn from a seed: one block per thread of its script,
// which waits and signals through wic. For recordings of programs whose class is known and that nobody wrote by hand:
// bench/record_predictions.py records some on a GPU. Programs without a part for the CPU, whose parties the trace can
// tell apart where one GPU plays all of them: blocks of one device, or a site per pair and direction.
// --describe prints the program's kind and class as JSON, and runs nothing; exit status 3: this seed has no such
// program.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/made_run/blocks.h"
#include "bench/made_run/text.h"
#include "common/options.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace {

using bench::MadeText;
using bench::RunBlocks;
using wic::Array;
using wic::Memory;
using wic::Result;

constexpr std::uint32_t kThreads = 128, kThreadsOnCpu = 32;  // per block
constexpr std::uint32_t kLessWorkOnCpu = 64;
constexpr std::size_t kElements = 1u << 16;  // of 16 bytes, per block: what it works on

struct Part {  // of one device
  std::unique_ptr<wic::Stream> stream;
  Array<bench::BlockAction> actions;
  Array<bench::BlockText> blocks;
  Array<bench::Four> data;
  std::uint32_t count = 0;
};

class MadeRun {
 public:
  static Result<std::uint32_t> run(const sample::SampleOptions& options, const MadeText& text) {
    wic::RuntimeOptions asked = options.runtime();
    const std::size_t devices = text.devices();
    std::string all = asked.devices;
    if (all.find(',') == std::string::npos && all.starts_with("simt:")) {
      all = "simt:" + std::to_string(devices);
    } else if (all.find(',') == std::string::npos) {
      for (std::size_t d = 1; d < devices; ++d) all += "," + asked.devices;
    }
    asked.devices = all;
    auto runtime = wic::Runtime::create(asked);
    if (!runtime) return runtime.error();
    MadeRun made(**runtime, options.timeout_ns());
    if (Result<> opened = made.open(text); !opened) return opened.error();
    std::uint32_t steps = 0;
    for (sample::Progress progress(options); progress.more();) {
      if (Result<> done = made.step(progress.next() - 1, text); !done) return done.error();
      ++steps;
    }
    return steps;
  }

 private:
  MadeRun(wic::Runtime& runtime, std::uint64_t timeout_ns) : runtime_(runtime), timeout_ns_(timeout_ns) {}

  Result<> open(const MadeText& text) {
    if (runtime_.device_count() < text.devices()) {
      return wic::bad_input("this program needs " + std::to_string(text.devices()) + " devices");
    }
    if (runtime_.device(0).properties().kind != wic::DeviceKind::cuda) {
      threads_ = kThreadsOnCpu;
      less_work_ = kLessWorkOnCpu;
    }
    std::vector<wic::SiteId> ids(text.sites.size());
    for (std::size_t s = 0; s < text.sites.size(); ++s) {
      const bench::MadeSite& site = text.sites[s];
      wic::SiteSpec spec;
      spec.name = site.name;
      spec.word_memory = text.host_words ? wic::WordMemory::pinned_host : wic::WordMemory::device;
      if (site.acknowledgement) spec.purpose = wic::SitePurpose::acknowledgement;
      if (site.ends) {
        spec.releasing = static_cast<wic::SiteEnd>(wic::kFirstDeviceEnd + site.ends->first);
        spec.waiting = static_cast<wic::SiteEnd>(wic::kFirstDeviceEnd + site.ends->second);
      }
      const auto added = runtime_.add_site(spec);
      if (!added) return added.error();
      ids[s] = *added;
    }
    wic::Device& first = runtime_.device(0);
    auto words = Array<bench::Word>::make(first, text.words, text.host_words ? Memory::pinned_host : Memory::device);
    if (!words) return words.error();
    words_ = *std::move(words);
    auto zeros = Array<bench::Word>::make(first, text.words, Memory::pinned_host);
    if (!zeros) return zeros.error();
    std::fill(zeros->data(), zeros->data() + zeros->size(), bench::Word{});
    zeros_ = *std::move(zeros);
    auto missed = Array<std::uint32_t>::make(first, 1, Memory::pinned_host);
    if (!missed) return missed.error();
    missed_ = *std::move(missed);
    missed_[0] = 0;
    for (std::size_t d = 0; d < text.devices(); ++d) {
      if (Result<> opened = open_part(text.parts[d], ids, runtime_.device(d)); !opened) return opened;
    }
    return wic::ok();
  }

  Result<> open_part(const bench::MadePart& text, const std::vector<wic::SiteId>& ids, wic::Device& device) {
    Part part;
    part.count = static_cast<std::uint32_t>(text.blocks.size());
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    part.stream = *std::move(stream);
    auto actions =
        Array<bench::BlockAction>::make(device, std::max<std::size_t>(1, text.actions.size()), Memory::pinned_host);
    if (!actions) return actions.error();
    auto blocks =
        Array<bench::BlockText>::make(device, std::max<std::size_t>(1, text.blocks.size()), Memory::pinned_host);
    if (!blocks) return blocks.error();
    std::copy(text.blocks.begin(), text.blocks.end(), blocks->data());
    for (std::size_t a = 0; a < text.actions.size(); ++a) {
      (*actions)[a] = text.actions[a];
      (*actions)[a].elements /= less_work_;
      if (text.actions[a].site != 0) (*actions)[a].site = ids[text.actions[a].site - 1];
    }
    // Blocks read their text from their own memory.
    if (Result<> done = to_device(*part.stream, device, *actions, part.actions); !done) return done;
    if (Result<> done = to_device(*part.stream, device, *blocks, part.blocks); !done) return done;
    auto data = Array<bench::Four>::make(device, kElements * std::max(1u, part.count), Memory::device);
    if (!data) return data.error();
    part.data = *std::move(data);
    parts_.push_back(std::move(part));
    return wic::ok();
  }

  template <class T>
  static Result<> to_device(wic::Stream& stream, wic::Device& device, const Array<T>& from, Array<T>& to) {
    auto made = Array<T>::make(device, from.size(), Memory::device);
    if (!made) return made.error();
    if (Result<> copied = stream.copy(made->data(), from.data(), from.bytes()); !copied) return copied;
    to = *std::move(made);
    return stream.synchronize();
  }

  Result<> step(std::uint32_t done, const MadeText& text) {
    if (Result<> cleared = parts_[0].stream->copy(words_.data(), zeros_.data(), words_.bytes()); !cleared)
      return cleared;
    if (Result<> cleared = parts_[0].stream->synchronize(); !cleared) return cleared;
    for (std::size_t d = 0; d < parts_.size(); ++d) {
      const Part& part = parts_[d];
      if (part.count == 0) continue;
      const RunBlocks kernel{runtime_.view(d), timeout_ns_, part.actions.data(),    part.blocks.data(), words_.data(),
                             part.data.data(), kElements,   done * text.iterations, text.names_wanted,  missed_.data()};
      if (Result<> begun = wic::launch(*part.stream, {part.count, threads_}, kernel); !begun) return begun;
    }
    for (const Part& part : parts_) {
      if (Result<> ended = part.stream->synchronize(); !ended) return ended;
    }
    if (missed_[0] != 0) return wic::failed(std::to_string(missed_[0]) + " waits passed their deadline");
    return wic::ok();
  }

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  std::uint32_t threads_ = kThreads;
  std::uint32_t less_work_ = 1;  ///< a part of the work, for the CPU device, whose threads run one after the other
  Array<bench::Word> words_, zeros_;
  Array<std::uint32_t> missed_;
  std::vector<Part> parts_;  // last: destroyed first, so their work ends before the memory is freed
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "made_run: runs a communication program that is drawn from a seed.\n"
      "Example: bench_made_run --seed 17 --devices cuda:0 --seconds 4"};
  sample::SampleOptions options;
  std::uint64_t seed = 1;
  bool describe = false;
  sample::add_options(app, options);
  app.add_option("--seed", seed, "of the program")->capture_default_str();
  app.add_flag("--describe", describe, "print its kind and class as JSON, and run nothing");
  if (const auto status = sample::parse(app, argc, argv)) return *status;
  const std::optional<MadeText> text = bench::made_text(seed);
  if (!text) {
    std::fprintf(stderr,
                 "made_run: the program of seed %llu has a part for the CPU, or parties that one GPU cannot play\n",
                 static_cast<unsigned long long>(seed));
    return 3;
  }
  if (describe) {
    std::printf("%s\n", text->description.c_str());
    return 0;
  }
  const auto steps = MadeRun::run(options, *text);
  if (!steps) return sample::fail("made_run", steps.error());
  std::printf("made_run: %u times the program of seed %llu, ok\n", *steps, static_cast<unsigned long long>(seed));
  return 0;
}
