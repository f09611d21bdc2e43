// The messages of the CPU's rank in the memory of a device beside it, where a copy engine brings them (--rival
// demandcpy).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "c_h3d/outbox.h"
#include "wic/device.h"

namespace sample::h3d {

class Inbox {
 public:
  static wic::Result<std::unique_ptr<Inbox>> make(wic::Device& device, std::uint32_t n) {
    std::unique_ptr<Inbox> inbox(new Inbox());
    inbox->copy_.n = n;
    auto cells = wic::Array<Cell>::make(device, inbox->copy_.stored_cells(), wic::Memory::device);
    if (!cells) return cells.error();
    auto flags = wic::Array<Flag>::make(device, Outbox::kFlags, wic::Memory::device);
    if (!flags) return flags.error();
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    inbox->cells_ = *std::move(cells);
    inbox->flags_ = *std::move(flags);
    inbox->stream_ = *std::move(stream);
    inbox->copy_.cells = inbox->cells_.data();
    inbox->copy_.flags = inbox->flags_.data();
    return wic::Result<std::unique_ptr<Inbox>>(std::move(inbox));
  }

  /// What the device reads instead of the CPU's outbox.
  const Outbox& outbox() const { return copy_; }

  /// Starts the copy of a message that is in `from`, and after it the write of its flag. Any thread.
  void push(const Outbox& from, std::uint32_t message, std::uint32_t iteration) {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    const wic::Result<> copied = stream_->copy(copy_.buffer(message, iteration), from.buffer(message, iteration),
                                               copy_.cells_of(message) * sizeof(Cell));
    if (!copied) {
      error_ = copied.error();
      return;
    }
    const wic::Result<> written = stream_->write(&copy_.flag(message, iteration)->word, iteration);
    if (!written) error_ = written.error();
  }
  /// The first error of push().
  wic::Result<> status() {
    const std::lock_guard lock(mutex_);
    return error_ ? wic::Result<>(*error_) : wic::ok();
  }

 private:
  Inbox() = default;

  Outbox copy_{};
  wic::Array<Cell> cells_;
  wic::Array<Flag> flags_;
  std::mutex mutex_;
  std::optional<wic::Error> error_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

}  // namespace sample::h3d
