#include "rivals/relay.h"

#include <algorithm>

#include "rivals/rival.h"
#include "wic/launch.h"
#include "wic/receiver.h"
#include "wic/sender.h"

namespace sample {
namespace {

/// Each block forwards its share of the tags, cycle by cycle.
struct Agents {
  // At most 40 registers per thread: the application's blocks, whose places these take, have as many.
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 6;

  wic::Receiver ready;
  wic::Sender out;
  wic::Cycle first{0};
  std::uint32_t count = 0, tags = 0;
  std::uint64_t timeout_ns = 0;
  std::uint32_t* stopped = nullptr;  ///< iteration in which an agent's wait ended without its message; 0 = none

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    // All threads agree, because only earlier agents count.
    const std::uint32_t stopped_in = thread.load(stopped);
    if (stopped_in != 0 && stopped_in < first.iteration) return;
    const wic::Group group = wic::block_group(thread);
    for (std::uint32_t i = 0; i < count; ++i) {
      const wic::Cycle cycle(first.number + i, first.iteration + i);
      for (wic::Tag tag = thread.block(); tag < tags; tag += thread.block_count()) {
        if (!forward(thread, group, tag, cycle)) return;
      }
    }
  }

 private:
  WIC_DEVICE bool forward(const wic::Thread& thread, const wic::Group& group, wic::Tag tag,
                          const wic::Cycle& cycle) const {
    const wic::Message message = ready.receive(thread, group, tag, cycle, timeout_ns);
    const bool sent =
        message.data != nullptr && out.send(thread, group, tag, cycle, message.data, message.bytes, timeout_ns);
    if (sent) {
      ready.release(thread, group, tag, cycle);
    } else if (thread.index() == 0) {
      thread.store(stopped, first.iteration);
    }
    return sent;
  }
};

}  // namespace

wic::Result<std::unique_ptr<Relay>> Relay::make(wic::Device& producer, std::uint32_t tags) {
  std::unique_ptr<Relay> relay(new Relay());
  const bool gpu = producer.properties().kind == wic::DeviceKind::cuda;
  relay->tags_ = tags;
  relay->shape_ = {std::min(tags, agent_blocks(Rival::effshare, gpu, 1)), gpu ? 256u : 32u};
  const auto resident = producer.resident_blocks(relay->shape_, wic::kernel_ref(Agents{}));
  if (!resident) return resident.error();
  if (*resident < relay->shape_.blocks) {
    return wic::unavailable(producer.properties().name + " cannot hold the blocks that push messages");
  }
  auto stopped = wic::Array<std::uint32_t>::make(producer, 1, wic::Memory::device);
  if (!stopped) return stopped.error();
  auto stream = producer.make_stream();
  if (!stream) return stream.error();
  relay->stopped_ = *std::move(stopped);
  relay->stream_ = *std::move(stream);
  return wic::Result<std::unique_ptr<Relay>>(std::move(relay));
}

// No agent and kernel can wait for each other's launch, even where the driver maps several streams to one queue: agents
// of a cycle wait for nothing that is launched after this cycle's kernels, and those kernels for no later agents.
wic::Result<> Relay::run(const wic::Receiver& ready, const wic::Sender& out, wic::Cycle first, std::uint32_t count,
                         std::uint64_t timeout_ns) {
  return wic::launch(*stream_, shape_, Agents{ready, out, first, count, tags_, timeout_ns, stopped_.data()});
}

}  // namespace sample
