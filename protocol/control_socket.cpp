#include "protocol/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

namespace wicprof {

namespace {

// A silent client must not delay the others for long.
constexpr TimeNs kClientTimeout = kSecond;

// A file descriptor, closed by the destructor.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// sun_path holds 107 characters, folders may be longer: the socket is named through a descriptor of its folder.
struct Address {
  Fd folder;
  sockaddr_un name{};
};

Result<Address> address_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
  Address address;
  address.folder = Fd(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!address.folder) return unavailable("cannot open the session folder " + folder + ": " + std::strerror(errno));
  const std::string name = "/proc/self/fd/" + std::to_string(address.folder.get()) + "/" + file;
  if (name.size() >= sizeof address.name.sun_path) {
    return bad_input("the socket name " + file + " is too long; choose a shorter session name");
  }
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path, name.c_str(), name.size() + 1);
  return address;
}

// Waits until `fd` is ready for `events` or `end` has passed; a wake-up of `stop` (when >= 0) ends the wait early.
bool wait_ready(int fd, short events, TimeNs end, int stop = -1) {
  for (;;) {
    const TimeNs left = end - now_ns();
    if (left <= 0) return false;
    pollfd fds[2] = {{fd, events, 0}, {stop, POLLIN, 0}};
    const int n = poll(fds, stop >= 0 ? 2 : 1, static_cast<int>(left / kMillisecond) + 1);
    if (n < 0 && errno != EINTR) return false;
    if (stop >= 0 && (fds[1].revents & POLLIN) != 0) return false;
    if (n > 0 && fds[0].revents != 0) return true;
  }
}

bool send_line(int fd, std::string line, TimeNs end, int stop = -1) {
  line += '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = send(fd, line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      if (!wait_ready(fd, POLLOUT, end, stop)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> receive_line(int fd, TimeNs end, int stop = -1) {
  std::string line;
  char buffer[4096];
  while (line.size() <= kMaxControlLine) {
    if (!wait_ready(fd, POLLIN, end, stop)) return std::nullopt;
    const ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return std::nullopt;
    line.append(buffer, static_cast<std::size_t>(n));
    if (const std::size_t newline = line.find('\n'); newline != std::string::npos) return line.substr(0, newline);
  }
  return std::nullopt;
}

}  // namespace

struct ControlServer::State {
  Fd listener;
  Fd stop{eventfd(0, EFD_CLOEXEC)};
  Handler handler;
  std::thread thread;

  void serve() {
    for (;;) {
      pollfd fds[2] = {{listener.get(), POLLIN, 0}, {stop.get(), POLLIN, 0}};
      if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
      if (fds[1].revents != 0) return;
      if ((fds[0].revents & POLLIN) == 0) continue;
      const Fd client(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) continue;
      const std::optional<std::string> line = receive_line(client.get(), now_ns() + kClientTimeout, stop.get());
      if (!line) continue;
      send_line(client.get(), handler(*line), now_ns() + kClientTimeout, stop.get());
    }
  }

  ~State() {
    if (!thread.joinable()) return;
    const std::uint64_t one = 1;
    while (write(stop.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread.join();
  }
};

ControlServer::ControlServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
ControlServer::ControlServer(ControlServer&&) noexcept = default;
ControlServer& ControlServer::operator=(ControlServer&&) noexcept = default;
ControlServer::~ControlServer() = default;

Result<ControlServer> ControlServer::start(const std::string& path, Handler handler) {
  Result<Address> address = address_of(path);
  if (!address) return address.error();
  auto state = std::make_unique<State>();
  state->handler = std::move(handler);
  state->listener = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto failed = [&](const char* what) {
    return unavailable(std::string("cannot ") + what + " the control socket " + path + ": " + std::strerror(errno) +
                       "; set XDG_RUNTIME_DIR to a folder on a local file system");
  };
  if (!state->listener || !state->stop) return failed("make");
  unlink(path.c_str());
  fchmod(state->listener.get(), 0600);  // the mode that bind() gives the file
  if (bind(state->listener.get(), reinterpret_cast<const sockaddr*>(&address->name), sizeof address->name) != 0) {
    return failed("name");
  }
  if (listen(state->listener.get(), 16) != 0) return failed("listen on");
  state->thread = std::thread([s = state.get()] { s->serve(); });
  return ControlServer(std::move(state));
}

Result<std::string> ask(const std::string& path, const std::string& line, TimeNs timeout) {
  Result<Address> address = address_of(path);
  if (!address) return address.error();
  const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address->name), sizeof address->name) != 0) {
    return unavailable("nobody listens on the control socket " + path + ": " + std::strerror(errno) +
                       "; the run that made it is starting, ending or dead");
  }
  const TimeNs end = now_ns() + timeout;
  if (send_line(fd.get(), line, end)) {
    if (std::optional<std::string> answer = receive_line(fd.get(), end)) return *std::move(answer);
  }
  return unavailable("no answer on the control socket " + path + "; is that wic-prof run stopped?");
}

}  // namespace wicprof
