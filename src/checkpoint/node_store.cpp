// SPDX-License-Identifier: BSD-3-Clause
#include "node_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"
#include "sealed_json.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr const char* mark_file = "local.json";
constexpr const char* mark_format = "tailrace local checkpoints";
constexpr int mark_version = 1;
constexpr std::string_view node_prefix = "node-", step_prefix = "step-", part_prefix = "part-",
                           description_ending = ".json";

std::string path_of_mark(const std::string& checkpoints) {
  return fmt::format("{}/{}", checkpoints, mark_file);
}

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = fmt::format("{}: cannot be made: {}", path, reason),
                        .path = path,
                        .hint = "give checkpoint.local a directory that each node may write to"});
}

void make_directories(const std::string& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) fail(path, code.message());
}

/// The number in a name, such as 12 in "step-000012".
std::optional<std::int64_t> number_in(std::string_view name, std::string_view prefix,
                                      std::string_view ending = {}) {
  if (!name.starts_with(prefix) || !name.ends_with(ending)) return {};
  name.remove_prefix(prefix.size());
  name.remove_suffix(std::min(ending.size(), name.size()));
  return parse_number<std::int64_t>(name);
}

/// Calls `action(path, number)` for all entries whose names have this form; none if there is no directory.
template <class Action>
void for_numbered(const fs::path& directory, std::string_view prefix, std::string_view ending,
                  const Action& action) {
  std::error_code code;
  for (fs::directory_iterator entry(directory, code), end; !code && entry != end; entry.increment(code))
    if (const auto number = number_in(entry->path().filename().string(), prefix, ending))
      action(entry->path(), *number);
}

}  // namespace

std::optional<LocalMark> read_local_mark(const std::string& checkpoints) {
  try {
    const auto json = read_sealed(path_of_mark(checkpoints), mark_format, mark_version);
    return LocalMark{json.at("run"), json.at("directory")};
  } catch (const Error&) {
    return {};
  }
}

void write_local_mark(const std::string& checkpoints, const LocalMark& mark) {
  make_directories(checkpoints);
  write_durably(path_of_mark(checkpoints), sealed({{"format", mark_format},
                                                   {"version", mark_version},
                                                   {"run", mark.run},
                                                   {"directory", mark.directory},
                                                   {"xxh3", no_digest}}));
}

void remove_local_mark(const std::string& checkpoints) {
  std::error_code ignored;
  fs::remove(path_of_mark(checkpoints), ignored);
}

std::string segment_directory(const LocalMark& mark) {
  return fmt::format("{}/tailrace-{}", mark.directory, mark.run);
}

std::string node_directory(const LocalMark& mark, std::int64_t node) {
  return fmt::format("{}/{}{}", segment_directory(mark), node_prefix, node);
}

PartFile part_file(const std::string& node_directory, StepIndex step, int rank) {
  const auto stem =
      fmt::format("{}/{}{:012d}/{}{:06d}", node_directory, step_prefix, step, part_prefix, rank);
  return {.step = step, .rank = rank, .description = stem + ".json", .data = stem + ".bin"};
}

void begin_part(const PartFile& part) {
  make_directories(fs::path(part.data).parent_path().string());
  errno = 0;
  if (!std::ofstream(part.data, std::ios::trunc)) fail(part.data, std::strerror(errno));
}

std::vector<PartFile> list_parts(const LocalMark& mark) {
  std::vector<PartFile> found;
  for_numbered(segment_directory(mark), node_prefix, {}, [&](const fs::path& node, std::int64_t) {
    for_numbered(node, step_prefix, {}, [&](const fs::path& step, std::int64_t number) {
      for_numbered(step, part_prefix, description_ending, [&](const fs::path&, std::int64_t rank) {
        found.push_back(part_file(node.string(), number, static_cast<int>(rank)));
      });
    });
  });
  return found;
}

void remove_parts_before(const std::string& node_directory, StepIndex step) {
  for_numbered(node_directory, step_prefix, {}, [&](const fs::path& path, std::int64_t number) {
    std::error_code ignored;
    if (number < step) fs::remove_all(path, ignored);
  });
}

void remove_segment(const LocalMark& mark) {
  std::error_code ignored;
  fs::remove_all(segment_directory(mark), ignored);
}

}  // namespace tailrace::checkpoint
