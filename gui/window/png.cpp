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
  std::string part;
  const int fd = make_part(path, part);
  std::FILE* const file = fd < 0 ? nullptr : fdopen(fd, "w");
  int error = file == nullptr ? errno : 0;
  if (file != nullptr) {
    // Negative stride: from the bottom row up.
    if (png_image_write_to_stdio(&image, file, 0, pixels.data(), -width * 3, nullptr) == 0) error = EIO;
    if (std::fclose(file) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(part.c_str());
  }
  if (error == 0) return ok();
  return bad_input("cannot write " + path + " (" + std::strerror(error) + "); choose an existing, writable folder");
}

}  // namespace wicprof::gui
