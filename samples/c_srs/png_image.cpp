#include "c_srs/png_image.h"

#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstring>

namespace sample::srs {

namespace {

using wic::bad_input;
using wic::Result;

constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 28;

// libpng stores its error text here and jumps back to setjmp. Functions with a setjmp therefore have no local objects
// that need a destructor, and they only change objects outside the function.
struct PngFailure {
  char text[120] = "";
};

[[noreturn]] void fail(png_structp png, png_const_charp text) {
  auto* const failure = static_cast<PngFailure*>(png_get_error_ptr(png));
  std::strncpy(failure->text, text, sizeof failure->text - 1);
  longjmp(png_jmpbuf(png), 1);
}
void ignore(png_structp, png_const_charp) {}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> data) : left_(data) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure_, fail, ignore);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  Reader(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  const char* failure() const { return failure_.text[0] == 0 ? "not enough memory" : failure_.text; }
  std::uint32_t width() const { return png_get_image_width(png_, info_); }
  std::uint32_t height() const { return png_get_image_height(png_, info_); }

  /// Reads the header and requests 16-bit grey values in this machine's byte order.
  bool begin() {
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, take);
    png_read_info(png_, info_);
    png_set_expand_16(png_);  // also expands palettes and low bit depths
    png_set_strip_alpha(png_);
    if ((png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) != 0) {
      png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT, PNG_RGB_TO_GRAY_DEFAULT);
    }
    if constexpr (std::endian::native == std::endian::little) png_set_swap(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != std::size_t{width()} * sizeof(Pixel)) png_error(png_, "unknown colour format");
    return true;
  }

  bool pixels(png_bytep* rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

 private:
  static void take(png_structp png, png_bytep to, std::size_t bytes) {
    auto* const self = static_cast<Reader*>(png_get_io_ptr(png));
    if (bytes > self->left_.size()) png_error(png, "the data ends too early");
    std::memcpy(to, self->left_.data(), bytes);
    self->left_ = self->left_.subspan(bytes);
  }

  std::span<const std::byte> left_;
  PngFailure failure_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure_, fail, ignore);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  Writer(const Writer&) = delete;
  ~Writer() { png_destroy_write_struct(&png_, &info_); }

  const char* failure() const { return failure_.text[0] == 0 ? "not enough memory" : failure_.text; }

  bool write(std::uint32_t width, std::uint32_t height, png_bytep* rows) {
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_write_fn(png_, this, put, nullptr);
    png_set_compression_level(png_, 0);
    png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_IHDR(png_, info_, width, height, 16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
                 PNG_FILTER_TYPE_BASE);
    png_write_info(png_, info_);
    if constexpr (std::endian::native == std::endian::little) png_set_swap(png_);
    png_write_image(png_, rows);
    png_write_end(png_, nullptr);
    return true;
  }

 private:
  // Called from C, so out of memory becomes a libpng error; no exception may pass through libpng.
  static void put(png_structp png, png_bytep from, std::size_t bytes) {
    auto* const self = static_cast<Writer*>(png_get_io_ptr(png));
    const auto* const data = reinterpret_cast<const std::byte*>(from);
    bool stored = true;
    try {
      self->out_.insert(self->out_.end(), data, data + bytes);
    } catch (...) {
      stored = false;
    }
    if (!stored) png_error(png, "not enough memory");
  }

  std::vector<std::byte>& out_;
  PngFailure failure_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

std::vector<png_bytep> row_pointers(std::uint32_t width, std::uint32_t height, Pixel* pixels) {
  std::vector<png_bytep> rows(height);
  for (std::uint32_t y = 0; y < height; ++y) rows[y] = reinterpret_cast<png_bytep>(pixels + std::size_t{y} * width);
  return rows;
}

wic::Error unreadable(const std::string& name, const char* why) {
  return bad_input(name + " cannot be read as a PNG: " + why);
}

}  // namespace

Result<Image> decode_png(std::span<const std::byte> png, const std::string& name) {
  Reader reader(png);
  if (!reader.begin()) return unreadable(name, reader.failure());
  Image image{reader.width(), reader.height(), {}};
  if (std::uint64_t{image.width} * image.height > kMaxPixels) {
    return unreadable(name, "it has more than 2^28 pixels; cut it into smaller images");
  }
  image.pixels.resize(std::size_t{image.width} * image.height);
  if (!reader.pixels(row_pointers(image.width, image.height, image.pixels.data()).data())) {
    return unreadable(name, reader.failure());
  }
  return Result<Image>(std::move(image));
}

Result<> decode_png_into(std::span<const std::byte> png, std::uint32_t width, std::uint32_t height,
                         std::span<Pixel> pixels, const std::string& name) {
  Reader reader(png);
  if (!reader.begin()) return unreadable(name, reader.failure());
  if (reader.width() != width || reader.height() != height || pixels.size() < std::size_t{width} * height) {
    return bad_input(name + " has " + std::to_string(reader.width()) + " x " + std::to_string(reader.height()) +
                     " pixels, not " + std::to_string(width) + " x " + std::to_string(height));
  }
  if (!reader.pixels(row_pointers(width, height, pixels.data()).data())) return unreadable(name, reader.failure());
  return wic::ok();
}

Result<std::vector<std::byte>> encode_png(std::uint32_t width, std::uint32_t height, std::span<const Pixel> pixels) {
  std::vector<std::byte> png;
  Writer writer(png);
  // libpng takes non-const rows but does not change them.
  if (!writer.write(width, height, row_pointers(width, height, const_cast<Pixel*>(pixels.data())).data())) {
    return wic::unavailable(std::string("an image cannot be written as a PNG: ") + writer.failure());
  }
  return Result<std::vector<std::byte>>(std::move(png));
}

}  // namespace sample::srs
