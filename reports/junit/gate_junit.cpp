// The gate's checks as JUnit XML, which CI services read: slower is a failure; broken or without data is an error;
// allowed by the configuration is skipped.
#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "analyzer/words/format.h"
#include "protocol/plain_text.h"
#include "reports/parts/gate_report.h"

namespace wicprof::reports {
namespace {

const char* element_of(const Check& check) {
  if (check.forgiven) return "skipped";
  switch (check.state) {
    case CheckState::passed:
      return nullptr;
    case CheckState::failed:
    case CheckState::inconclusive:
      return "failure";
    case CheckState::could_not_look:
    case CheckState::broken:
      break;
  }
  return "error";
}

/// One line of valid UTF-8, whatever bytes a site's name has.
std::string valid_line(std::string_view text) { return plain_text(one_line(text)); }

/// The text without what XML 1.0 does not allow even in escaped form: U+FFFE, U+FFFF and control characters (one_line
/// has replaced these). UTF-8 has no surrogates.
std::string plain(std::string_view text) {
  std::string line = valid_line(text);
  for (const std::string_view refused : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at = 0; (at = line.find(refused, at)) != line.npos;)
      line.replace(at, refused.size(), "\xef\xbf\xbd");
  }
  return line;
}

std::string title_of(const Check& check) {
  return plain(check.site.empty() ? check.name : fmt::format("{} at {}", check.name, check.site));
}

void add_case(pugi::xml_node suite, const std::string& name, const Check& check) {
  pugi::xml_node test = suite.append_child("testcase");
  test.append_attribute("classname") = name.c_str();
  test.append_attribute("name") = title_of(check).c_str();
  test.append_attribute("time") = "0";
  const std::string text = plain(check.text);
  if (const char* element = element_of(check)) {
    pugi::xml_node problem = test.append_child(element);
    problem.append_attribute("type") = std::string(check_state_name(check.state)).c_str();
    problem.append_attribute("message") = text.c_str();
    problem.text() = text.c_str();  // some services show only this, others only the attribute
    return;
  }
  test.append_child("system-out").text() = text.c_str();
}

std::size_t count(const GateResult& result, std::string_view element) {
  return static_cast<std::size_t>(std::count_if(result.checks.begin(), result.checks.end(), [&](const Check& check) {
    const char* own = element_of(check);
    return own != nullptr && element == own;
  }));
}

void add_totals(pugi::xml_node node, const std::string& name, const GateRun& run, const GateResult& result) {
  node.append_attribute("name") = name.c_str();
  node.append_attribute("tests") = result.checks.size();
  node.append_attribute("failures") = count(result, "failure");
  node.append_attribute("errors") = count(result, "error");
  node.append_attribute("skipped") = count(result, "skipped");
  node.append_attribute("time") = fmt::format("{:.3f}", run.seconds).c_str();
}

}  // namespace

template <>
std::string render_gate<struct JunitGate>(const GateReportInput& input) {
  const GateRun& run = input.run;
  const GateResult& result = input.result;
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node suites = document.append_child("testsuites");
  const std::string name = plain(run.name);
  add_totals(suites, "wic-prof ci", run, result);
  pugi::xml_node suite = suites.append_child("testsuite");
  add_totals(suite, name, run, result);
  suite.append_attribute("timestamp") = plain(run.utc.substr(0, 19)).c_str();
  pugi::xml_node property = suite.append_child("properties").append_child("property");
  property.append_attribute("name") = "command";
  property.append_attribute("value") = plain(run.command).c_str();
  for (const Check& check : result.checks) add_case(suite, name, check);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace wicprof::reports
