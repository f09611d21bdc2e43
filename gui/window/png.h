// PNG files.
#pragma once

#include <string>
#include <vector>

#include "protocol/result.h"

namespace wicprof::gui {

/// `pixels`: RGB, 3 bytes per pixel, bottom row first as in OpenGL. Error: the file cannot be written.
Result<> write_png(const std::string& path, int width, int height, const std::vector<unsigned char>& pixels);

}  // namespace wicprof::gui
