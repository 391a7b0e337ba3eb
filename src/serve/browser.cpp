// Compares Host and Origin with the server's own names and the allowed pages, and adds the CORS headers.
#include "serve/browser.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/json.h"
#include "serve/api_error.h"

namespace deberta::serve {
namespace {

// Version 4 too: ::ffff:a.b.c.d.
using Address = std::array<unsigned char, 16>;

std::optional<Address> address_of(std::string_view text) {
  const std::string name(text.substr(0, text.find('%')));  // without the interface
  Address address{};
  if (inet_pton(AF_INET6, name.c_str(), address.data()) == 1) return address;
  if (inet_pton(AF_INET, name.c_str(), address.data() + 12) != 1) return std::nullopt;
  address[10] = address[11] = 0xff;
  return address;
}

bool is_loopback(const Address& address) {
  const Address v4 = *address_of("127.0.0.0");
  return address == *address_of("::1") || std::equal(v4.begin(), v4.begin() + 13, address.begin());
}

// Without the port, and without the brackets of an address of version 6.
std::string name_of(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    return end == std::string_view::npos ? std::string() : std::string(host.substr(1, end - 1));
  }
  std::string name = lower_case(host.substr(0, host.rfind(':')));
  if (name.ends_with('.')) name.pop_back();
  return name;
}

bool holds(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::any_of(
      texts, [&](const std::string& candidate) { return candidate == "*" || lower_case(candidate) == text; });
}

bool is_own_name(const std::string& name, const std::string& local) {
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  const std::optional<Address> address = address_of(name);
  return address && (is_loopback(*address) || address == address_of(local));
}

bool may_ask(std::string_view origin, const BrowserRules& rules) {
  return holds(rules.origins, lower_case(origin));
}

}  // namespace

void check_host(const HttpRequest& head, const BrowserRules& rules) {
  const std::string_view host = head.header("host");
  if (head.local.empty() || host.empty()) return;  // HTTP/1.0 may leave it out, and no browser does
  const std::string name = name_of(host);
  if (is_own_name(name, head.local) || holds(rules.hosts, name)) return;
  throw ApiError(ApiCode::kForbidden,
                 fmt::format("Host: without keys, expected localhost, the server's address or a name that "
                             "--allowed-host gives, got {}",
                             quote_json(header_text(host))));
}

void check_origin(const HttpRequest& head, const BrowserRules& rules) {
  const std::string_view origin = head.header("origin");
  if (origin.empty() || may_ask(origin, rules)) return;
  const size_t scheme = origin.find("://");
  const std::string host = lower_case(head.header("host"));
  if (!host.empty() && scheme != std::string_view::npos && lower_case(origin.substr(scheme + 3)) == host) return;
  throw ApiError(
      ApiCode::kForbidden,
      fmt::format("Origin: expected a page of this server or an origin that --cors-allow-origin gives, got {}",
                  quote_json(header_text(origin))));
}

void add_origin(const HttpRequest& head, const BrowserRules& rules, std::vector<Header>& headers) {
  const std::string_view origin = head.header("origin");
  if (origin.empty() || !may_ask(origin, rules)) return;
  const bool are_all = std::ranges::find(rules.origins, "*") != rules.origins.end();
  headers.emplace_back("access-control-allow-origin", are_all ? "*" : std::string(origin));
  headers.emplace_back("access-control-expose-headers",
                       "x-request-id, retry-after, x-ignored-fields, x-compute-tokens, x-truncated-inputs, "
                       "x-truncated-tokens, server-timing");
  headers.emplace_back("vary", "origin");
}

}  // namespace deberta::serve
