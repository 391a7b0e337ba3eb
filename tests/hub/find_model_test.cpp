// From model names to folders, in an environment made for each test.
#include "deberta/find_model.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "deberta/pipeline.h"
#include "hub/hub_cache.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::find_model_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";
constexpr const char* kOther = "89abcdef0123456789abcdef0123456789abcdef";

// A file in a folder that need not exist yet.
void write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  test::write_text(path, text);
}

class FindModel : public testing::Test {
 protected:
  FindModel() {
    places_.builtin = {folder_.path("share"), folder_.path("source")};
    places_.hub_cache = folder_.path("hub");
    fs::create_directory(folder_.path("hub"));
  }

  std::string repository(const std::string& name) const { return folder_.path("hub/models--" + name); }

  // A snapshot as the hub's client makes it: files are links to blobs.
  std::string add_snapshot(const std::string& name, const std::string& commit, const std::string& revision) {
    const std::string snapshot = repository(name) + "/snapshots/" + commit;
    write(repository(name) + "/blobs/" + commit, R"({"model_type": "deberta-v2"})");
    fs::create_directories(snapshot);
    fs::create_symlink("../../blobs/" + commit, snapshot + "/config.json");
    if (!revision.empty()) write(repository(name) + "/refs/" + revision, commit);
    return snapshot;
  }

  std::string find(const std::string& name) const { return find_model(name, places_); }

  test::TemporaryFolder folder_;
  ModelPlaces places_;
};

TEST(FindPlaces, DataDirReplacesTheFoldersBesideTheProgram) {
  ModelEnvironment environment;
  environment.program = "/opt/deberta/bin/deberta";
  EXPECT_EQ(find_places(environment).builtin, std::vector<std::string>{"/opt/deberta/share/deberta/models"});
  environment.data_dir = "/data";
  EXPECT_EQ(find_places(environment).builtin, std::vector<std::string>{"/data/models"});
}

TEST(FindPlaces, AProgramInItsBuildFolderAlsoLooksIntoTheSourceTree) {
  ModelEnvironment environment;
  environment.program = "/home/a/source/build/release/deberta";
  const std::vector<std::string> expected{"/home/a/source/build/share/deberta/models", "/home/a/source/models"};
  EXPECT_EQ(find_places(environment).builtin, expected);
}

TEST(FindPlaces, TheHubCacheIsThatOfTheFirstVariableThatIsSet) {
  ModelEnvironment environment;
  EXPECT_EQ(find_places(environment).hub_cache, "");
  environment.home = "/home/a";
  EXPECT_EQ(find_places(environment).hub_cache, "/home/a/.cache/huggingface/hub");
  environment.xdg_cache_home = "/cache";
  EXPECT_EQ(find_places(environment).hub_cache, "/cache/huggingface/hub");
  environment.hf_home = "/hf";
  EXPECT_EQ(find_places(environment).hub_cache, "/hf/hub");
  environment.hf_hub_cache = "/big/hub";
  EXPECT_EQ(find_places(environment).hub_cache, "/big/hub");
}

TEST_F(FindModel, APathIsItself) {
  fs::create_directories(folder_.path("a/model"));
  EXPECT_EQ(find(folder_.path("a/model")), folder_.path("a/model"));
  EXPECT_ERROR(find(folder_.path("a/mode")), kFileNotFound, "no such model directory");
  EXPECT_ERROR(find(folder_.path("a/mode")), kFileNotFound, "did you mean " + folder_.path("a/model") + "?");
  EXPECT_ERROR(find("../no/such/folder"), kFileNotFound, "no such model directory");
}

TEST_F(FindModel, AnExistingDirectoryWinsOverARepositoryOfItsName) {
  add_snapshot("org--name", kCommit, "main");
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  EXPECT_EQ(find("org/name"), repository("org--name") + "/snapshots/" + kCommit);
  fs::create_directories("org/name");
  EXPECT_EQ(find("org/name"), "org/name");
  fs::current_path(before);
}

TEST_F(FindModel, ABuiltInModelComesFromTheFirstFolderThatHasIt) {
  write(folder_.path("source/small/config.json"), "{}");
  EXPECT_EQ(find("builtin:small"), folder_.path("source/small"));
  EXPECT_EQ(find("builtin"), folder_.path("source/small"));
  write(folder_.path("share/small/config.json"), "{}");
  EXPECT_EQ(find("builtin:small"), folder_.path("share/small"));
  EXPECT_EQ(find("builtin"), folder_.path("share/small"));
}

TEST_F(FindModel, ABuiltInModelMayBeOneOfGliner) {
  write(folder_.path("share/entities/gliner_config.json"), "{}");
  EXPECT_EQ(find("builtin:entities"), folder_.path("share/entities"));
}

TEST_F(FindModel, OfSeveralBuiltInModelsOneIsToBeNamed) {
  write(folder_.path("share/small/config.json"), "{}");
  write(folder_.path("share/base/config.json"), "{}");
  EXPECT_ERROR(find("builtin"), kFileNotFound, "models there: builtin:base, builtin:small");
}

TEST_F(FindModel, AMissingBuiltInModelNamesThePlacesAndTheNearest) {
  EXPECT_ERROR(find("builtin"), kFileNotFound,
               "no such built-in model; looked in " + folder_.path("share") + ", " + folder_.path("source"));
  write(folder_.path("share/small/config.json"), "{}");
  EXPECT_ERROR(find("builtin:smal"), kFileNotFound, "did you mean builtin:small?");
  EXPECT_ERROR(find("builtin:../share/small"), kFileNotFound, "no such built-in model");
}

TEST_F(FindModel, ARepositoryIsTheSnapshotOfItsRevision) {
  const std::string main = add_snapshot("org--name", kCommit, "main");
  const std::string pull = add_snapshot("org--name", kOther, "refs/pr/1");
  EXPECT_EQ(find("org/name"), main);
  EXPECT_EQ(find("org/name@main"), main);
  EXPECT_EQ(find("org/name@refs/pr/1"), pull);
  EXPECT_EQ(find(std::string("org/name@") + kOther), pull);
  write(repository("org--name") + "/refs/main", std::string(kOther) + "\n");
  EXPECT_EQ(find("org/name"), pull);
}

TEST_F(FindModel, AMissingRevisionNamesThoseThatAreThere) {
  add_snapshot("org--name", kCommit, "v1");
  EXPECT_ERROR(find("org/name"), kFileNotFound, "org/name@main: no such revision; looked for ");
  EXPECT_ERROR(find("org/name"), kFileNotFound, "revisions there: v1; commits there: " + std::string(kCommit));
  EXPECT_ERROR(find(std::string("org/name@") + kOther), kFileNotFound, "no snapshot of this revision; looked for ");
  write(repository("org--name") + "/refs/main", "../../../secret");
  EXPECT_ERROR(find("org/name"), kFileRead, "expected a commit of 40 hexadecimal digits");
}

TEST_F(FindModel, AnUnknownNameListsAllPlacesAndTheNearestNames) {
  add_snapshot("microsoft--deberta-v3-small", kCommit, "main");
  EXPECT_ERROR(find("microsoft/deberta-v3-smal"), kFileNotFound,
               "no such model; looked for the directory microsoft/deberta-v3-smal, " +
                   repository("microsoft--deberta-v3-smal") + "; did you mean microsoft/deberta-v3-small?");
  EXPECT_ERROR(find("deberta-v3-small"), kFileNotFound, "did you mean microsoft/deberta-v3-small?");
  EXPECT_ERROR(find("somebody/deberta-v3-small"), kFileNotFound, "did you mean microsoft/deberta-v3-small?");
  EXPECT_ERROR(find("x"), kFileNotFound, "models there: microsoft/deberta-v3-small; nothing is downloaded");
}

TEST_F(FindModel, NamesThatCouldLeaveTheCacheAreNoNamesOfRepositories) {
  for (const char* name : {"../x", "a/../b", "a/..", "a//b", "/a/b", "a/b/c", "a", "a/b@", "a/b@../x", "a/b@x/../y",
                           "a/b@/x", "a/.b", "-a/b", "a/b--c", "a/b.", "a b/c", "a/b@x y", "a/b@x@y", "a\\b/c"}) {
    EXPECT_FALSE(parse_hub_name(name)) << name;
  }
  EXPECT_FALSE(parse_hub_name("a/" + std::string(97, 'b')));
  EXPECT_FALSE(parse_hub_name(std::string("a/b\0c", 5)));
  const auto name = parse_hub_name("Org-1/na.me_2@feature/x");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->repository, "Org-1/na.me_2");
  EXPECT_EQ(name->revision, "feature/x");
}

TEST_F(FindModel, ALinkThatLeavesTheCacheIsRefused) {
  const std::string snapshot = add_snapshot("org--name", kCommit, "main");
  write(folder_.path("outside/secret"), "x");
  fs::create_symlink(folder_.path("outside/secret"), snapshot + "/spm.model");
  EXPECT_ERROR(find("org/name"), kFileType, "expected a link inside");
  fs::remove(snapshot + "/spm.model");
  EXPECT_EQ(find("org/name"), snapshot);

  fs::create_directory(snapshot + "/1_Pooling");
  fs::create_symlink("../../../../../outside/secret", snapshot + "/1_Pooling/config.json");
  EXPECT_ERROR(find("org/name"), kFileType, "1_Pooling/config.json: expected a link inside");
  fs::remove(snapshot + "/1_Pooling/config.json");

  fs::create_directory_symlink("../../blobs", snapshot + "/2_Dense");
  EXPECT_ERROR(find("org/name"), kFileType, "got a link to a folder");
}

TEST_F(FindModel, ASnapshotThatLeavesTheCacheIsRefused) {
  write(folder_.path("outside/config.json"), "{}");
  fs::create_directories(repository("org--name") + "/snapshots");
  write(repository("org--name") + "/refs/main", kCommit);
  fs::create_directory_symlink(folder_.path("outside"), repository("org--name") + "/snapshots/" + kCommit);
  EXPECT_ERROR(find("org/name"), kFileType, "expected a folder inside");
}

TEST_F(FindModel, ACacheThatIsItselfALinkIsFollowed) {
  const std::string snapshot = add_snapshot("org--name", kCommit, "main");
  fs::create_directory_symlink(folder_.path("hub"), folder_.path("link"));
  places_.hub_cache = folder_.path("link");
  EXPECT_EQ(find("org/name"), folder_.path("link/models--org--name/snapshots/") + kCommit);
}

TEST_F(FindModel, TheListHasBuiltInModelsAndEveryDebertaOfTheCache) {
  write(folder_.path("share/small/config.json"), "{}");
  write(folder_.path("source/base/config.json"), "{}");
  write(folder_.path("source/no-model/readme"), "");
  add_snapshot("b--two", kCommit, "main");
  add_snapshot("a--one", kCommit, "main");
  add_snapshot("a--half", kCommit, "");
  const std::string other = add_snapshot("a--other", kOther, "main");
  fs::remove(other + "/config.json");
  write(other + "/config.json", R"({"model_type": "bert"})");
  fs::create_directory(folder_.path("hub/datasets--a--one"));
  std::vector<std::string> names;
  for (const FoundModel& model : list_models(places_)) names.push_back(model.name);
  EXPECT_EQ(names, (std::vector<std::string>{"builtin:base", "builtin:small", "a/one", "b/two"}));
  for (const FoundModel& model : list_models(places_)) EXPECT_EQ(find(model.name), model.path);
}

}  // namespace
}  // namespace deberta::find_model_test
