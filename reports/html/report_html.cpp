// The whole report as one HTML file. It needs no network, and is readable without scripts.

#include <fmt/format.h>

#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "analyzer/figures/figure.h"
#include "analyzer/measure/tasks.h"
#include "analyzer/words/format.h"
#include "reports/html/assets.h"
#include "reports/html/colours.h"
#include "reports/html/drawing_style.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/report.h"

namespace wicprof::reports {
namespace {

/// CMake computes the hash in hexadecimal; a Content-Security-Policy takes base64.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned bits = 0;
  int held = 0;
  for (const char c : hex) {
    bits = bits << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    held += 4;
    if (held < 6) continue;
    held -= 6;
    text += kDigits[bits >> held & 63];
  }
  if (held > 0) text += kDigits[bits << (6 - held) & 63];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string head(const std::string& title) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  // The page fetches nothing and runs only its own script, whatever text a trace contains.
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src "
      "&#39;unsafe-inline&#39;; "
      "script-src &#39;sha256-{}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;\">\n",
      base64_of_hex(html::kScriptSha256));
  return out + fmt::format("<title>{} - wic-prof</title>\n<style>{}{}</style>\n</head>\n", html::text_of(title),
                           html::colour_css() + html::drawing_css(), html::kStyle);
}

/// Links to the parts that the body has.
std::string contents(const std::string& body) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kParts{{
      {"comparison", "Before and after"},
      {"communication", "Communication"},
      {"findings", "Findings"},
      {"ranks", "Ranks"},
      {"timeline", "Timeline"},
      {"sites", "Wait sites"},
      {"parties", "Who waited for whom"},
      {"models", "Wait model"},
      {"figures", "Figures"},
      {"energy", "Energy"},
      {"kernels", "Kernels"},
      {"dependent-kernels", "Kernels that could start earlier"},
      {"program-counters", "Program counters"},
      {"host-waits", "Host waits"},
      {"interventions", "Interventions"},
  }};
  std::string links;
  for (const auto& [id, title] : kParts) {
    if (body.find(fmt::format("<section id=\"{}\">", id)) == std::string::npos) continue;
    links += fmt::format("<a href=\"#{}\">{}</a>\n", id, title);
  }
  return fmt::format("<nav aria-label=\"Contents\">\n{}</nav>\n", links);
}

/// The page's parts, made on all cores and joined in the order of add().
class Parts {
 public:
  void add(std::function<std::string()> make) { makers_.push_back(std::move(make)); }
  std::string text() const {
    std::vector<std::string> made(makers_.size());
    Tasks tasks;
    for (std::size_t i = 0; i < makers_.size(); ++i) tasks.add([&, i] { made[i] = makers_[i](); });
    tasks.run();
    return std::accumulate(made.begin(), made.end(), std::string());
  }

 private:
  std::vector<std::function<std::string()>> makers_;
};

}  // namespace

template <>
std::string render_as<struct Html>(const ReportInput& input) {
  using namespace html;
  const TraceModel& model = input.model;
  const Analysis& analysis = input.analysis;
  Parts parts;
  if (input.comparison != nullptr) parts.add([&] { return comparison_part(model, *input.comparison); });
  if (!model.is_digest()) parts.add([&] { return classification_part(model, analysis.classification); });
  parts.add([&] { return findings_part(model, analysis); });
  parts.add([&] { return ranks_part(model, analysis); });
  if (!model.is_digest()) {
    const auto drawn = input.drawn ? input.drawn : figure_input({&model}).front();
    parts.add([&input, drawn] { return timeline_part(input, drawn->matching->edges); });
    parts.add([&] { return sites_part(model, analysis); });
    parts.add([&] { return parties_part(model, analysis); });
    parts.add([&] { return models_part(model, analysis); });
    parts.add([&model, drawn] { return figures_part(model, drawn); });
    parts.add([&] { return energy_part(model, analysis); });
    parts.add([&] { return kernels_part(model, analysis); });
    parts.add([&] { return pairs_part(model, analysis); });
    parts.add([&] { return program_counters_part(model, analysis); });
    parts.add([&] { return host_part(model, analysis); });
    parts.add([&] { return interventions_part(model); });
  }
  const std::string body = parts.text();
  const std::string title =
      model.meta_value(store::MetaKey::app).empty() ? model.name : model.meta_value(store::MetaKey::app);
  return head(title) + "<body>\n<main>\n" + with_attributes(summary_part(input) + contents(body) + body) +
         "<footer>Written by wic-prof. This file needs no network.</footer>\n</main>\n<script>" + std::string(kScript) +
         "</script>\n</body>\n</html>\n";
}

}  // namespace wicprof::reports
