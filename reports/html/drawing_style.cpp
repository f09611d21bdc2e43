#include "reports/html/drawing_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace wicprof::reports::html {
namespace {

struct DrawingRule {
  std::vector<std::string> classes;  ///< an element that has all of these
  std::string property, value;       ///< "--poll" is a colour of the themes
};

std::vector<DrawingRule> make_drawing_rules() {
  std::vector<DrawingRule> rules{{{"grid"}, "stroke", "--line"},
                                 {{"cut"}, "stroke", "--mark"},
                                 {{"cut"}, "stroke-dasharray", "4 3"},
                                 {{"lane"}, "fill", "--lane"},
                                 {{"strong"}, "fill", "--text"},
                                 {{"strong"}, "font-weight", "600"},
                                 {{"spread"}, "opacity", ".25"},
                                 {{"whisker"}, "fill", "none"},
                                 {{"whisker"}, "stroke", "--text"},
                                 {{"whisker"}, "stroke-width", "1.2"},
                                 {{"dash-1"}, "stroke-dasharray", "7 4"},
                                 {{"dash-2"}, "stroke-dasharray", "2 3"},
                                 {{"dash-3"}, "stroke-dasharray", "9 3 2 3"}};
  rules.push_back({{"heat"}, "fill", "--poll"});
  for (std::size_t level = 1; level <= kHeatLevels; ++level) {
    rules.push_back({{fmt::format("heat-{}", level)},
                     "fill-opacity",
                     fmt::format("{:.2f}", static_cast<double>(level) / static_cast<double>(kHeatLevels))});
  }
  // A class names the colour of an area, or of a line where the class "mid" is there, too.
  std::map<std::string, std::string> colours{{"faint", "--faint"}};
  for (const StateLook& look : kStateLooks) colours[std::string(look.token)] = fmt::format("--{}", look.token);
  for (std::size_t i = 0; i < kSeriesColours.size(); ++i) {
    colours[fmt::format("series-{}", i)] = css_colour(kSeriesColours[i]);
  }
  for (const auto& [name, colour] : colours) rules.push_back({{name}, "fill", colour});
  rules.push_back({{"mid"}, "fill", "none"});
  rules.push_back({{"mid"}, "stroke-width", "1.8"});
  rules.push_back({{"mid"}, "stroke-linejoin", "round"});
  for (const auto& [name, colour] : colours) rules.push_back({{"mid", name}, "stroke", colour});
  return rules;
}

const std::vector<DrawingRule>& drawing_rules() {
  static const std::vector<DrawingRule> all = make_drawing_rules();
  return all;
}

/// "--line" in the light theme.
std::string light_colour(std::string_view value) {
  if (!value.starts_with("--")) return std::string(value);
  const std::string all = analyzer::css_variables(false);
  const std::string mark = fmt::format(" {}: ", value);
  return all.substr(all.find(mark) + mark.size(), 7);
}

/// The value of `class` in a tag.
std::string_view classes_of(std::string_view tag) {
  constexpr std::string_view kBegin = " class=\"";
  const std::size_t begin = tag.find(kBegin);
  if (begin == tag.npos) return {};
  tag.remove_prefix(begin + kBegin.size());
  return tag.substr(0, tag.find('"'));
}

bool has_class(std::string_view classes, std::string_view wanted) {
  for (std::size_t at = 0; (at = classes.find(wanted, at)) != classes.npos; at += wanted.size()) {
    const std::size_t end = at + wanted.size();
    if ((at == 0 || classes[at - 1] == ' ') && (end == classes.size() || classes[end] == ' ')) return true;
  }
  return false;
}

std::string attributes_of(std::string_view classes) {
  std::map<std::string, std::string> properties;
  for (const DrawingRule& rule : drawing_rules()) {
    const bool applies = std::all_of(rule.classes.begin(), rule.classes.end(),
                                     [&](const std::string& each) { return has_class(classes, each); });
    if (applies) properties[rule.property] = light_colour(rule.value);
  }
  std::string text;
  for (const auto& [property, value] : properties) text += fmt::format(" {}=\"{}\"", property, value);
  return text;
}

/// Of the drawing itself: text has a size and a colour, and of two variants the one for phones is not shown.
std::string attributes_of_drawing(std::string_view classes) {
  return fmt::format(" font-family=\"sans-serif\" font-size=\"11\" fill=\"{}\"{}", light_colour("--faint"),
                     has_class(classes, "narrow") ? " display=\"none\"" : "");
}

}  // namespace

std::string drawing_css() {
  std::string css;
  for (const DrawingRule& rule : drawing_rules()) {
    std::string selector;
    for (const std::string& each : rule.classes) selector += "." + each;
    const std::string value = rule.value.starts_with("--") ? fmt::format("var({})", rule.value) : rule.value;
    css += fmt::format("svg {} {{ {}: {}; }}\n", selector, rule.property, value);
  }
  return css;
}

std::string with_attributes(std::string_view page) {
  std::map<std::string, std::string, std::less<>> known;  // by classes; a page has few of these and many elements
  std::string out;
  out.reserve(page.size() + page.size() / 4);
  bool inside = false;
  while (!page.empty()) {
    const std::size_t begin = std::min(page.find('<'), page.size());
    out += page.substr(0, begin);
    page.remove_prefix(begin);
    // Text and values of attributes have no '>' that is not escaped.
    const std::string_view tag = page.substr(0, std::min(page.find('>'), page.size() - 1) + 1);
    if (tag.empty()) break;
    page.remove_prefix(tag.size());
    const bool is_drawing = tag.starts_with("<svg");
    inside = is_drawing || (inside && tag != "</svg>");
    const std::string_view classes = inside ? classes_of(tag) : std::string_view();
    if (!is_drawing && classes.empty()) {
      out += tag;
      continue;
    }
    const std::size_t end = tag.size() - (tag.ends_with("/>") ? 2 : 1);
    out += tag.substr(0, end);
    if (is_drawing) {
      out += attributes_of_drawing(classes);
    } else {
      auto found = known.find(classes);
      if (found == known.end()) found = known.emplace(classes, attributes_of(classes)).first;
      out += found->second;
    }
    out += tag.substr(end);
  }
  return out;
}

std::string swatch(std::string_view css) {
  return fmt::format(
      "<svg class=\"swatch\" viewBox=\"0 0 12 12\" width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"{}\" "
      "width=\"12\" height=\"12\" rx=\"2\"/></svg> ",
      css);
}

namespace {

/// For polling that samples found: hatched on the colour of computing.
std::string hatched_swatch() {
  return fmt::format(
      "<svg class=\"swatch\" viewBox=\"0 0 12 12\" width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"{}\" "
      "width=\"12\" height=\"12\"/><path class=\"{}\" d=\"M0 4L4 0H8L0 8ZM0 12V12L12 0V4L4 12ZM8 12L12 "
      "8V12Z\"/></svg> ",
      look_of(State::computing).token, analyzer::kSampledPolling.token);
}

}  // namespace

std::string legend_entries(const Looks& looks) {
  std::string out;
  looks.for_each([&](const StateLook& look, bool hatched) {
    out += fmt::format("<span>{}{}</span> ", hatched ? hatched_swatch() : swatch(look.token), look.name);
  });
  return out;
}

std::string hatched_pattern(std::string_view id) {
  return fmt::format(
      "<defs><pattern id=\"{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect class=\"{}\" width=\"3\" height=\"6\"/></pattern></defs>\n",
      id, analyzer::kSampledPolling.token);
}

std::string meter(double share, std::string_view css) {
  return fmt::format(
      "<svg class=\"meter\" viewBox=\"0 0 100 5\" width=\"100\" height=\"5\" preserveAspectRatio=\"none\" "
      "aria-hidden=\"true\"><rect class=\"lane\" width=\"100\" height=\"5\"/><rect class=\"{}\" width=\"{:.1f}\" "
      "height=\"5\"/></svg>",
      css, 100 * share);
}

}  // namespace wicprof::reports::html
