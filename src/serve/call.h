// One request to the server, from its arrival to its answer.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/server_state.h"

namespace deberta::serve {

// One request from its arrival to its answer.
class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(ServerState& server, std::shared_ptr<Exchange> exchange)
      : server_(server), exchange_(std::move(exchange)), begun_(microseconds()) {
    id_ = id_of(request());
    ++server_.inflight;
  }
  ~Call();

  void start();
  void give(HttpResponse response);
  void leave_queue();
  void free_body();
  void fail(const std::exception_ptr& error);
  void respond(HttpResponse response, const ApiError* error);  // null: it is no refusal

  const HttpRequest& request() const { return exchange_->request(); }

 private:
  std::pair<std::string_view, std::string_view> parts_of(std::string_view body) const;
  std::string plain_body();
  Json body_json(const std::string& body) const;
  Json optional_body_json();
  std::string model_of_head() const;
  std::string model_name(Body& body) const;
  void check_same_model(std::string_view where, const std::string& name, const std::string& field) const;
  std::shared_ptr<Served> find_model(Body& body) const;
  void begin(Answer handler);
  void begin(Get handler);
  void begin(Report handler);
  void begin(Command handler);
  void begin(Explain handler);
  void note_leaving();
  WorkSize work_size() const;
  void check_taking() const;  // throws while the server is about to end
  void check_count() const;   // throws while too many requests are there
  std::string turn_line() const;
  void await_turn();
  void read();
  void fail_late();
  Answering make(Body& body);
  void note_unknown(const Body& body);
  void report(Report handler);
  void administer(Command handler);
  void explain(Explain handler);
  std::string owner() const { return key_ ? key_->name : ""; }  // the name of the client's key
  Priority priority() const;
  RequestInfo info() const;
  void hold(const Answering& reply);
  void check_queued(const Answering& reply) const;
  void submit(Answering reply);
  void finish();
  std::string ignored_names() const;
  void add_headers(HttpResponse& response) const;
  // Claims the one response of this call: true for the first caller alone.
  bool take_turn() {
    if (is_counted_.exchange(true)) return false;
    --server_.inflight;
    return true;
  }

  ServerState& server_;
  std::shared_ptr<Exchange> exchange_;
  RouteMatch match_;
  std::shared_ptr<Served> served_;
  std::string id_;
  std::optional<Key> key_;
  std::string client_;  // the client whose share of the work it uses
  std::optional<RequestId> admitted_;
  std::unique_ptr<ReadTurns::Turn> turn_;      // held while a large body is read and answered
  std::shared_ptr<const void> explain_place_;  // held until a text is explained
  Outcome outcome_;
  std::function<HttpResponse()> respond_with_;  // makes the answer from the outcome
  RequestFacts facts_;
  size_t characters_ = 0, answer_bytes_ = 0;
  std::vector<std::string> ignored_;
  int64_t begun_, waited_ = 0, read_ = 0, submitted_ = 0;  // waited_: for its turn to be read
  std::atomic<bool> is_counted_ = false;
  std::atomic<bool> has_left_ = false;
};

}  // namespace deberta::serve
