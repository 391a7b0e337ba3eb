// The models that are served, by name: opened, replaced and closed while requests go on. A request keeps the model that
// it began with; one that was replaced is closed after its last request.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/answering.h"
#include "serve/model_worker.h"

namespace deberta::serve {

struct ModelSource {
  std::string name = {};                  // under which it is served, and counted
  std::string path = {};                  // path of its folder
  std::string repository = {};            // ORG/NAME, another name of it, where it is of the hub's cache
  std::vector<std::string> aliases = {};  // more names of it
  std::optional<size_t> max_requests = {}, max_queue_tokens = {};  // as in its ServerModel
  std::function<std::string()> find = {};  // where its folder lies now: a name of the hub's cache may move on
};

// A model with its queue.
struct Served {
  ServedModel model;
  std::unique_ptr<ModelWorker> worker;
};

class ModelSet {
 public:
  using Open = std::function<std::shared_ptr<Served>(const ModelSource& source)>;

  // Nothing is opened yet.
  ModelSet(const std::vector<ModelSource>& sources, Open open);
  ~ModelSet();  // as stop()
  ModelSet(const ModelSet&) = delete;
  ModelSet& operator=(const ModelSet&) = delete;

  // Opens all, one after the other, and tries each on a few texts. Throws what opening throws, and kNotFinite.
  void open_all();

  // By name; without one, the only model. Throws kModelNotFound with the names there are, and kLoading.
  std::shared_ptr<Served> find(const std::string& name) const;
  std::vector<std::shared_ptr<Served>> open_ones() const;
  // The model of that name alone, as find(); without a name all that are open.
  std::vector<std::shared_ptr<Served>> open_ones_of(const std::string& name) const;
  // Throws kLoading unless all but those that unload() closed are open, and at least one is.
  void check_ready() const;
  size_t count() const { return slots_.size(); }
  // The first name of the model that has this name or is of this repository; empty: none.
  std::string served_name(const std::string& name) const;

  struct Status {
    std::string name, path, state;  // "open", "opening", "closed"
  };
  std::vector<Status> statuses() const;

  // Opens the folder anew, tries it on a few texts, and replaces the open model; on any failure that one stays. Throws
  // what opening throws, kModelNotFound, kNotFinite, and kValidation for a model with another head or other labels
  // (`forces`: it may have).
  void reload(const std::string& name, bool forces);
  void load(const std::string& name);    // as reload() where it is closed; nothing where it is open
  void unload(const std::string& name);  // requests for it are refused from now on

  void close_unused();  // what was replaced or unloaded, and no request holds any more
  void stop();          // ends the queues; what waits in them is forgotten

 private:
  struct Slot {
    ModelSource source;
    std::shared_ptr<Served> served;
    bool is_unloaded = false;
  };
  std::optional<size_t> find_index(const std::string& name) const;
  size_t index_of(const std::string& name) const;  // throws kModelNotFound
  std::string names() const;
  void put(const std::string& name, std::shared_ptr<Served> fresh);

  const Open open_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;  // their number and places never change
  std::vector<std::shared_ptr<Served>> retired_;
};

}  // namespace deberta::serve
