// Where a server cannot listen. What it does with requests is tested from outside (test_refusals.py).
#include "serve/http_server.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::serve::http_server_test {
namespace {

TEST(HttpServer, APlaceThatCannotBeListenedAtIsNamed) {
  const HttpServer first({.port = 0}, {});
  EXPECT_GT(first.port(), 0);
  EXPECT_ERROR(HttpServer({.port = first.port()}, {}), kServe, "cannot listen: Address already in use");
  EXPECT_ERROR(HttpServer({.host = "nowhere"}, {}), kServe, "nowhere:0: cannot listen");
  const test::TemporaryFolder folder;
  EXPECT_ERROR(HttpServer({.uds = folder.path("no/socket")}, {}), kServe, "no/socket: cannot listen");
}

}  // namespace
}  // namespace deberta::serve::http_server_test
