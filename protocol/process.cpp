#include "protocol/process.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <fstream>

#include "protocol/file_text.h"
#include "protocol/shell_words.h"

namespace wicprof {

namespace {

std::string file_of(std::uint32_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

}  // namespace

std::string command_line_of(std::uint32_t pid) {
  const std::string all = file_text(file_of(pid, "cmdline"));
  std::string line;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\0', begin), all.size());
    line += (line.empty() ? "" : " ") + shell_word(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return line;
}

std::string executable_name_of(std::uint32_t pid) {
  char path[PATH_MAX];
  const ssize_t length = readlink(file_of(pid, "exe").c_str(), path, sizeof path);
  if (length > 0) {
    const std::string whole(path, static_cast<std::size_t>(length));
    return whole.substr(whole.rfind('/') + 1);
  }
  std::string name;
  std::ifstream comm(file_of(pid, "comm"));
  std::getline(comm, name);
  return name;
}

void set_launch(ProcessEvent& event, const Launch& launch, EventSink& sink) {
  event.rank = launch.rank;
  event.ranks = launch.ranks;
  event.local_rank = launch.local_rank;
  event.job = sink.text(launch.job);
}

void write_process_event(EventSink& sink) {
  const auto pid = static_cast<std::uint32_t>(getpid());
  auto event = make_event<ProcessEvent>();
  event.pid = pid;
  event.parent = static_cast<std::uint32_t>(getppid());
  event.name = sink.text(executable_name_of(pid));
  event.command = sink.text(command_line_of(pid));
  set_launch(event, read_launch([](const char* name) -> const char* { return secure_getenv(name); }), sink);
  event.seen_ns = now_ns();
  sink.write(event);
}

}  // namespace wicprof
