#include "c_srs/tile_set.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <stdlib.h>  // mkdtemp

#include "c_srs/scenery.h"

namespace sample::srs {

namespace {

using wic::bad_input;
using wic::Result;
namespace fs = std::filesystem;

bool is_png(const fs::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png";
}

Result<std::vector<fs::path>> png_files(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (is_png(it->path())) files.push_back(it->path());
  }
  if (error) return bad_input("cannot read the folder " + folder.string() + ": " + error.message());
  if (files.empty()) return bad_input("no PNG file in " + folder.string());
  std::sort(files.begin(), files.end());
  return Result<std::vector<fs::path>>(std::move(files));
}

Result<Image> read_image(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> data{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) return bad_input(file.string() + " cannot be read");
  return decode_png(std::as_bytes(std::span(data)), file.string());
}

// A temporary folder; the destructor removes it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code error;
    const fs::path base = fs::temp_directory_path(error);
    std::string name = (base / "c_srs.XXXXXX").string();
    if (error || mkdtemp(name.data()) == nullptr) {
      return wic::unavailable("cannot create a folder in " + base.string() + "; set TMPDIR to a writable folder");
    }
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

}  // namespace

Result<std::shared_ptr<const TileSet>> TileSet::load(const fs::path& folder, std::uint32_t edge) {
  const auto files = png_files(folder);
  if (!files) return files.error();
  std::shared_ptr<TileSet> set(new TileSet(edge));
  for (const fs::path& file : *files) {
    const Result<Image> image = read_image(file);
    if (!image) return image.error();
    if (Result<> added = set->add(*image); !added) return added.error();
  }
  return std::shared_ptr<const TileSet>(std::move(set));
}

Result<std::shared_ptr<const TileSet>> TileSet::generate(std::uint32_t count, std::uint32_t edge) {
  const auto folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  if (Result<> written = write_landscape(folder->path(), count, edge); !written) return written.error();
  return load(folder->path(), edge);
}

Result<> TileSet::add(const Image& image) {
  std::vector<Pixel> tile(std::size_t{edge_} * edge_);
  for (std::uint32_t top = 0; top < image.height; top += edge_) {
    for (std::uint32_t left = 0; left < image.width; left += edge_) {
      for (std::uint32_t y = 0; y < edge_; ++y) {
        const std::size_t row = std::size_t{std::min(top + y, image.height - 1)} * image.width;
        for (std::uint32_t x = 0; x < edge_; ++x) {
          tile[std::size_t{y} * edge_ + x] = image.pixels[row + std::min(left + x, image.width - 1)];
        }
      }
      auto png = encode_png(edge_, edge_, tile);
      if (!png) return png.error();
      tiles_.push_back(*std::move(png));
    }
  }
  return wic::ok();
}

Result<> TileSet::decode(std::uint32_t tile, std::span<Pixel> pixels) const {
  return decode_png_into(tiles_[tile], edge_, edge_, pixels, "tile " + std::to_string(tile));
}

}  // namespace sample::srs
