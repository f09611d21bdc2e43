#include "cli/metrics/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace wicprof::cli {

namespace {

constexpr std::string_view kAddresses =
    "a port such as 9464, 127.0.0.1:9464, [::1]:9464, or the path of a Unix socket with a slash, such as "
    "./metrics.sock";

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

/// Whether an address is one of this machine alone; nothing: it is no address.
std::optional<bool> is_loopback(const std::string& host, bool version_6) {
  if (version_6) {
    in6_addr address{};
    if (inet_pton(AF_INET6, host.c_str(), &address) != 1) return std::nullopt;
    return IN6_IS_ADDR_LOOPBACK(&address);
  }
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr) >> 24 == 127;
}

}  // namespace

Result<MetricsAddress> parse_metrics_address(const std::string& text) {
  if (text.find('/') != std::string::npos) {
    if (text.size() >= sizeof sockaddr_un::sun_path)
      return bad_input(
          fmt::format("the socket path {} of --metrics is too long: {} bytes at most; choose a shorter one", text,
                      sizeof sockaddr_un::sun_path - 1));
    if (text.back() == '/') return bad_input("--metrics " + text + " is a folder; name a socket in it");
    return MetricsAddress{{}, 0, text};
  }
  const std::size_t colon = text.rfind(':');
  const std::string_view digits = std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1);
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  const bool version_6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (version_6) host = host.substr(1, host.size() - 2);
  const std::optional<std::uint16_t> port = parse_port(digits);
  const std::optional<bool> loopback = is_loopback(host, version_6);
  if (loopback == false) {
    return bad_input(fmt::format(
        "--metrics {} is not on loopback: others in the network could read it, too. Name {}; what runs on another "
        "machine reads through an agent or a proxy on this one",
        text, kAddresses));
  }
  if (!loopback || !port) return bad_input(fmt::format("--metrics {} is no address: name {}", text, kAddresses));
  return MetricsAddress{host, *port, {}};
}

}  // namespace wicprof::cli
