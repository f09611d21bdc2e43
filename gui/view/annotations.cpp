#include "gui/view/annotations.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace wicprof::gui {

std::string annotations_path(const std::string& trace) { return trace + ".gui.json"; }

Result<Annotations> load_annotations(const std::string& path) {
  Annotations annotations;
  std::ifstream file(path);
  if (!file) return annotations;
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
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
  const std::string unfinished = path + ".new";
  std::ofstream file(unfinished, std::ios::trunc);
  file << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(unfinished, path, error);
  if (!file || error) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    return unavailable("cannot write " + path +
                       "; marks and pins of this trace are lost unless its folder is writable");
  }
  return ok();
}

}  // namespace wicprof::gui
