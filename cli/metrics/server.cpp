#include "cli/metrics/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "protocol/shell_words.h"
#include "protocol/thread.h"

namespace wicprof::cli {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;
using Protocol = asio::generic::stream_protocol;
using Stream = boost::beast::basic_stream<Protocol>;

constexpr std::chrono::seconds kClientTimeout{30};  // with a client that sends nothing, or takes no answer
constexpr std::size_t kMaxClients = 32;             // far more than scrape at one time
constexpr std::uint32_t kMaxRequest = 8 << 10;
constexpr std::chrono::milliseconds kRefusedPause{10};  // after the system refused a descriptor
constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";

constexpr const char* kForeignHost =
    "the Host header names neither localhost nor a loopback address: a web page of another site could have sent this\n";

using Page = std::function<std::string()>;

/// One connection: a request comes in, its answer goes out. Lives as long as one of its operations.
class Client : public std::enable_shared_from_this<Client> {
 public:
  Client(Protocol::socket socket, const Page& page, bool checks_host)
      : stream_(std::move(socket)), page_(page), checks_host_(checks_host) {
    request_.header_limit(kMaxRequest);
    request_.body_limit(kMaxRequest);
  }

  void start() {
    stream_.expires_after(kClientTimeout);
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](const ErrorCode& error, std::size_t) { self->answer(error); });
  }

  void close() { stream_.close(); }

 private:
  void answer(const ErrorCode& error) {
    const bool bad_request = error.category() == http::make_error_code(http::error::bad_target).category();
    if (error && !bad_request) return;  // it is gone
    fill_answer(error ? http::status::bad_request : status_of_request());
    stream_.expires_after(kClientTimeout);
    http::async_write(stream_, answer_, [self = shared_from_this()](const ErrorCode&, std::size_t) {
      ErrorCode closed;
      self->stream_.socket().shutdown(asio::socket_base::shutdown_send, closed);
    });
  }

  bool is_head() const { return request_.get().method() == http::verb::head; }

  http::status status_of_request() const {
    const boost::beast::string_view host = request_.get()[http::field::host];
    if (checks_host_ && !names_loopback({host.data(), host.size()})) return http::status::forbidden;
    const boost::beast::string_view target = request_.get().target();
    if (target.substr(0, target.find('?')) != "/metrics") return http::status::not_found;
    const bool readable = request_.get().method() == http::verb::get || is_head();
    return readable ? http::status::ok : http::status::method_not_allowed;
  }

  void fill_answer(http::status status) {
    const bool found = status == http::status::ok;
    answer_.version(11);
    answer_.keep_alive(false);
    answer_.result(status);
    if (status == http::status::method_not_allowed) answer_.set(http::field::allow, "GET, HEAD");
    answer_.set(http::field::content_type, found ? kOpenMetrics : "text/plain; charset=utf-8");
    answer_.body() = found                               ? page_()
                     : status == http::status::forbidden ? kForeignHost
                                                         : "wic-prof run serves /metrics\n";
    answer_.prepare_payload();
    if (is_head()) answer_.body().clear();
  }

  Stream stream_;
  const Page& page_;
  const bool checks_host_;
  boost::beast::flat_buffer buffer_{kMaxRequest};
  http::request_parser<http::string_body> request_;
  http::response<http::string_body> answer_;
};

/// Errors of sockets name the address and the cure.
Error cannot_serve(const std::string& where, int error) {
  const char* const cure = error == EADDRINUSE
                               ? "another program has it; name another one, or port 0 for any that is free"
                           : error == EACCES ? "choose a port above 1023, or a folder in which you may write"
                                             : "name another address";
  return unavailable(fmt::format("cannot serve metrics at {}: {}; {}", where, std::strerror(error), cure));
}

/// Removes the socket's file that a wic-prof which was killed left behind.
Result<> clear_way(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return ok();
  if (!S_ISSOCK(info.st_mode))
    return bad_input(fmt::format("--metrics {} exists and is no socket; name another", path));
  asio::io_context context;
  asio::local::stream_protocol::socket probe(context);
  ErrorCode error;
  probe.open(asio::local::stream_protocol());
  probe.non_blocking(true);  // a server that is stopped takes no more connections
  probe.connect(asio::local::stream_protocol::endpoint(path), error);
  if (error == asio::error::connection_refused && unlink(path.c_str()) == 0) return ok();
  return cannot_serve(path, EADDRINUSE);
}

std::string name_of(const MetricsAddress& address, std::uint16_t port) {
  if (address.host.empty()) return address.socket;
  const bool version_6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", version_6 ? "[" : "", address.host, version_6 ? "]" : "", port);
}

}  // namespace

struct MetricsServer::State {
  State(const MetricsAddress& of, Page the_page) : address(of), page(std::move(the_page)) {}
  ~State() {
    context.stop();
    if (thread.joinable()) thread.join();
    // Unless another program has taken the name.
    struct stat info {};
    if (socket_file.st_ino != 0 && lstat(address.socket.c_str(), &info) == 0 && info.st_ino == socket_file.st_ino &&
        info.st_dev == socket_file.st_dev)
      unlink(address.socket.c_str());
  }

  Result<> listen();
  void accept();
  void take(Protocol::socket socket);
  void serve();

  MetricsAddress address;
  Page page;
  std::string where;
  struct stat socket_file {};
  asio::io_context context{1};
  asio::basic_socket_acceptor<Protocol> acceptor{context};
  asio::steady_timer pause{context};
  std::deque<std::weak_ptr<Client>> clients;  // the longest connected first
  std::thread thread;
};

Result<> MetricsServer::State::listen() {
  Protocol::endpoint endpoint;
  if (address.host.empty()) {
    if (const Result<> clear = clear_way(address.socket); !clear) return clear;
    endpoint = asio::local::stream_protocol::endpoint(address.socket);
  } else {
    endpoint = asio::ip::tcp::endpoint(asio::ip::make_address(address.host), address.port);
  }
  const Protocol protocol = endpoint.protocol();
  // The program must not inherit it, and Asio's own sockets can be inherited.
  const int fd = socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol());
  if (fd < 0) return cannot_serve(name_of(address, address.port), errno);
  acceptor.assign(protocol, fd);
  ErrorCode error;
  if (address.host.empty()) {
    fchmod(fd, 0600);  // the mode that bind() gives the file
  } else {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (acceptor.bind(endpoint, error); !error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return cannot_serve(name_of(address, address.port), error.value());
  if (address.host.empty()) {
    lstat(address.socket.c_str(), &socket_file);
    where =
        fmt::format("{} (curl --unix-socket {} http://localhost/metrics)", address.socket, shell_word(address.socket));
    return ok();
  }
  const Protocol::endpoint bound = acceptor.local_endpoint();
  // The port is at the same place in the addresses of both versions.
  const auto* const name = reinterpret_cast<const sockaddr_in*>(bound.data());
  where = fmt::format("http://{}/metrics", name_of(address, ntohs(name->sin_port)));
  return ok();
}

void MetricsServer::State::accept() {
  acceptor.async_accept(context, [this](const ErrorCode& error, Protocol::socket socket) {
    if (error && error != asio::error::connection_aborted) {
      // The acceptor stays ready: without a pause this thread would use a whole core.
      pause.expires_after(kRefusedPause);
      pause.async_wait([this](const ErrorCode&) { accept(); });
      return;
    }
    accept();
    if (!error) take(std::move(socket));
  });
}

void MetricsServer::State::take(Protocol::socket socket) {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  std::erase_if(clients, [](const std::weak_ptr<Client>& client) { return client.expired(); });
  if (clients.size() >= kMaxClients) {
    if (const std::shared_ptr<Client> oldest = clients.front().lock()) oldest->close();
    clients.pop_front();
  }
  const auto client = std::make_shared<Client>(std::move(socket), page, !address.host.empty());
  clients.push_back(client);
  client->start();
}

void MetricsServer::State::serve() {
  pthread_setname_np(pthread_self(), "wicprof-metrics");
  for (;;) {
    try {
      context.run();
      return;
    } catch (const std::exception&) {  // out of memory: that client gets no answer
    }
  }
}

MetricsServer::MetricsServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
MetricsServer::MetricsServer(MetricsServer&&) noexcept = default;
MetricsServer::~MetricsServer() = default;

const std::string& MetricsServer::where() const { return state_->where; }

Result<MetricsServer> MetricsServer::start(const MetricsAddress& address, Page page) try {
  auto state = std::make_unique<State>(address, std::move(page));
  if (const Result<> listening = state->listen(); !listening) return listening.error();
  state->accept();
  state->thread = start_thread([s = state.get()] { s->serve(); });
  if (!state->thread.joinable()) return unavailable(refused_thread("nobody would answer at " + state->where));
  return MetricsServer(std::move(state));
} catch (const std::exception& e) {
  return unavailable(fmt::format("cannot serve metrics at {}: {}", name_of(address, address.port), e.what()));
}

}  // namespace wicprof::cli
