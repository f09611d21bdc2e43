// Pictures as PNG files.
#pragma once

#include <string>
#include <vector>

#include "protocol/result.h"

namespace wicprof::gui {

/// RGB, 3 bytes a pixel, the lowest row first as OpenGL has it. Error: the file cannot be written.
Result<> write_png(const std::string& path, int width, int height, const std::vector<unsigned char>& pixels);

}  // namespace wicprof::gui
