// Makes random ids, looks headers up, and sees to it that each exchange is answered exactly once.
#include "serve/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>

#include "base/random_bits.h"

namespace deberta::serve {

bool is_plain_name(std::string_view text, size_t most) {
  return !text.empty() && text.size() <= most && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

std::string new_id() {
  static std::atomic<uint64_t> next = 0;
  static const uint64_t start = random_bits();
  return fmt::format("{:08x}{:08x}", start & 0xffffffff, next++ & 0xffffffff);
}

std::string new_secret() {
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random_bits(), random_bits(), random_bits(), random_bits());
}

std::string header_text(std::string_view text) {
  constexpr size_t kMost = 64;
  std::string value;
  for (const char c : text.substr(0, kMost)) {
    if (is_plain_name({&c, 1}, 1)) {
      value += c;
    } else {
      value += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return text.size() > kMost ? value + "..." : value;
}

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::string_view HttpRequest::last_header(std::string_view name) const {
  std::string_view last;
  for (const auto& [key, value] : headers) {
    if (key == name) last = value;
  }
  return last;
}

Exchange::~Exchange() {
  if (send_) send_({.status = 500, .headers = {}, .body = {}, .closes = true});
}

void Exchange::respond(HttpResponse response) {
  std::function<void(HttpResponse)> send;
  std::function<void()> leave;  // what it holds ends here
  {
    const std::lock_guard lock(mutex_);
    send.swap(send_);
    leave.swap(leave_);
  }
  if (send) send(std::move(response));
}

void Exchange::on_disconnect(std::function<void()> leave) {
  {
    const std::lock_guard lock(mutex_);
    if (!send_) return;  // answered
    if (!has_left_) {
      leave_ = std::move(leave);
      return;
    }
  }
  leave();
}

void Exchange::disconnect() {
  std::function<void()> leave;
  {
    const std::lock_guard lock(mutex_);
    has_left_ = true;
    leave.swap(leave_);
  }
  if (leave) leave();
}

}  // namespace deberta::serve
