// From start to stop: the ports, then the models behind them.
#include "deberta/server.h"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "serve/server_state.h"

namespace deberta {

struct __attribute__((visibility("hidden"))) Server::State : serve::ServerState {
  using ServerState::ServerState;

  void listen();
  void end();

  std::mutex life;  // held from the beginning to the end of start() and stop()
  std::condition_variable ended;
  bool is_ended = false;
};

void Server::State::listen() {
  http = std::make_unique<serve::HttpServer>(serve::http_settings(settings), hooks(false));
  if (settings.metrics_port) {
    metrics_http = std::make_unique<serve::HttpServer>(serve::metrics_http_settings(settings), hooks(true));
    metrics_http->start();
  }
  http->start();
}

// The ports stop first, then the explainer, the loader and the models; the readers end when no one posts work to them.
void Server::State::end() {
  if (metrics_http) metrics_http->stop();
  if (http) http->stop();
  turns.stop();
  explainer.reset();
  loader.reset();
  models.stop();
  pool.reset();
  is_ended = true;
  ended.notify_all();
}

Server::Server(ServerSettings settings) {
  serve::check_settings(settings);
  state_ = new State(std::move(settings));
}

Server::~Server() {
  stop();
  delete state_;
}

void Server::start() {
  const std::lock_guard lock(state_->life);
  if (state_->http || state_->is_ended)
    throw Error(ErrorCode::kUsage, "start()", "expected a server that was not started before");
  try {
    state_->listen();
    state_->models.open_all();
  } catch (...) {
    state_->end();
    throw;
  }
}

uint16_t Server::port() const {
  return state_->http ? state_->http->port() : 0;
}

uint16_t Server::metrics_port() const {
  return state_->metrics_http ? state_->metrics_http->port() : 0;
}

void Server::reload_keys() {
  state_->reload_keys();
}

void Server::reload_models() {
  const std::lock_guard lock(state_->life);
  if (state_->is_ended) return;
  for (const serve::ModelSet::Status& status : state_->models.statuses()) {
    if (status.state != "open") continue;
    state_->loader->post([state = state_, name = status.name] {
      std::string failure;
      try {
        state->reload(name, false);
      } catch (const serve::ApiError& error) {
        failure = error.message;
      } catch (const std::exception& error) {
        failure = error.what();
      }
      if (state->settings.reloaded != nullptr) state->settings.reloaded(state->settings.context, name, failure);
    });
  }
}

void Server::leave() {
  state_->is_leaving = true;
}

bool Server::drain(double seconds) {
  state_->is_draining = true;
  if (!state_->http) return true;
  state_->http->drain();
  return state_->http->wait_until_closed(seconds);
}

void Server::stop() {
  const std::lock_guard lock(state_->life);
  if (!state_->is_ended) state_->end();
}

void Server::wait() {
  std::unique_lock lock(state_->life);
  state_->ended.wait(lock, [this] { return state_->is_ended; });
}

}  // namespace deberta
