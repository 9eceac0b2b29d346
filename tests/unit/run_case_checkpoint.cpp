// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_checkpoint.hpp"

#include <doctest/doctest.h>

#include "tailrace/run/case_schema.hpp"

namespace tailrace::run {

namespace {

const CaseSchema schema = make_schema("test", {}, {});

/// What is wrong with a table [checkpoint].
std::string problems_of(const std::vector<std::string>& settings) {
  auto file = CaseFile::from_overrides("case.toml", settings, schema);
  CheckpointOptions options;
  read_checkpoint(file, options);
  try {
    file.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("checkpoints are taken by one rule") {
  CHECK(problems_of({"checkpoint.every=100"}) == "");
  CHECK(problems_of({"checkpoint.mtbf_s=86400"}) == "");
  CHECK(holds(
      problems_of({"checkpoint.every=100", "checkpoint.every_s=10"}),
      "checkpoint: every, every_s and mtbf_s each say when checkpoints are taken. Fix: give one of them"));
  CHECK(holds(problems_of({"checkpoint.every_s=10", "checkpoint.mtbf_s=86400"}), "give one of them"));
}

TEST_CASE("buffers of checkpoints hold something") {
  CHECK(problems_of({"checkpoint.buffers=8MiB"}) == "");
  CHECK(holds(problems_of({"checkpoint.buffers=\"0\""}), "checkpoint.buffers: \"0\" holds nothing"));
  CHECK(holds(problems_of({"checkpoint.buffers=\"0.1B\""}), "checkpoint.buffers"));
  CHECK(holds(problems_of({"checkpoint.buffers=\"9000000TB\""}), "more than any memory"));
}

}  // namespace tailrace::run
