#include "gui/window/png.h"

#include <png.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "protocol/own_file.h"

namespace wicprof::gui {

Result<> write_png(const std::string& path, int width, int height, const std::vector<unsigned char>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  image.flags = PNG_IMAGE_FLAG_FAST;  // rows without filters, which for the window's even colours are also smaller
  NewFile made(path);
  const int copy = made.descriptor() < 0 ? -1 : dup(made.descriptor());
  std::FILE* const file = copy < 0 ? nullptr : fdopen(copy, "w");
  int error = file == nullptr ? errno : 0;
  if (file != nullptr) {
    // Negative stride: from the bottom row up.
    if (png_image_write_to_stdio(&image, file, 0, pixels.data(), -width * 3, nullptr) == 0) error = EIO;
    if (std::fclose(file) != 0 && error == 0) error = errno;
    if (error == 0) error = made.take_name(true);
  }
  if (error == 0) return ok();
  return bad_input("cannot write " + path + " (" + std::strerror(error) + "); choose an existing, writable folder");
}

}  // namespace wicprof::gui
