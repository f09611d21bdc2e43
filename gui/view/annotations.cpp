#include "gui/view/annotations.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>

#include "protocol/own_file.h"

namespace wicprof::gui {

namespace {
constexpr std::string_view kSuffix = ".gui.json";
}  // namespace

std::string annotations_path(const std::string& trace) { return trace + std::string(kSuffix); }

Result<Annotations> load_annotations(const std::string& path) {
  Annotations annotations;
  struct stat info {};
  const int file = open_regular(path, info);
  if (file < 0 && errno == ENOENT) return annotations;
  if (file < 0 || !is_companion(info, path.substr(0, path.size() - std::min(path.size(), kSuffix.size())))) {
    if (file >= 0) close(file);
    return bad_input(path + " is no file of yours; remove it to keep marks and pins there");
  }
  const nlohmann::json json = nlohmann::json::parse(take_bytes(file), nullptr, false);
  const auto refuse = [&] {
    return bad_input(path + " is not a file of settings and annotations; move or delete it to start with new ones");
  };
  if (!json.is_object()) return refuse();
  try {
    for (const auto& mark : json.value("marks", nlohmann::json::array()))
      annotations.marks.push_back({mark.at("at_ns").get<TimeNs>(), mark.value("text", std::string())});
    for (const auto& key : json.value("pinned", nlohmann::json::array()))
      annotations.pinned.insert(key.get<std::string>());
    annotations.dark = json.value("dark", false);
  } catch (const nlohmann::json::exception&) {
    return refuse();
  }
  std::stable_sort(annotations.marks.begin(), annotations.marks.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return annotations;
}

Result<> save_annotations(const std::string& path, const Annotations& annotations) {
  nlohmann::ordered_json json{
      {"marks", nlohmann::ordered_json::array()}, {"pinned", annotations.pinned}, {"dark", annotations.dark}};
  for (const Bookmark& mark : annotations.marks) json["marks"].push_back({{"at_ns", mark.at}, {"text", mark.text}});
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (replace_with(path, text) != 0) {
    return unavailable("cannot write " + path +
                       "; marks and pins of this trace are lost unless its folder is writable");
  }
  return ok();
}

}  // namespace wicprof::gui
