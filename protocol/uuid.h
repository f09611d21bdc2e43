// A GPU's uuid as text: what tells the processes of a session which of their devices are the same.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace wicprof {

/// "GPU-" and the 16 bytes in groups of 4, 2, 2, 2 and 6, as nvidia-smi prints them; so for a part of a GPU (MIG) too,
/// so that all callers have the same text for it. Empty for sixteen zeros: not known.
inline std::string uuid_text(const void* sixteen_bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::uint8_t bytes[16];
  std::memcpy(bytes, sixteen_bytes, sizeof bytes);
  std::string text = "GPU";
  bool known = false;
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
    known = known || bytes[i] != 0;
  }
  return known ? text : std::string();
}

}  // namespace wicprof
