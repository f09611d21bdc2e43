// A 16-bit hash of a word's address: it distinguishes the words of a site in records that cannot hold an address.
#pragma once

#include <cstdint>

#include "protocol/events/header.h"
#include "wic/platform.h"

namespace wic {

/// Never 0, which means that the word is not known. Equal on all devices and on the host where they see the word at one
/// address, as under CUDA's unified addressing. A word that is mapped at several addresses has several tags.
WIC_DEVICE inline wicprof::WordTag word_tag(const std::uint32_t* word) {
  const std::uint64_t number = reinterpret_cast<std::uint64_t>(word) >> 2;
  const auto tag = static_cast<wicprof::WordTag>((number * 0x9e3779b97f4a7c15u) >> 48);
  return tag == 0 ? wicprof::WordTag{1} : tag;
}

}  // namespace wic
