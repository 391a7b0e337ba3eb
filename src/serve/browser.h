// Which pages may ask. A browser sends requests for any page that it shows, to any address, one that only this machine
// reaches too. `Host` has the name by which the page found the server, `Origin` says whose page it is.
#pragma once
#include <string>
#include <vector>

#include "serve/http.h"

namespace deberta::serve {

struct BrowserRules {
  std::vector<std::string> hosts = {};    // names by which the server may be found; "*": any
  std::vector<std::string> origins = {};  // origins of other sites' pages that may ask; "*": all
};

// Throws kForbidden unless the name is one of loopback, the requested address, or one of `rules.hosts`: any other may
// belong to a page that had its own name led to this machine (DNS rebinding). On a Unix socket any name will do.
void check_host(const HttpRequest& head, const BrowserRules& rules);

// Throws kForbidden for a page that is neither the server's own nor one of `rules.origins`.
void check_origin(const HttpRequest& head, const BrowserRules& rules);

// Lets the page that asks read the answer, where it is one of `rules.origins`.
void add_origin(const HttpRequest& head, const BrowserRules& rules, std::vector<Header>& headers);

}  // namespace deberta::serve
