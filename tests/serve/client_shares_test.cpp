#include "serve/client_shares.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "serve/api_error.h"

namespace deberta::serve::client_shares_test {
namespace {

std::string code_of(const auto& call) {
  try {
    call();
  } catch (const ApiError& error) {
    return std::string(info_of(error.code).name);
  }
  return "none";
}

TEST(ClientShares, OneClientIsHeldToItsLimitAndOthersAreNot) {
  ClientShares shares({.client_bytes = 100, .all_bytes = 250, .forwarded_requests = 2});
  const auto first = shares.take("a", "", 60);
  EXPECT_EQ(code_of([&] { shares.take("a", "", 41); }), "overloaded");
  const auto second = shares.take("a", "", 40);
  const auto other = shares.take("b", "", 100);
  EXPECT_EQ(shares.bytes(), 200u);
  EXPECT_EQ(code_of([&] { shares.take("c", "", 51); }), "overloaded");  // the limit of all clients
  const auto last = shares.take("c", "", 50);
  EXPECT_EQ(shares.bytes(), 250u);
}

TEST(ClientShares, WhatNeverFitsIsNotToldToComeAgain) {
  ClientShares shares({.client_bytes = 100, .all_bytes = 250});
  EXPECT_EQ(code_of([&] { shares.take("a", "", 101); }), "too_large");
  const auto share = shares.take("a", "", 10);
  EXPECT_EQ(code_of([&] { share->resize(101); }), "too_large");
  EXPECT_EQ(shares.bytes(), 10u);
}

TEST(ClientShares, ARequestThatGrowsKeepsWhatItHadWhereThereIsNoRoom) {
  ClientShares shares({.client_bytes = 100, .all_bytes = 1000});
  auto share = shares.take("a", "", 60);
  const auto two = shares.take("a", "", 30);
  EXPECT_EQ(code_of([&] { two->resize(50); }), "overloaded");
  EXPECT_EQ(shares.bytes(), 90u);
  two->resize(40);
  EXPECT_EQ(shares.bytes(), 100u);
  two->resize(5);
  EXPECT_EQ(shares.bytes(), 65u);
  share.reset();
  EXPECT_EQ(shares.bytes(), 5u);
  EXPECT_EQ(shares.returned(), 35u + 60u);
  two->resize(100);
}

TEST(ClientShares, RequestsThatAProxyBringsAreCounted) {
  ClientShares shares({.client_bytes = 100, .all_bytes = 1000, .forwarded_requests = 2});
  std::vector<std::shared_ptr<ClientShare>> held;
  for (int i = 0; i < 5; ++i) held.push_back(shares.take("a", "", 0));
  for (int i = 0; i < 2; ++i) held.push_back(shares.take("a", "10.0.0.1", 0));
  EXPECT_EQ(code_of([&] { shares.take("a", "10.0.0.1", 0); }), "too_many_connections");
  held.pop_back();
  held.push_back(shares.take("a", "10.0.0.1", 0));
  held.push_back(shares.take("a", "10.0.0.2", 0));
  held.clear();
  EXPECT_EQ(shares.bytes(), 0u);
}

}  // namespace
}  // namespace deberta::serve::client_shares_test
