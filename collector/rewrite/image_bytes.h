// The bytes of an image that a program hands to the driver, which takes a bare pointer.
#pragma once

#include <string_view>

namespace wicprof::collector {

/// The image at `code`: of a fat binary with its wrapper, the fat binary; else the PTX text or the cubin. Empty: of
/// another form. Reads as far as the driver itself would read. `code` must be what a program gave to the driver.
std::string_view image_at(const void* code);

}  // namespace wicprof::collector
