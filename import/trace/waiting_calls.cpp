#include "import/trace/waiting_calls.h"

#include <algorithm>
#include <array>

namespace wicprof::imports {

namespace {

struct Named {
  std::string_view name;  // without cuda, cu or hip
  KnownCall call;
};

constexpr KnownCall kCopy{CallKind::copies, Awaited::copy}, kAsync{CallKind::copies_asynchronously, Awaited::copy};
constexpr auto waits_for(Awaited awaited) { return KnownCall{CallKind::synchronizes, awaited}; }

constexpr std::array kCalls{
    Named{"DeviceSynchronize", waits_for(Awaited::device)},
    Named{"ThreadSynchronize", waits_for(Awaited::device)},
    Named{"CtxSynchronize", waits_for(Awaited::device)},
    Named{"StreamSynchronize", waits_for(Awaited::stream)},
    Named{"EventSynchronize", waits_for(Awaited::event)},
    Named{"Memcpy", kCopy},
    Named{"Memcpy2D", kCopy},
    Named{"Memcpy2DUnaligned", kCopy},
    Named{"Memcpy3D", kCopy},
    Named{"MemcpyToSymbol", kCopy},
    Named{"MemcpyFromSymbol", kCopy},
    Named{"MemcpyHtoD", kCopy},
    Named{"MemcpyDtoH", kCopy},
    Named{"MemcpyWithStream", kCopy},  // of HIP
    Named{"MemcpyAsync", kAsync},
    Named{"Memcpy2DAsync", kAsync},
    Named{"Memcpy3DAsync", kAsync},
    Named{"MemcpyFromSymbolAsync", kAsync},
    Named{"MemcpyHtoDAsync", kAsync},
    Named{"MemcpyDtoHAsync", kAsync},
};

bool is_suffix(std::string_view part) {
  if (part == "ptsz" || part == "ptds") return true;
  return part.size() > 1 && part.front() == 'v' &&
         std::all_of(part.begin() + 1, part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view plain_call_name(std::string_view name) {
  for (std::size_t at; (at = name.rfind('_')) != std::string_view::npos && is_suffix(name.substr(at + 1));) {
    name = name.substr(0, at);
  }
  return name;
}

KnownCall known_call(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu", "hip"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    const auto found = std::find_if(kCalls.begin(), kCalls.end(), [&](const Named& call) { return call.name == rest; });
    if (found != kCalls.end()) return found->call;
  }
  return {};
}

}  // namespace wicprof::imports
