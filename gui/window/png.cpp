#include "gui/window/png.h"

#include <png.h>

#include <cstdio>
#include <filesystem>

namespace wicprof::gui {

Result<> write_png(const std::string& path, int width, int height, const std::vector<unsigned char>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  const std::string unfinished = path + ".new";
  // Negative stride: from the bottom row up.
  const bool written = png_image_write_to_file(&image, unfinished.c_str(), 0, pixels.data(), -width * 3, nullptr) != 0;
  std::error_code error;
  if (written) std::filesystem::rename(unfinished, path, error);
  if (written && !error) return ok();
  const std::string reason = written ? error.message() : image.message;
  std::filesystem::remove(unfinished, error);
  return bad_input("cannot write " + path + " (" + reason + "); choose an existing, writable folder");
}

}  // namespace wicprof::gui
