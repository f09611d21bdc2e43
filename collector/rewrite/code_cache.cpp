#include "collector/rewrite/code_cache.h"

#include <unistd.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "collector/rewrite/file_bytes.h"

namespace wicprof::collector {

namespace fs = std::filesystem;

namespace {

// Of the entries' form and of the patch: another number, and older entries are not found.
constexpr std::string_view kVersion = "wic-prof rewrite 3";
// What the hash of an entry's code is made with.
constexpr std::string_view kCode = "code";

/// Other processes see the whole file or none.
bool write(const fs::path& path, std::string_view bytes) {
  const fs::path made = path.string() + "." + std::to_string(getpid());
  std::error_code error;
  {
    std::ofstream file(made, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) {
      fs::remove(made, error);
      return false;
    }
  }
  fs::rename(made, path, error);
  return !error;
}

void remove_oldest(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& each : fs::directory_iterator(folder, error)) {
    bytes += each.file_size(error);
    files.emplace_back(each.last_write_time(error), each.path());
  }
  if (bytes <= CodeCache::kMostBytes) return;
  std::sort(files.begin(), files.end());
  for (const auto& [time, path] : files) {
    if (bytes <= CodeCache::kMostBytes / 2) return;
    bytes -= std::min(bytes, fs::file_size(path, error));
    fs::remove(path, error);
  }
}

}  // namespace

fs::path CodeCache::user_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "wic-prof" / "rewrite";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return fs::path(home) / ".cache" / "wic-prof" / "rewrite";
}

std::string CodeCache::key(std::string_view image, std::string_view machine) {
  // 122 bits of a SHA-1.
  boost::uuids::name_generator_sha1 of_names(boost::uuids::ns::oid());
  const std::string about = std::string(kVersion) + "\n" + std::string(machine);
  boost::uuids::name_generator_sha1 of_image(of_names(about));
  return boost::uuids::to_string(of_image(image.data(), image.size()));
}

std::optional<rewriter::Replacement> CodeCache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string text = file_bytes(folder_ / (key + ".json"));
  if (text.empty()) return std::nullopt;
  try {
    const nlohmann::json entry = nlohmann::json::parse(text);
    rewriter::Replacement found;
    entry.at("left_alone").get_to(found.left_alone);
    if (entry.at("bytes").get<std::size_t>() == 0) return found;
    found.text = file_bytes(code_file(key));
    // Other bytes would make the program's load fail.
    if (CodeCache::key(found.text, kCode) != entry.at("code").get<std::string>()) return std::nullopt;
    found.is_machine_code = true;
    entry.at("table").get_to(found.table);
    entry.at("kernels").get_to(found.kernels);
    for (const nlohmann::json& each : entry.at("sites")) {
      rewriter::LoadedSite& site = found.sites.emplace_back();
      each.at("function").get_to(site.function);
      each.at("file").get_to(site.file);
      each.at("line").get_to(site.line);
      site.pause = static_cast<rewriter::Pause>(each.at("pause").get<int>());
    }
    return found;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void CodeCache::store(const std::string& key, const rewriter::Replacement& replacement) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return;
  nlohmann::json sites = nlohmann::json::array();
  for (const rewriter::LoadedSite& site : replacement.sites) {
    sites.push_back({{"function", site.function},
                     {"file", site.file},
                     {"line", site.line},
                     {"pause", static_cast<int>(site.pause)}});
  }
  const nlohmann::json entry = {{"left_alone", replacement.left_alone},
                                {"bytes", replacement.text.size()},
                                {"code", CodeCache::key(replacement.text, kCode)},
                                {"table", replacement.table},
                                {"kernels", replacement.kernels},
                                {"sites", sites}};
  // The code first: an entry without it would be found and be of no use.
  if (!replacement.text.empty() && !write(code_file(key), replacement.text)) return;
  write(folder_ / (key + ".json"), entry.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  remove_oldest(folder_);
}

}  // namespace wicprof::collector
