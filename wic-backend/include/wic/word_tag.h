// A 16-bit name for a word: enough to tell the words of a site apart in records that have no room for an address.
#pragma once

#include <cstdint>

#include "protocol/events/header.h"
#include "wic/platform.h"

namespace wic {

/// Never 0, which means that the word is not known. The same for a word on every device and on the host wherever they
/// see it at one address, as they do under CUDA's unified addressing; memory that is mapped at several addresses has
/// several.
WIC_DEVICE inline wicprof::WordTag word_tag(const std::uint32_t* word) {
  const std::uint64_t number = reinterpret_cast<std::uint64_t>(word) >> 2;
  const auto tag = static_cast<wicprof::WordTag>((number * 0x9e3779b97f4a7c15u) >> 48);
  return tag == 0 ? wicprof::WordTag{1} : tag;
}

}  // namespace wic
