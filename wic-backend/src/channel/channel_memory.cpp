#include "src/channel/channel_memory.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace wic {

using wicprof::bad_input;
using wicprof::WordMemory;

namespace {

Device& device_of(Runtime& runtime, End end) {
  return runtime.device(end.is_cpu() ? 0 : static_cast<std::size_t>(end.device));
}

template <class T>
Result<> make_array(Array<T>& array, Device& device, std::size_t count, Memory where) {
  Result<Array<T>> made = Array<T>::make(device, count, where);
  if (!made) return made.error();
  array = *std::move(made);
  return wicprof::ok();
}

std::uint32_t pages_of_batch(const ChannelSpec& spec, const SlotLayout& slots, std::uint32_t batch) {
  const std::uint64_t tags = std::min(spec.tags - batch * kBatchTags, kBatchTags);
  return static_cast<std::uint32_t>((tags * slots.stride + kPageBytes - 1) / kPageBytes);
}

// Clears reused pages: they still hold an earlier channel's messages, and the words that announced them.
Result<> clear(const MessagePages& pages, const MessagePages::Run& run, Device& owner) {
  std::byte* const begin = pages.data() + run.first * kPageBytes;
  const std::size_t bytes = run.pages * kPageBytes;
  if (pages.where() != Memory::device) {
    std::memset(begin, 0, bytes);
    return wicprof::ok();
  }
  Array<std::byte> zeros;
  if (Result<> r = make_array(zeros, owner, std::min(bytes, 64 * kPageBytes), Memory::pinned_host); !r) return r;
  Result<std::unique_ptr<Stream>> stream = owner.make_stream();
  if (!stream) return stream.error();
  for (std::size_t done = 0; done < bytes; done += zeros.bytes()) {
    if (Result<> r = (*stream)->copy(begin + done, zeros.data(), std::min(zeros.bytes(), bytes - done)); !r) return r;
  }
  return (*stream)->synchronize();
}

// The device whose memory holds the messages.
Device& owner_of(Runtime& runtime, const ChannelSpec& spec) {
  return device_of(runtime, spec.consumer.is_cpu() ? spec.producer : spec.consumer);
}

Memory memory_of(const ChannelSpec& spec) {
  if (spec.way == Way::naive) return Memory::managed;
  const bool zero_copy = spec.producer.is_cpu() && path_of(spec) == Path::stores;
  return spec.consumer.is_cpu() || zero_copy ? Memory::pinned_host : Memory::device;
}

}  // namespace

Path path_of(const ChannelSpec& spec) {
  if (spec.way == Way::naive || !spec.producer.is_cpu() || spec.consumer.is_cpu()) return Path::stores;
  if (spec.path != Path::automatic) return spec.path;
  return spec.max_bytes <= kMaxStoredBytes ? Path::stores : Path::engine;
}

Result<ChannelMemory> ChannelMemory::make(Runtime& runtime, const ChannelSpec& spec) {
  ChannelMemory memory;
  Device& owner = owner_of(runtime, spec);
  const Memory where = memory_of(spec);
  memory.box_.tags = spec.tags;
  memory.box_.max_bytes = spec.max_bytes;
  memory.box_.slots = slot_layout(spec.max_bytes, path_of(spec) == Path::engine);
  if (Result<> taken = memory.take_pages(owner, spec, where); !taken) return taken.error();
  if (Result<> made = memory.make_words(runtime, spec, owner); !made) return made.error();
  if (Result<> uploaded = memory.upload_tables(runtime, spec); !uploaded) return uploaded.error();
  if (path_of(spec) == Path::engine) {
    const std::size_t bytes = std::size_t{2} * memory.box_.batches() * kBatchTags * memory.box_.slots.stride;
    const std::size_t last = std::size_t{kBatchTags - (spec.tags - 1) % kBatchTags - 1} * memory.box_.slots.stride;
    if (Result<> r = make_array(memory.staging_, owner, bytes - last, Memory::pinned_host); !r) return r.error();
  }
  return Result<ChannelMemory>(std::move(memory));
}

ChannelMemory::~ChannelMemory() {
  for (const MessagePages::Run& run : runs_) pages_->give_back(run);
}

// Takes one run for the odd and one for the even slots of each batch.
Result<> ChannelMemory::take_pages(Device& owner, const ChannelSpec& spec, Memory where) {
  const std::uint32_t batches = box_.batches();
  pages_ = spec.pages;
  if (pages_ == nullptr) {
    std::uint64_t pages = 0;
    for (std::uint32_t batch = 0; batch < batches; ++batch) pages += 2 * pages_of_batch(spec, box_.slots, batch);
    if (pages > (1u << 30)) return bad_input("channel '" + spec.name + "' needs more than 2^30 message pages");
    auto made = MessagePages::make(owner, static_cast<std::uint32_t>(pages), where);
    if (!made) return made.error();
    pages_ = *std::move(made);
  } else if (pages_->where() != where ||
             (where == Memory::device && pages_->device().properties().id != owner.properties().id)) {
    return bad_input("the pages given to channel '" + spec.name + "' are in the wrong memory; it needs " +
                     (where == Memory::device    ? "pages of its consumer's device"
                      : where == Memory::managed ? "managed memory"
                                                 : "pinned host memory"));
  }
  table_.resize(2 * batches);
  for (const std::uint32_t parity : {1u, 0u}) {
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
      const std::uint32_t pages = pages_of_batch(spec, box_.slots, batch);
      const std::optional<MessagePages::Run> run = pages_->take(pages);
      if (!run) {
        return wicprof::unavailable("no " + std::to_string(pages) + " contiguous message pages are left for channel '" +
                                    spec.name + "'; give it more pages");
      }
      runs_.push_back(*run);
      table_[parity * batches + batch] = run->first;
      if (spec.pages == nullptr) continue;  // new pages are zero
      if (Result<> cleared = clear(*pages_, *run, owner); !cleared) return cleared;
    }
  }
  box_.pages = pages_->data();
  return wicprof::ok();
}

Result<> ChannelMemory::make_words(Runtime& runtime, const ChannelSpec& spec, Device& owner) {
  Device& producer = device_of(runtime, spec.producer);
  const bool device_to_device = !spec.producer.is_cpu() && !spec.consumer.is_cpu();
  const std::size_t tags = spec.tags;
  const WordMemory slots_in = pages_->where() == Memory::device ? WordMemory::device : WordMemory::pinned_host;
  places_ = {slots_in, device_to_device ? WordMemory::device : WordMemory::pinned_host};
  if (spec.way == Way::naive) {
    box_.announce = Announce::count;
    places_ = {WordMemory::managed, WordMemory::managed};
    released_stride_ = 1;
    if (Result<> r = make_array(words_, owner, tags, Memory::managed); !r) return r;
    if (Result<> r = make_array(released_, owner, tags, Memory::managed); !r) return r;
    if (!spec.consumer.is_cpu()) {
      landing_stride_ = (spec.max_bytes + 15) / 16 * 16;
      if (Result<> r = make_array(landing_, owner, 2 * tags * landing_stride_, Memory::device); !r) return r;
    }
  } else {
    // A short message announces itself. A device cannot change single bits in host memory, nor in every peer's memory.
    const bool bits = spec.way == Way::park && pages_->where() == Memory::device && !box_.slots.is_quad() &&
                      (!device_to_device || producer.peer_access(owner).atomics);
    box_.announce = bits ? Announce::bit : Announce::word;
    if (bits) {
      const std::size_t words = std::size_t{2} * box_.bit_words() * kLineWords;
      if (Result<> r = make_array(words_, owner, words, Memory::device); !r) return r;
    }
    released_stride_ = kLineWords;
    const Memory where = device_to_device ? Memory::device : Memory::pinned_host;
    if (Result<> r = make_array(released_, producer, tags * kLineWords, where); !r) return r;
  }
  box_.words = words_.data();
  if (spec.producer.is_cpu()) return wicprof::ok();
  return make_array(lines_, producer, tags, Memory::device);
}

Result<> ChannelMemory::upload_tables(Runtime& runtime, const ChannelSpec& spec) {
  const auto upload = [&](Array<std::uint32_t>& to, End end) -> Result<> {
    if (end.is_cpu()) return wicprof::ok();
    Device& device = device_of(runtime, end);
    Array<std::uint32_t> from;
    if (Result<> r = make_array(to, device, table_.size(), Memory::device); !r) return r;
    if (Result<> r = make_array(from, device, table_.size(), Memory::pinned_host); !r) return r;
    std::copy(table_.begin(), table_.end(), from.data());
    Result<std::unique_ptr<Stream>> stream = device.make_stream();
    if (!stream) return stream.error();
    if (Result<> r = (*stream)->copy(to.data(), from.data(), from.bytes()); !r) return r;
    return (*stream)->synchronize();
  };
  if (Result<> r = upload(producer_table_, spec.producer); !r) return r;
  return upload(consumer_table_, spec.consumer);
}

std::byte* ChannelMemory::staging(Tag tag, std::uint32_t cycle) const {
  const std::size_t odd = std::size_t{box_.batches()} * kBatchTags;
  // Odd cycles first: the last batch may be shorter only at the very end.
  const std::size_t slot = (cycle & 1) != 0 ? tag : odd + tag;
  return staging_.data() + slot * box_.slots.stride;
}

}  // namespace wic
