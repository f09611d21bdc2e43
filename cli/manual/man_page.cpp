#include "cli/manual/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <string_view>

namespace wicprof::cli {
namespace {

/// Text for roff, in which a backslash, a dash and a quotation mark have meanings, and a point at a line's begin.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && out.empty()) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^' || c == '~') {
      out += c == '^' ? "\\(ha" : "\\(ti";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string entry(const OptionFacts& option, bool argument) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(argument ? italic(name) : bold(name));
  std::string head = fmt::format("{}", fmt::join(names, ", "));
  if (!option.value.empty()) {
    const std::string value =
        option.choices.empty() ? italic(option.value) : roff(fmt::format("{}", fmt::join(option.choices, "|")));
    head += option.value_optional ? " [" + value + "]" : " " + value;
  }
  std::string text = option.what;
  if (!option.remarks.empty()) text += fmt::format(" ({})", fmt::join(option.remarks, "; "));
  return fmt::format(".TP\n{}\n{}\n", head, roff(text));
}

}  // namespace

std::string page_name(const VerbFacts& page, const VerbFacts& program) {
  return page.name == program.name ? page.name : program.name + "-" + page.name;
}

std::string man_page(const VerbFacts& page, const VerbFacts& program, const std::vector<VerbFacts>& verbs) {
  const std::string name = page_name(page, program);
  const bool is_program = page.name == program.name;
  std::string text = fmt::format(".TH {} 1 \"\" \"wic\\-prof {}\" \"wic\\-prof\"\n.SH NAME\n{} \\- {}\n",
                                 roff(upper(name)), WICPROF_VERSION, roff(name), roff(page.what));
  text += fmt::format(".SH SYNOPSIS\n{}\n", roff(page.usage));
  if (is_program) {
    text += ".SH VERBS\n";
    for (const VerbFacts& verb : verbs) text += fmt::format(".TP\n{}\n{}\n", bold(verb.name), roff(verb.what));
  }
  if (!page.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const OptionFacts& argument : page.arguments) text += entry(argument, true);
  for (const OptionGroup& group : page.groups) {
    text += fmt::format(".SH {}\n", roff(upper(group.title)));
    for (const OptionFacts& option : group.options) text += entry(option, false);
  }
  if (!page.example.empty()) text += fmt::format(".SH EXAMPLE\n.nf\n{}.fi\n", roff(page.example));
  text += ".SH SEE ALSO\n";
  std::vector<std::string> others;
  if (!is_program) others.push_back(bold(program.name) + "(1)");
  for (const VerbFacts& verb : verbs) {
    if (verb.name != page.name) others.push_back(bold(page_name(verb, program)) + "(1)");
  }
  return text + fmt::format("{}\n", fmt::join(others, ",\n"));
}

}  // namespace wicprof::cli
