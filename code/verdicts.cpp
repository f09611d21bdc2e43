#include "code/verdicts.h"

#include <array>
#include <cstddef>

namespace wicprof {

namespace {

constexpr std::array<std::string_view, 4> kVerdicts = {"wait", "wait_not_patchable", "not_a_wait", "unknown"};

constexpr std::array<std::string_view, 5> kWaitedFor = {
    "", "word", "word in shared memory", "word in shared memory of the cluster", "mbarrier in shared memory"};

struct Kind {
  std::string_view name;
  WaitVerdict verdict;
};

constexpr std::array<Kind, 8> kKinds = {{
    {"work", WaitVerdict::not_a_wait},
    {"pointer_chase", WaitVerdict::not_a_wait},
    {"atomic_update", WaitVerdict::not_a_wait},
    {"try_wait", WaitVerdict::wait_not_patchable},
    {"poll", WaitVerdict::wait},
    {"atomic_poll", WaitVerdict::wait},
    {"lock", WaitVerdict::wait},
    {"grid_barrier", WaitVerdict::wait},
}};

const Kind& row_of(LoopKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string_view name_of(WaitVerdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

std::string_view name_of(WaitedFor object) { return kWaitedFor[static_cast<std::size_t>(object)]; }

std::string_view loop_kind_name(LoopKind kind) { return row_of(kind).name; }

bool is_polling(LoopKind kind) { return row_of(kind).verdict == WaitVerdict::wait; }

std::string text_of(const LoopReason& reason, std::string_view detail) {
  std::string text(reason.sentence);
  const std::size_t place = text.find("{}");
  return place == text.npos ? text.append(detail) : text.replace(place, 2, detail);
}

}  // namespace wicprof
