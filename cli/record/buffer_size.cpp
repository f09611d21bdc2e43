#include "cli/record/buffer_size.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/files/container.h"

namespace wicprof::cli {

BufferSize fitting_buffer(std::optional<std::uint64_t> left) {
  constexpr std::size_t kPart = 4;                      // chosen
  constexpr std::size_t kLeast = std::size_t{4} << 20;  // bytes; with less, a burst of events is lost (chosen)
  BufferSize size;
  if (!left || *left / kPart >= kUsualBuffer) return size;
  size.bytes = std::max(static_cast<std::size_t>(*left / kPart) >> 20 << 20, kLeast);
  const std::string cure = container_cure("--memory", "resources.limits.memory");
  size.note = fmt::format(
      "the memory limit leaves {} MiB: events get a buffer of {} MiB in place of {}; another size: "
      "--buffer-size{}",
      *left >> 20, size.bytes >> 20, kUsualBuffer >> 20, cure.empty() ? "" : ", more memory: " + cure);
  return size;
}

}  // namespace wicprof::cli
