#include "collector/rewrite/code_cache.h"

#include <stdlib.h>  // mkostemp, secure_getenv
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cerrno>
#include <cstdio>  // rename
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "collector/rewrite/file_bytes.h"

namespace wicprof::collector {

namespace fs = std::filesystem;

namespace {

// Of the entries' form and of the patch: another number, and older entries are not found.
constexpr std::string_view kVersion = "wic-prof rewrite 16";
// What the hash of an entry's code is made with.
constexpr std::string_view kCode = "code";

nlohmann::json to_json(const WantedValue& wanted) {
  return {{"relation", static_cast<int>(wanted.relation)},
          {"is_64_bit", wanted.is_64_bit},
          {"value", wanted.value},
          {"mask", wanted.mask}};
}
WantedValue wanted_of(const nlohmann::json& json) {
  WantedValue wanted;
  wanted.relation = static_cast<WantedRelation>(json.at("relation").get<int>());
  json.at("is_64_bit").get_to(wanted.is_64_bit);
  json.at("value").get_to(wanted.value);
  json.at("mask").get_to(wanted.mask);
  return wanted;
}

nlohmann::json to_json(const rewriter::KernelStores& stores) {
  nlohmann::json targets = nlohmann::json::array();
  for (const rewriter::StoreTarget& each : stores.targets) {
    targets.push_back(
        {{"parameter", each.parameter}, {"symbol", each.symbol}, {"exact", each.exact}, {"offset", each.offset}});
  }
  return {{"kernel", stores.kernel}, {"targets", targets}, {"elsewhere", stores.elsewhere}};
}
rewriter::KernelStores stores_of(const nlohmann::json& json) {
  rewriter::KernelStores stores;
  json.at("kernel").get_to(stores.kernel);
  json.at("elsewhere").get_to(stores.elsewhere);
  for (const nlohmann::json& each : json.at("targets")) {
    rewriter::StoreTarget& target = stores.targets.emplace_back();
    each.at("parameter").get_to(target.parameter);
    each.at("symbol").get_to(target.symbol);
    each.at("exact").get_to(target.exact);
    each.at("offset").get_to(target.offset);
  }
  return stores;
}

/// Whether somebody else could put another folder in the place of this one. The two folders above it that exist decide.
bool is_safe_place(fs::path folder) {
  for (int seen = 0; seen < 2 && folder != folder.root_path();) {
    folder = folder.parent_path();
    struct stat info {};
    if (stat(folder.c_str(), &info) == 0) {
      if (!is_safe_parent(info)) return false;
      ++seen;
    } else if (errno != ENOENT) {
      return false;
    }
  }
  return true;
}

void make_folders(const fs::path& folder) {
  if (mkdir(folder.c_str(), S_IRWXU) == 0 || errno != ENOENT || !folder.has_parent_path()) return;
  make_folders(folder.parent_path());
  mkdir(folder.c_str(), S_IRWXU);
}

/// Whether the folder is there, and nobody but its user can change what is in it.
bool is_own_folder(const fs::path& folder) {
  struct stat info {};
  if (!is_safe_place(folder) || lstat(folder.c_str(), &info) != 0) return false;
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid()) return false;
  // Older versions left it as the umask said.
  return (info.st_mode & (S_IRWXG | S_IRWXO)) == 0 || chmod(folder.c_str(), S_IRWXU) == 0;
}

/// Other processes see the whole file or none.
bool write(const fs::path& path, std::string_view bytes) {
  std::string made = path.string() + ".XXXXXX";
  const int file = mkostemp(made.data(), O_CLOEXEC);
  if (file < 0) return false;
  bool whole = write_bytes(file, bytes) == 0;
  whole = ::close(file) == 0 && whole && ::rename(made.c_str(), path.c_str()) == 0;
  if (!whole) ::unlink(made.c_str());
  return whole;
}

void remove_oldest(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::uintmax_t bytes = 0;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    std::error_code unknown;
    const std::uintmax_t size = each->file_size(unknown);
    if (unknown) continue;  // not a file
    bytes += size;
    files.emplace_back(each->last_write_time(unknown), each->path());
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
  const char* const cache = secure_getenv("XDG_CACHE_HOME");
  const char* const home = secure_getenv("HOME");
  fs::path folder;
  if (cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (home != nullptr && *home == '/') {
    folder = fs::path(home) / ".cache";
  } else {
    return {};
  }
  folder = folder / "wic-prof" / "rewrite";
  return is_safe_place(folder) ? folder : fs::path();
}

std::string CodeCache::key(std::string_view image, std::string_view machine) {
  // 122 bits of a SHA-1.
  boost::uuids::name_generator_sha1 of_names(boost::uuids::ns::oid());
  const std::string about = std::string(kVersion) + "\n" + std::string(machine);
  boost::uuids::name_generator_sha1 of_image(of_names(about));
  return boost::uuids::to_string(of_image(image.data(), image.size()));
}

std::optional<rewriter::Replacement> CodeCache::find(const std::string& key) const {
  if (folder_.empty() || key.empty() || !is_own_folder(folder_)) return std::nullopt;
  const std::string text = trusted_bytes(folder_ / (key + ".json"), is_own);
  if (text.empty()) return std::nullopt;
  try {
    const nlohmann::json entry = nlohmann::json::parse(text);
    rewriter::Replacement found;
    entry.at("left_alone").get_to(found.left_alone);
    for (const nlohmann::json& each : entry.at("stores")) found.stores.push_back(stores_of(each));
    if (entry.at("bytes").get<std::size_t>() == 0) return found;
    found.text = trusted_bytes(code_file(key), is_own);
    // Other bytes would make the program's load fail.
    if (CodeCache::key(found.text, kCode) != entry.at("code").get<std::string>()) return std::nullopt;
    entry.at("table").get_to(found.table);
    entry.at("kernels").get_to(found.kernels);
    entry.at("kernels_left_alone").get_to(found.kernels_left_alone);
    for (const nlohmann::json& each : entry.at("sites")) {
      rewriter::LoadedSite& site = found.sites.emplace_back();
      each.at("function").get_to(site.function);
      each.at("name").get_to(site.name);
      site.pause = static_cast<rewriter::Pause>(each.at("pause").get<int>());
      each.at("knows_word").get_to(site.knows_word);
      each.at("ends_known").get_to(site.ends_known);
      site.wanted = wanted_of(each.at("wanted"));
    }
    return found;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void CodeCache::store(const std::string& key, const rewriter::Replacement& replacement) const {
  if (folder_.empty() || key.empty() || !is_safe_place(folder_)) return;
  make_folders(folder_);
  if (!is_own_folder(folder_)) return;
  nlohmann::json sites = nlohmann::json::array();
  for (const rewriter::LoadedSite& site : replacement.sites) {
    sites.push_back({{"function", site.function},
                     {"name", site.name},
                     {"pause", static_cast<int>(site.pause)},
                     {"knows_word", site.knows_word},
                     {"ends_known", site.ends_known},
                     {"wanted", to_json(site.wanted)}});
  }
  nlohmann::json stores = nlohmann::json::array();
  for (const rewriter::KernelStores& each : replacement.stores) stores.push_back(to_json(each));
  const nlohmann::json entry = {{"left_alone", replacement.left_alone},
                                {"stores", stores},
                                {"bytes", replacement.text.size()},
                                {"code", CodeCache::key(replacement.text, kCode)},
                                {"table", replacement.table},
                                {"kernels", replacement.kernels},
                                {"kernels_left_alone", replacement.kernels_left_alone},
                                {"sites", sites}};
  // The code first: an entry without it would be found and be of no use.
  if (!replacement.text.empty() && !write(code_file(key), replacement.text)) return;
  write(folder_ / (key + ".json"), entry.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  remove_oldest(folder_);
}

}  // namespace wicprof::collector
