// wic-prof generate: man pages and completions, for the build; hidden.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "cli/commands/command.h"
#include "cli/manual/completions.h"
#include "cli/manual/man_page.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"

namespace wicprof::cli {

namespace {

Result<> write(const std::filesystem::path& path, const std::string& text) {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? ok() : unavailable("cannot write " + path.string());
}

Result<> generate(const std::filesystem::path& share, const CLI::App& app) {
  const VerbFacts program = facts_of(app);
  const std::vector<VerbFacts> verbs = verbs_of(app);
  std::vector<VerbFacts> pages = verbs;
  pages.push_back(program);
  for (const VerbFacts& page : pages) {
    const Result<> written =
        write(share / "man/man1" / (page_name(page, program) + ".1"), man_page(page, program, verbs));
    if (!written) return written;
  }
  if (const Result<> bash = write(share / "bash-completion/completions/wic-prof", bash_completion(program, verbs));
      !bash) {
    return bash;
  }
  if (const Result<> zsh = write(share / "zsh/vendor-completions/_wic-prof", zsh_completion(program, verbs)); !zsh) {
    return zsh;
  }
  return write(share / "fish/vendor_completions.d/wic-prof.fish", fish_completion(program, verbs));
}

}  // namespace

template <>
VerbBody declare<struct GenerateVerb>(CLI::App& verb, const ProgramWords&) {
  const auto folder = std::make_shared<std::string>();
  verb.add_option("FOLDER", *folder, "the share folder that gets them")->required();
  verb.group("");
  return [folder, &program = *verb.get_parent()]() -> int {
    const Result<> written = generate(*folder, program);
    return written ? kDone : fail(written.error());
  };
}

}  // namespace wicprof::cli
