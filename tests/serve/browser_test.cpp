// Names and origins that a browser sends.
#include "serve/browser.h"

#include <gtest/gtest.h>

#include <string>

#include "serve/api_error.h"

namespace deberta::serve::browser_test {
namespace {

HttpRequest request_to(const std::string& host, const std::string& origin = "", const std::string& local = "10.1.2.3") {
  HttpRequest request;
  if (!host.empty()) request.headers.emplace_back("host", host);
  if (!origin.empty()) request.headers.emplace_back("origin", origin);
  request.local = local;
  return request;
}

bool takes_host(const std::string& host, const BrowserRules& rules = {}, const std::string& local = "10.1.2.3") {
  try {
    check_host(request_to(host, "", local), rules);
    return true;
  } catch (const ApiError& error) {
    EXPECT_EQ(error.code, ApiCode::kForbidden);
    return false;
  }
}

bool takes_origin(const std::string& origin, const BrowserRules& rules = {},
                  const std::string& host = "a.example:8080") {
  try {
    check_origin(request_to(host, origin), rules);
    return true;
  } catch (const ApiError& error) {
    EXPECT_EQ(error.code, ApiCode::kForbidden);
    return false;
  }
}

TEST(Hosts, AreLoopbackOrTheAddressThatWasAsked) {
  for (const char* host :
       {"localhost", "localhost:8080", "LOCALHOST:1", "localhost.", "a.localhost:80", "127.0.0.1", "127.9.8.7:8080",
        "[::1]:8080", "[0:0::1]", "[::ffff:127.0.0.1]:80", "10.1.2.3", "10.1.2.3:8080", "[::ffff:10.1.2.3]", ""})
    EXPECT_TRUE(takes_host(host)) << host;
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
                           "127.1", "10.1.2.4", "128.0.0.1", "[::2]", "[::1", "notlocalhost", "0.0.0.0", ":8080", "[]"})
    EXPECT_FALSE(takes_host(host)) << host;
  EXPECT_TRUE(takes_host("[fd00::5]:8080", {}, "fd00::5%eth0"));
  EXPECT_TRUE(takes_host("10.1.2.3", {}, "::ffff:10.1.2.3"));
  EXPECT_TRUE(takes_host("evil.example", {}, "")) << "of a Unix socket";
}

TEST(Hosts, AreThoseThatAreAllowed) {
  const BrowserRules rules{.hosts = {"Models.example", "10.0.0.9"}};
  EXPECT_TRUE(takes_host("models.example:8080", rules));
  EXPECT_TRUE(takes_host("10.0.0.9:80", rules));
  EXPECT_FALSE(takes_host("models.example.org", rules));
  EXPECT_TRUE(takes_host("anything", {.hosts = {"*"}}));
}

TEST(Origins, AreOwnOrAllowed) {
  for (const char* origin : {"", "http://a.example:8080", "https://A.example:8080"})
    EXPECT_TRUE(takes_origin(origin)) << origin;
  for (const char* origin : {"null", "http://a.example", "http://a.example:8081", "http://b.example:8080",
                             "a.example:8080", "http://a.example:8080.evil"})
    EXPECT_FALSE(takes_origin(origin)) << origin;
  const BrowserRules rules{.origins = {"https://page.example"}};
  EXPECT_TRUE(takes_origin("https://page.example", rules));
  EXPECT_FALSE(takes_origin("http://page.example", rules));
  EXPECT_TRUE(takes_origin("null", {.origins = {"*"}}));
  EXPECT_FALSE(takes_origin("http://", {}, ""));
}

}  // namespace
}  // namespace deberta::serve::browser_test
