// A server that a program of someone else embeds: what it answers, what it reports, and how it ends.
#include "deberta/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <thread>
#include <utility>

#include "base/json.h"
#include "deberta/pipeline.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::server_test {
namespace {

// The response of the server at this port, whole; empty: none listens.
std::string ask(uint16_t port, const std::string& line, const std::string& body = "", const std::string& headers = "") {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string response;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = fmt::format(
        "{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\n{}\r\n{}",
        line, body.size(), headers, body);
    EXPECT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    char part[4096];
    for (ssize_t got = 0; (got = ::recv(fd, part, sizeof part, 0)) > 0;)
      response.append(part, static_cast<size_t>(got));
  }
  ::close(fd);
  return response;
}

// What a server reports.
struct Reports {
  std::mutex mutex;
  std::vector<RequestLog> requests;
  std::vector<std::pair<std::string, std::string>> reloads;
};

ServerSettings settings_of(Reports& reports) {
  ServerSettings settings;
  settings.models = {{.name = "tiny", .path = test::fixture("tiny")}};
  settings.model.threads = 1;
  settings.port = 0;
  settings.context = &reports;
  settings.log = [](void* self, const RequestLog& request) {
    const std::lock_guard lock(static_cast<Reports*>(self)->mutex);
    static_cast<Reports*>(self)->requests.push_back(request);
  };
  settings.reloaded = [](void* self, const std::string& name, const std::string& error) {
    const std::lock_guard lock(static_cast<Reports*>(self)->mutex);
    static_cast<Reports*>(self)->reloads.emplace_back(name, error);
  };
  return settings;
}

TEST(Server, AnswersInsideAProcessWithTheBitsOfTheLibrary) {
  Reports reports;
  Server server(settings_of(reports));
  EXPECT_EQ(server.port(), 0);
  server.start();
  const std::string response = ask(server.port(), "POST /predict", R"({"inputs": "a fine film"})");
  EXPECT_TRUE(response.starts_with("HTTP/1.1 200")) << response;
  const std::vector<TextInput> inputs{{.text = "a fine film"}};
  const LabelScore best = classify(open_pipeline(test::fixture("tiny")), inputs).front().labels.front();
  EXPECT_NE(response.find(Json(best.score).dump()), std::string::npos) << response;
  EXPECT_TRUE(ask(server.port(), "GET /none").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(server.drain(600));
  const std::lock_guard lock(reports.mutex);
  ASSERT_EQ(reports.requests.size(), 2u);
  EXPECT_EQ(reports.requests[0].route, "/predict");
  EXPECT_EQ(reports.requests[0].model, "tiny");
  EXPECT_EQ(reports.requests[1].code, "not_found");
}

TEST(Server, EndsWhereAnotherThreadStopsIt) {
  Reports reports;
  ServerSettings settings = settings_of(reports);
  settings.metrics_port = 0;
  Server server(settings);
  server.start();
  EXPECT_TRUE(ask(server.metrics_port(), "GET /metrics").starts_with("HTTP/1.1 200"));
  std::thread other([&] { server.stop(); });
  server.wait();
  other.join();
  EXPECT_EQ(ask(server.port(), "GET /health"), "");
  EXPECT_EQ(ask(server.metrics_port(), "GET /health"), "");
  server.stop();
  server.reload_models();
  EXPECT_ERROR(server.start(), kUsage, "start(): expected a server that was not started before");
}

TEST(Server, SaysThatItLeaves) {
  Reports reports;
  Server server(settings_of(reports));
  server.start();
  EXPECT_TRUE(ask(server.port(), "GET /health").starts_with("HTTP/1.1 200"));
  server.leave();
  EXPECT_TRUE(ask(server.port(), "GET /health").starts_with("HTTP/1.1 503"));
  EXPECT_TRUE(ask(server.port(), "POST /predict", R"({"inputs": "a"})").starts_with("HTTP/1.1 200"));
}

TEST(Server, ReadsKeysAndModelsAgain) {
  Reports reports;
  const test::TemporaryFolder folder;
  ServerSettings settings = settings_of(reports);
  settings.api_key = "first";
  settings.api_key_file = folder.path("keys");
  test::write_text(settings.api_key_file, "team:infer:" + std::string(64, 'a') + "\n");
  {
    Server server(settings);
    server.start();
    EXPECT_TRUE(ask(server.port(), "GET /info").starts_with("HTTP/1.1 401"));
    EXPECT_TRUE(ask(server.port(), "GET /info", "", "Authorization: Bearer first\r\n").starts_with("HTTP/1.1 200"));
    test::write_text(settings.api_key_file, "team:infer\n");
    EXPECT_ERROR(server.reload_keys(), kUsage, "expected name:scopes:sha256");
    // printf %s second | sha256sum
    test::write_text(settings.api_key_file,
                     "team:infer:16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4\n");
    server.reload_keys();
    EXPECT_TRUE(ask(server.port(), "GET /info", "", "Authorization: Bearer second\r\n").starts_with("HTTP/1.1 200"));
    server.reload_models();
  }  // which ends what has begun
  ASSERT_EQ(reports.reloads.size(), 1u);
  EXPECT_EQ(reports.reloads.front(), std::pair(std::string("tiny"), std::string()));
}

TEST(Server, RefusesSettingsThatNoServerCanHave) {
  Reports reports;
  const ServerSettings good = settings_of(reports);
  const auto with_names = [&](const std::vector<std::string>& names) {
    ServerSettings settings = good;
    settings.models.clear();
    for (const std::string& name : names) settings.models.push_back({.name = name, .path = test::fixture("tiny")});
    return settings;
  };
  EXPECT_ERROR(Server(with_names({})), kUsage, "models: expected at least one model, got none");
  EXPECT_ERROR(Server(with_names({"a b"})), kUsage,
               "models: expected a name of letters, digits, dots, dashes and underscores, got \"a b\"; give one");
  EXPECT_ERROR(Server(with_names({"a", "b", "a"})), kUsage,
               "models: expected names that differ, got a twice; give others");
  EXPECT_ERROR(Server(with_names({"stats"})), kUsage,
               "models: expected a name that stands for its model in every path, got \"stats\": /v2/models/stats leads "
               "elsewhere; give another");
  const auto with_alias = [&](const std::string& alias) {
    ServerSettings settings = with_names({"a", "b"});
    settings.models.back().aliases = {alias};
    return settings;
  };
  EXPECT_NO_THROW(Server(with_alias("org/name")));
  EXPECT_ERROR(Server(with_alias("a")), kUsage, "models: expected names that differ, got a twice; give others");
  EXPECT_ERROR(Server(with_alias("")), kUsage, "got \"\"");
  EXPECT_ERROR(Server(with_alias("org/name/c")), kUsage, "got \"org/name/c\"");
  EXPECT_ERROR(Server(with_alias("org/embed")), kUsage, "/v1/models/org/embed leads elsewhere");
  ServerSettings limited = with_names({"a"});
  limited.models.front().max_requests = limited.limits.max_concurrent_requests + 1;
  EXPECT_ERROR(Server{limited}, kUsage, "max_requests: a: expected 1 to 512, got 513");
  limited.models.front().max_requests = 1;
  limited.models.front().max_queue_tokens = 0;
  EXPECT_ERROR(Server{limited}, kUsage, "max_queue_tokens: a: expected 1 to 4294967296, got 0");
  ServerSettings windows = with_names({"a"});
  windows.window_scores = WindowScores::kEach;
  EXPECT_ERROR(Server{windows}, kUsage,
               "window_scores: expected labels of the whole text, got those of each window; set window_scores=max");
  windows.window_scores = {};
  windows.benign_labels = {"safe"};
  EXPECT_ERROR(Server{windows}, kUsage,
               "benign_labels: expected the windows to be searched for other labels as well; set window_scores=max");
  ServerSettings unknown = with_names({"a", "b"});
  unknown.default_model = "b";
  EXPECT_NO_THROW(Server{unknown});
  unknown.default_model = "c";
  EXPECT_ERROR(Server{unknown}, kUsage, "default_model: expected the name of a model that is served, got \"c\"");
  ServerSettings nowhere = good;
  nowhere.models.front().path = "/no/such/folder";
  EXPECT_ERROR(Server{nowhere}, kFileNotFound, "/no/such/folder");
}

TEST(Server, WantsAKeyForCommandsThatOthersCanReach) {
  Reports reports;
  ServerSettings settings = settings_of(reports);
  settings.host = "0.0.0.0";
  EXPECT_NO_THROW(Server{settings});
  settings.has_explorer = true;
  EXPECT_ERROR(Server{settings}, kUsage,
               "has_explorer: expected a key as well, since other machines can reach 0.0.0.0");
  settings.has_admin = true;
  EXPECT_ERROR(
      Server{settings}, kUsage,
      "has_admin: expected a key as well, since other machines can reach 0.0.0.0; set api_key or give api_key_file");
  settings.api_key = "secret";
  EXPECT_NO_THROW(Server{settings});
  settings.api_key.clear();
  settings.host = "127.0.0.1";
  EXPECT_NO_THROW(Server{settings});
}

TEST(Server, IsStoppedWhereItCannotStart) {
  Reports reports;
  const test::TemporaryFolder folder;
  ServerSettings settings = settings_of(reports);
  settings.models.front().path = folder.path();
  settings.uds = folder.path("socket");
  Server server(settings);
  EXPECT_THROW(server.start(), Error);  // the folder has no model
  EXPECT_EQ(test::files_in(folder.path()), 0u);
  server.wait();
}

}  // namespace
}  // namespace deberta::server_test
