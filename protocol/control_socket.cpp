#include "protocol/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <exception>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/session_memory.h"

namespace wicprof {

namespace {

constexpr TimeNs kClientTimeout = kSecond;  // with a client that sends nothing, or takes no answer
constexpr std::size_t kMaxClients = 64;     // far more than toggle, sessions and windows at one time
constexpr int kBacklog = 128;

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

// Waits until `fd` is ready for `events` or `end` has passed.
bool wait_ready(int fd, short events, TimeNs end) {
  for (;;) {
    const TimeNs left = end - now_ns();
    if (left <= 0) return false;
    pollfd ready{fd, events, 0};
    const int n = poll(&ready, 1, static_cast<int>(left / kMillisecond) + 1);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) return true;
  }
}

bool send_line(int fd, std::string line, TimeNs end) {
  line += '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = send(fd, line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      if (!wait_ready(fd, POLLOUT, end)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> receive_line(int fd, TimeNs end) {
  std::string line;
  char buffer[4096];
  while (line.size() <= kMaxControlLine) {
    if (!wait_ready(fd, POLLIN, end)) return std::nullopt;
    const ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return std::nullopt;
    line.append(buffer, static_cast<std::size_t>(n));
    if (const std::size_t newline = line.find('\n'); newline != std::string::npos) return line.substr(0, newline);
  }
  return std::nullopt;
}

}  // namespace

// One connection: a line comes in, its answer goes out. Nothing of it waits, so that no client holds up another.
struct Client {
  Fd fd;
  TimeNs end;  // of the time that the server gives this client
  std::string in, out;
  std::size_t sent = 0;
  bool done = false;
  int memory = -1;  // goes with the answer

  bool answering() const { return !out.empty(); }

  // Takes what has arrived; calls `answer` with the line once it is whole. True: the connection is over.
  template <class Answer>
  bool receive(Answer&& answer, int session_memory) {
    char buffer[4096];
    const ssize_t n = recv(fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (n > 0) in.append(buffer, static_cast<std::size_t>(n));
    const std::size_t newline = in.find('\n');
    if (n <= 0 || newline == std::string::npos) return n <= 0 || in.size() > kMaxControlLine;
    const std::string line = in.substr(0, newline);
    if (line == kMemoryRequest && session_memory >= 0) {
      memory = session_memory;
      out = "here\n";
    } else {
      out = answer(line) + '\n';
    }
    end = now_ns() + kClientTimeout;
    return transmit();
  }

  // Sends what the client takes. True: the connection is over.
  bool transmit() {
    if (memory >= 0) return hand_over(fd.get(), out, memory) || (errno != EINTR && errno != EAGAIN);
    const ssize_t n = send(fd.get(), out.data() + sent, out.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) sent += static_cast<std::size_t>(n);
    return sent == out.size() || (n < 0 && errno != EINTR && errno != EAGAIN);
  }
};

struct ControlServer::State {
  Fd listener;
  Fd stop{eventfd(0, EFD_CLOEXEC)};
  std::atomic<bool> stopping{false};
  Handler handler;
  int memory = -1;
  std::vector<Client> clients;  // the longest connected first
  std::thread thread;

  void serve() {
    while (serve_round()) {
    }
  }

  // An exception must not end the run: its client gets no answer.
  bool serve_round() noexcept try {
    std::vector<pollfd> fds{{stop.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
    TimeNs end = std::numeric_limits<TimeNs>::max();
    for (const Client& client : clients) {
      fds.push_back({client.fd.get(), static_cast<short>(client.answering() ? POLLOUT : POLLIN), 0});
      end = std::min(end, client.end);
    }
    const TimeNs left = std::max<TimeNs>(end - now_ns(), 0) / kMillisecond + 1;
    if (poll(fds.data(), fds.size(), clients.empty() ? -1 : static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (fds[0].revents != 0 || stopping) return false;
    for (std::size_t i = 0; i < clients.size(); ++i) serve_client(clients[i], fds[i + 2].revents != 0);
    std::erase_if(clients, [now = now_ns()](const Client& client) { return client.done || now >= client.end; });
    if (fds[1].revents != 0) accept_client();
    return true;
  } catch (const std::exception&) {
    std::erase_if(clients, [](const Client& client) { return client.done; });
    return true;
  }

  void serve_client(Client& client, bool ready) {
    if (!ready) return;
    client.done = true;  // stays so if the handler throws
    client.done = client.answering() ? client.transmit() : client.receive(handler, memory);
  }

  void accept_client() {
    Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const bool full = !fd && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
    // The longest connected one makes room, for a descriptor, too.
    if (!clients.empty() && (full || clients.size() >= kMaxClients)) clients.erase(clients.begin());
    if (full) {
      // The listener stays ready: without a pause this thread would use a whole core.
      timespec pause{0, 10 * kMillisecond};
      nanosleep(&pause, nullptr);
    }
    if (fd) clients.push_back({std::move(fd), now_ns() + kClientTimeout, {}, {}});
  }

  ~State() {
    if (!thread.joinable()) return;
    stopping = true;
    const std::uint64_t one = 1;
    ssize_t written = 0;
    while ((written = write(stop.get(), &one, sizeof one)) < 0 && errno == EINTR) {
    }
    if (written < 0) shutdown(listener.get(), SHUT_RDWR);  // wakes the thread, too
    thread.join();
  }
};

ControlServer::ControlServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
ControlServer::ControlServer(ControlServer&&) noexcept = default;
ControlServer& ControlServer::operator=(ControlServer&&) noexcept = default;
ControlServer::~ControlServer() = default;

Result<ControlServer> ControlServer::start(const std::string& path, Handler handler, int memory) {
  Result<Address> address = address_of(path);
  if (!address) return address.error();
  auto state = std::make_unique<State>();
  state->handler = std::move(handler);
  state->memory = memory;
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
  if (listen(state->listener.get(), kBacklog) != 0) return failed("listen on");
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
