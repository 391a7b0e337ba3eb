// serve DIR: a model over HTTP inside this process, at a free port, until standard input ends.
#include <cstdio>

#include "deberta/server.h"

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fputs("usage: serve DIR\n", stderr);
    return 2;
  }
  deberta::ServerSettings settings;
  settings.models = {{.name = "model", .path = argv[1]}};
  settings.port = 0;
  settings.log = [](void*, const deberta::RequestLog& request) {
    std::fprintf(stderr, "%s %s %d\n", request.method.c_str(), request.route.c_str(), request.status);
  };
  deberta::Server server(settings);
  server.start();
  std::printf("http://%s:%d\n", settings.host.c_str(), server.port());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return server.drain(30) ? 0 : 1;
} catch (const deberta::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_code();
}
