// The memory of a channel, for each pair of ends and each way.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "wic/channel_layout.h"
#include "wic/channel_spec.h"
#include "wic/message_pages.h"
#include "wic/runtime.h"
#include "wic/sender.h"

namespace wic {

/// The path of a channel: CPU to device by the spec or by size, else Path::stores.
Path path_of(const ChannelSpec& spec);

/// The memory of the words that consumers and producers poll, for the trace.
struct WordPlaces {
  wicprof::WordMemory ready, released;
};

class ChannelMemory {
 public:
  static Result<ChannelMemory> make(Runtime& runtime, const ChannelSpec& spec);
  ChannelMemory(ChannelMemory&&) noexcept = default;
  ~ChannelMemory();

  /// The mailbox for one end, with the page table in that end's memory.
  Mailbox producer_box() const { return box_with(producer_table_.data()); }
  Mailbox consumer_box() const { return box_with(consumer_table_.data()); }
  Mailbox host_box() const { return box_with(table_.data()); }

  std::uint32_t* released() const { return released_.data(); }
  std::uint32_t released_stride() const { return released_stride_; }
  SenderLine* lines() const { return lines_.data(); }
  std::byte* landing() const { return landing_.data(); }
  std::uint32_t landing_stride() const { return landing_stride_; }
  /// CPU to device by a copy engine: where the CPU writes a message. Slots of one batch and cycle are adjacent.
  std::byte* staging(Tag tag, std::uint32_t cycle) const;
  WordPlaces word_places() const { return places_; }

 private:
  ChannelMemory() = default;
  Result<> take_pages(Device& owner, const ChannelSpec& spec, Memory where);
  Result<> make_words(Runtime& runtime, const ChannelSpec& spec, Device& owner);
  Result<> upload_tables(Runtime& runtime, const ChannelSpec& spec);
  Mailbox box_with(const std::uint32_t* table) const {
    Mailbox box = box_;
    box.first_page = table;
    return box;
  }

  Mailbox box_;  // without its table
  std::shared_ptr<MessagePages> pages_;
  std::vector<MessagePages::Run> runs_;
  std::vector<std::uint32_t> table_;
  Array<std::uint32_t> producer_table_, consumer_table_;
  Array<std::uint32_t> words_, released_;
  std::uint32_t released_stride_ = 0;
  Array<SenderLine> lines_;
  Array<std::byte> landing_, staging_;
  std::uint32_t landing_stride_ = 0;
  WordPlaces places_{};
};

}  // namespace wic
