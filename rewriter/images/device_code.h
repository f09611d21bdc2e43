// The device code in a file: PTX text, a cubin, a fat binary, or a program or library that holds fat binaries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "rewriter/images/fat_binary.h"

namespace wicprof::rewriter {

struct DeviceCode {
  bool is_text = false;           ///< the file itself is PTX text
  std::vector<FatEntry> entries;  ///< of a cubin or a PTX text, one entry
};

/// What is in `file`; the result refers to it. Errors: damaged bytes, a file without device code.
Result<DeviceCode> read_device_code(std::string_view file);

/// The containers of a fat binary, or of the section .nv_fatbin of a program or library, one by one, as a program hands
/// them to the driver; none in other files. They refer to `file`.
Result<std::vector<std::string_view>> containers_of(std::string_view file);

/// The PTX text of an entry of that kind, without what follows its end.
Result<std::string> ptx_of(const FatEntry& entry);

/// What an entry that holds a cubin says of itself.
struct CubinContents {
  std::vector<std::string> kernels;  ///< their symbols
  std::string options;               ///< what it was compiled with, as options_of() says
};
Result<CubinContents> contents_of_cubin(const FatEntry& entry);

}  // namespace wicprof::rewriter
