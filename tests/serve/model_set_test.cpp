#include "serve/model_set.h"

#include <gtest/gtest.h>

#include <limits>

#include "serve/api_error.h"
#include "support/paths.h"

namespace deberta::serve::model_set_test {
namespace {

std::shared_ptr<Served> open_tiny(const ModelSource& source) {
  auto served = std::make_shared<Served>(Served{
      .model = {.name = source.name, .path = source.path, .pipeline = open_pipeline(source.path)}, .worker = nullptr});
  const Model& model = served->model.pipeline.model;
  served->worker =
      std::make_unique<ModelWorker>(QueueLimits(), [&model](uint64_t, std::span<const PlannedSequence> pack,
                                                            ForwardResult& result) { run_pack(model, pack, result); });
  return served;
}

ApiCode code_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const ApiError& error) {
    return error.code;
  }
  return ApiCode::kBadRequest;  // nothing here throws it
}

class ModelSets : public testing::Test {
 protected:
  const std::string tiny = test::fixture("tiny");
  ModelSet set{{{"a", tiny}, {"b", tiny}}, open_tiny};
};

// What a server says of itself; "" when it is ready.
std::string refusal_of(const ModelSet& set) {
  try {
    set.check_ready();
    return "";
  } catch (const ApiError& error) {
    return error.message;
  }
}

TEST_F(ModelSets, SayThatAModelIsLoadingUntilItIsOpen) {
  EXPECT_EQ(refusal_of(set), "models are being loaded");
  EXPECT_EQ(code_of([&] { set.find("a"); }), ApiCode::kLoading);
  EXPECT_EQ(code_of([&] { set.find("c"); }), ApiCode::kModelNotFound);
  EXPECT_EQ(set.statuses().front().state, "opening");
  set.open_all();
  EXPECT_EQ(refusal_of(set), "");
  EXPECT_EQ(set.find("a")->model.name, "a");
  EXPECT_EQ(set.open_ones().size(), 2u);
  EXPECT_EQ(code_of([&] { set.find(""); }), ApiCode::kModelNotFound);  // either of the two could be meant
}

TEST_F(ModelSets, FindAModelByAnyOfItsNames) {
  ModelSource source{.name = "a", .path = tiny, .repository = "org/a"};
  source.aliases = {"first", "org/first"};
  ModelSet named({source, {"b", tiny}}, open_tiny);
  named.open_all();
  for (const char* name : {"a", "org/a", "first", "org/first"}) {
    EXPECT_EQ(named.find(name), named.find("a")) << name;
    EXPECT_EQ(named.served_name(name), "a") << name;
  }
  EXPECT_EQ(named.served_name("other"), "");
  EXPECT_EQ(named.open_ones_of("first").size(), 1u);
  EXPECT_EQ(named.open_ones_of("").size(), 2u);
  named.unload("first");
  EXPECT_EQ(code_of([&] { named.find("a"); }), ApiCode::kModelNotFound);
}

TEST_F(ModelSets, KeepWhatARequestHoldsUntilItLetsGo) {
  set.open_all();
  std::shared_ptr<Served> held = set.find("a");
  const std::weak_ptr<Served> first = held;
  set.reload("a", false);
  EXPECT_NE(set.find("a"), held);
  set.close_unused();
  EXPECT_FALSE(first.expired());
  held = nullptr;
  EXPECT_FALSE(first.expired());  // only the thread that closes models destroys one
  set.close_unused();
  EXPECT_TRUE(first.expired());
}

TEST_F(ModelSets, AreReadyWithoutWhatWasUnloaded) {
  set.open_all();
  set.unload("a");
  EXPECT_NO_THROW(set.check_ready());
  EXPECT_EQ(code_of([&] { set.find("a"); }), ApiCode::kModelNotFound);
  EXPECT_EQ(set.statuses().front().state, "closed");
  set.load("a");
  const std::shared_ptr<Served> again = set.find("a");
  set.load("a");
  EXPECT_EQ(set.find("a"), again);
}

TEST_F(ModelSets, LeaveTheOldModelWhereTheNewOneFails) {
  bool fails = false;
  ModelSet odd({{"a", tiny}}, [&](const ModelSource& source) {
    if (fails) throw Error(ErrorCode::kFileNotFound, source.path, "gone");
    return open_tiny(source);
  });
  odd.open_all();
  const std::shared_ptr<Served> old = odd.find("");
  fails = true;
  EXPECT_THROW(odd.reload("a", true), Error);
  EXPECT_EQ(odd.find(""), old);
}

TEST_F(ModelSets, RunNothingAfterTheirEnd) {
  set.open_all();
  const std::shared_ptr<Served> held = set.find("a");
  const std::optional<RequestId> id =
      held->worker->admit(RequestInfo{.client = "c", .deadline = std::numeric_limits<int64_t>::max()}, 1);
  ASSERT_TRUE(id);
  set.stop();
  EXPECT_FALSE(held->worker->submit(*id, std::make_shared<SequencePlan>(), 0, [](const Outcome&) {}));
}

}  // namespace
}  // namespace deberta::serve::model_set_test
