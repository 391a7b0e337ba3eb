// Records as JSON.
#include "jobs/record.h"

#include "base/checked.h"
#include "base/output_file.h"
#include "deberta/error.h"
#include "jobs/member_reader.h"

namespace deberta::jobs {
namespace {

Json to_json(const FileStamp& stamp) {
  return JsonObject{
      {"inode", std::to_string(stamp.inode)}, {"modified_ns", stamp.modified}, {"changed_ns", stamp.changed}};
}

std::optional<FileStamp> stamp_from(const Json& object, uint64_t bytes) {
  const Json* stamp = object.find("input_stamp");
  if (stamp == nullptr) return std::nullopt;
  MemberReader members(*stamp);
  const auto inode = parse_number<uint64_t>(members.text("inode"));
  const FileStamp result{bytes, inode.value_or(0), members.number("modified_ns"), members.number("changed_ns")};
  return members.has_failed() || !inode ? std::nullopt : std::optional(result);
}

std::optional<DoneRecord> done_from(const Json& object) {
  MemberReader members(object);
  DoneRecord record{.input = members.text("input"),
                    .input_sha256 = members.text("input_sha256"),
                    .input_bytes = members.count("input_bytes"),
                    .input_stamp = {},
                    .job = members.text("job"),
                    .rows = members.count("rows"),
                    .bad_rows = members.count("bad_rows"),
                    .output_bytes = members.count("output_bytes"),
                    .output_sha256 = members.text("output_sha256"),
                    .host = members.text("host")};
  if (members.has_failed()) return std::nullopt;
  record.input_stamp = stamp_from(object, record.input_bytes);
  return record;
}

}  // namespace

Json to_json(const DoneRecord& record) {
  JsonObject object{{"input", record.input},
                    {"input_bytes", record.input_bytes},
                    {"input_sha256", record.input_sha256},
                    {"rows", record.rows},
                    {"bad_rows", record.bad_rows},
                    {"seconds", record.seconds},
                    {"output_bytes", record.output_bytes},
                    {"output_sha256", record.output_sha256},
                    {"job", record.job},
                    {"host", record.host}};
  if (record.input_stamp) object.emplace_back("input_stamp", to_json(*record.input_stamp));
  return object;
}

std::optional<DoneRecord> load_done(const std::string& path) {
  try {
    return done_from(load_json(path));
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool has_input_of(const DoneRecord& record, const std::string& input, const std::function<void()>& check) {
  const auto stamp = stamp_of(input);
  if (!stamp || stamp->bytes != record.input_bytes) return false;
  if (stamp == record.input_stamp) return true;
  try {
    return sha256_of_file(input, check) == record.input_sha256;
  } catch (const Error&) {
    return false;
  }
}

void write_record(const std::string& path, const Json& record) {
  const std::string text = record.dump(1) + "\n";
  write_output_file(path, [&](FileWriter& out) { out.write(text); });
}

}  // namespace deberta::jobs
