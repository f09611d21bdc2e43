#include "wic/message_pages.h"

#include <cassert>
#include <mutex>
#include <string>

#include "src/channel/segment_tree.h"

namespace wic {

struct MessagePages::State {
  Array<std::byte> memory;
  const Device& device;
  Memory where;
  std::mutex mutex;
  SegmentTree tree;

  State(Array<std::byte> array, const Device& on, std::uint32_t pages, Memory in)
      : memory(std::move(array)), device(on), where(in), tree(pages) {}
};

MessagePages::MessagePages(std::unique_ptr<State> state) : state_(std::move(state)) {}
MessagePages::~MessagePages() = default;

Result<std::shared_ptr<MessagePages>> MessagePages::make(Device& device, std::uint32_t pages, Memory where) {
  if (pages == 0 || pages > (1u << 30)) {
    return wicprof::bad_input(std::to_string(pages) + " message pages; 1 to 2^30 are possible");
  }
  auto memory = Array<std::byte>::make(device, pages * kPageBytes, where);
  if (!memory) return memory.error();
  auto state = std::make_unique<State>(*std::move(memory), device, pages, where);
  return std::shared_ptr<MessagePages>(new MessagePages(std::move(state)));
}

std::optional<MessagePages::Run> MessagePages::take(std::uint32_t pages) {
  const std::lock_guard lock(state_->mutex);
  const std::optional<std::uint32_t> first = state_->tree.take(pages);
  if (!first) return std::nullopt;
  return Run{*first, pages};
}

void MessagePages::give_back(Run run) {
  const std::lock_guard lock(state_->mutex);
  [[maybe_unused]] const bool was_taken = state_->tree.give_back(run.first, run.pages);
  assert(was_taken);
}

std::byte* MessagePages::data() const { return state_->memory.data(); }
Memory MessagePages::where() const { return state_->where; }
const Device& MessagePages::device() const { return state_->device; }
std::uint32_t MessagePages::free_pages() const {
  const std::lock_guard lock(state_->mutex);
  return state_->tree.free_pages();
}

}  // namespace wic
