// Files of labels.
#include "rows/label_file.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::label_file_test {
namespace {

class LabelFile : public testing::Test {
 protected:
  std::string read(const std::string& name, const std::string& content) const {
    test::write_text(folder_.path(name), content);
    std::string text;
    for (const EntityLabel& label : load_entity_labels(folder_.path(name))) text += label.name + "=" + label.text + ";";
    return text;
  }

 private:
  const test::TemporaryFolder folder_;
};

TEST_F(LabelFile, IsLinesWithDescriptionsAfterATab) {
  EXPECT_EQ(read("labels.txt", "person\n\n city \tA city, or a town \norg\t\n"),
            "person=person;city=A city, or a town;org=org;");
  EXPECT_EQ(read("labels.tsv", "person\r\na,b\n"), "person=person;a,b=a,b;") << "a comma is a part of a label";
  EXPECT_EQ(read("empty.txt", "\n \n"), "");
}

TEST_F(LabelFile, IsJsonByItsName) {
  EXPECT_EQ(read("labels.json", R"({"person": "a human"})"), "person=a human;");
  EXPECT_EQ(read("list.json", R"(["person", "org"])"), "person=person;org=org;");
  EXPECT_ERROR(read("bad.json", "[1]"), kInput, "labels: expected texts or objects, got 1");
}

TEST_F(LabelFile, MustBeThere) {
  EXPECT_ERROR(load_entity_labels("no-such-labels.txt"), kFileNotFound, "no-such-labels.txt");
}

}  // namespace
}  // namespace deberta::label_file_test
