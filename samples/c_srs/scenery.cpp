#include "c_srs/scenery.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace sample::srs {

namespace {

std::uint32_t mixed(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca6bu ^ c * 0xc2b2ae35u;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

// Random values at the corners of a grid of `spacing` pixels, interpolated bilinearly; 0 to 1023.
std::uint32_t land(std::uint32_t seed, std::uint32_t x, std::uint32_t y, std::uint32_t spacing) {
  const std::uint32_t i = x / spacing, j = y / spacing, u = x % spacing, v = y % spacing;
  const auto corner = [&](std::uint32_t di, std::uint32_t dj) { return mixed(seed, i + di, j + dj) % 1024; };
  const std::uint32_t top = corner(0, 0) * (spacing - u) + corner(1, 0) * u;
  const std::uint32_t bottom = corner(0, 1) * (spacing - u) + corner(1, 1) * u;
  return (top * (spacing - v) + bottom * v) / (spacing * spacing);
}

Pixel sensed(std::uint32_t seed, std::uint32_t x, std::uint32_t y, std::uint32_t edge) {
  std::uint32_t value = 400 + land(seed, x, y, 32) + land(seed + 1, x, y, 8) / 4;
  const std::uint32_t river = edge / 4 + land(seed + 2, 0, y, 16) * edge / 2048;
  if (x >= river && x < river + edge / 16 + 1) value = 250;
  if (y > edge / 2 && x > edge / 2) value += mixed(seed, x / 12, y / 9) % 900;  // fields
  value += mixed(seed + 3, x, y) % 64;
  return static_cast<Pixel>(std::min(value, 4095u) << 4);
}

}  // namespace

Image landscape(std::uint32_t number, std::uint32_t edge) {
  Image image{edge, edge, std::vector<Pixel>(std::size_t{edge} * edge)};
  const std::uint32_t seed = mixed(number, 1, 2);
  for (std::uint32_t y = 0; y < edge; ++y) {
    for (std::uint32_t x = 0; x < edge; ++x) image.pixels[std::size_t{y} * edge + x] = sensed(seed, x, y, edge);
  }
  return image;
}

wic::Result<> write_landscape(const std::filesystem::path& folder, std::uint32_t count, std::uint32_t edge) {
  for (std::uint32_t number = 0; number < count; ++number) {
    const Image image = landscape(number, edge);
    const auto png = encode_png(image.width, image.height, image.pixels);
    if (!png) return png.error();
    char name[32];
    std::snprintf(name, sizeof name, "tile_%06u.png", number);
    const std::filesystem::path file = folder / name;
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(png->data()), static_cast<std::streamsize>(png->size()));
    if (!out.flush()) {
      return wic::unavailable(file.string() + " cannot be written; is the disk full? (TMPDIR selects another folder)");
    }
  }
  return wic::ok();
}

}  // namespace sample::srs
