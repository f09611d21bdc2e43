#include "cli/record/loadable.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <vector>

#include "cli/files/output_name.h"
#include "cli/record/find_program.h"
#include "cli/record/program_output.h"
#include "protocol/time.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kPatience = 5 * kSecond;  // with a loader on a slow file system
constexpr int kMostInterpreters = 4;       // of scripts; the kernel's limit

/// The first `bytes` bytes of a file, or all of a shorter one. Waits for no pipe, which a script can name.
std::string head_of(const std::string& path, std::size_t bytes) {
  std::string text(bytes, '\0');
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t got = pread(file, text.data(), bytes, 0);  // of a pipe or a terminal: none
  close(file);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

template <class Struct>
std::optional<Struct> at(const std::string& bytes, std::size_t offset) {
  Struct value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

constexpr std::size_t kHead = 4096;  // of a program: its headers

/// The file that the kernel loads for `program`: itself, or the interpreter of a script.
std::string loaded_file(std::string program) {
  for (int i = 0; i < kMostInterpreters; ++i) {
    const std::string head = head_of(program, kHead);
    if (!head.starts_with("#!")) break;
    std::istringstream line(head.substr(2, head.find('\n') - 2));
    std::string interpreter, word;
    line >> interpreter >> word;
    if (base_name(interpreter) == "env" && !word.empty() && word[0] != '-') {
      if (const Result<std::string> found = find_program(word)) interpreter = *found;
    }
    program = interpreter;
  }
  return program;
}

std::string machine_name(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    default:
      return fmt::format("machine {}", machine);
  }
}

/// The loader that a program's file names; empty for none: it loads no library at its start.
std::string loader_of(const std::string& head, const Elf64_Ehdr& program) {
  for (unsigned i = 0; i < program.e_phnum; ++i) {
    const auto segment = at<Elf64_Phdr>(head, program.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) break;
    if (segment->p_type != PT_INTERP || segment->p_offset >= head.size()) continue;
    return head.substr(segment->p_offset, head.find('\0', segment->p_offset) - segment->p_offset);
  }
  return {};
}

/// What the loader says of a file and of all that it needs: it maps them, looks for their versions, and runs none of
/// their code.
Result<ProgramOutput> listed(const std::string& loader, const std::string& file) {
  std::vector<std::string> environment;
  if (const char* folders = std::getenv("LD_LIBRARY_PATH")) {
    environment.push_back(std::string("LD_LIBRARY_PATH=") + folders);
  }
  return output_of({loader, "--list", file}, now_ns() + kPatience, &environment);
}

/// A program's libraries, one per line behind a tab; empty: it is no program of this system's, or has none.
std::string libraries_of(const std::string& file) {
  const std::string head = head_of(file, kHead);
  const auto header = at<Elf64_Ehdr>(head, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  const std::string loader = loader_of(head, *header);
  if (loader.empty()) return {};
  const Result<ProgramOutput> said = listed(loader, file);
  return said ? said->text : std::string();
}

/// The first line of a loader's output, without the library's name in front.
std::string reason_in(const std::string& text, const std::string& library) {
  std::string line = text.substr(0, text.find('\n'));
  for (const std::string& before :
       {library + ": ", std::string("error while loading shared libraries: "), library + ": "}) {
    if (line.starts_with(before)) line.erase(0, before.size());
  }
  return line;
}

}  // namespace

std::string why_not_loadable(const std::string& program, const std::string& library) {
  const std::string head = head_of(loaded_file(program), kHead);
  const auto header = at<Elf64_Ehdr>(head, 0);
  const auto ours = at<Elf64_Ehdr>(head_of(library, sizeof(Elf64_Ehdr)), 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return {};  // the kernel says what is wrong with it
  if (!ours) return "it cannot be read";
  if (header->e_ident[EI_CLASS] != ours->e_ident[EI_CLASS] || header->e_machine != ours->e_machine) {
    return fmt::format("it is built for {}, the program for {}", machine_name(ours->e_machine),
                       machine_name(header->e_machine));
  }
  const std::string loader = loader_of(head, *header);
  if (loader.empty()) return {};
  if (loader.find("/ld-musl-") != std::string::npos) return "it is built for glibc, the program for musl";
  const Result<ProgramOutput> said = listed(loader, library);
  if (!said) return {};
  if (std::string reason = reason_in(said->errors, library); !reason.empty()) return reason;
  if (const std::size_t missing = said->text.find(" => not found"); missing != std::string::npos) {
    const std::size_t name = said->text.find_last_of("\n\t ", missing - 1) + 1;
    return said->text.substr(name, missing - name) + " is missing";
  }
  return said->status == 0 ? std::string() : fmt::format("{} ended with status {}", loader, said->status);
}

bool needs_address_sanitizer(const std::string& program) {
  const std::string libraries = libraries_of(loaded_file(program));
  return libraries.find("libasan.so") != std::string::npos || libraries.find("libclang_rt.asan") != std::string::npos;
}

std::string mpi_program_in(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.empty() || word.starts_with('-')) continue;
    const Result<std::string> program = find_program(word);
    if (program && libraries_of(*program).find("\tlibmpi") != std::string::npos) return *program;
  }
  return {};
}

}  // namespace wicprof::cli
