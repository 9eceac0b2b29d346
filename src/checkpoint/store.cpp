// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "step-", partial = ".partial";

[[noreturn]] void fail(const std::string& path, const std::string& what, const std::string& reason) {
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = fmt::format("{}: {}: {}", path, what, reason),
                        .path = path,
                        .hint = "check the permissions of the directory and the space on its device"});
}

/// The step of a complete checkpoint's name.
std::optional<StepIndex> step_of(std::string_view name) {
  constexpr std::size_t min_digits = 12;
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  if (name.size() < min_digits) return {};
  return parse_number<StepIndex>(name, 0, std::numeric_limits<StepIndex>::max());
}

/// The names in a directory.
std::vector<std::string> names_in(const std::string& directory) {
  std::error_code code;
  std::vector<std::string> names;
  fs::directory_iterator entry(directory, code);
  if (code == std::errc::no_such_file_or_directory) return names;
  for (const fs::directory_iterator end; !code && entry != end; entry.increment(code))
    names.push_back(entry->path().filename().string());
  if (code) fail(directory, "cannot be read", code.message());
  return names;
}

}  // namespace

std::vector<StoredCheckpoint> list_checkpoints(const std::string& directory) {
  std::vector<StoredCheckpoint> found;
  for (const auto& name : names_in(directory))
    if (const auto step = step_of(name)) found.push_back({*step, fmt::format("{}/{}", directory, name)});
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step > b.step; });
  return found;
}

std::string checkpoint_path(const std::string& directory, StepIndex step) {
  return fmt::format("{}/{}{:012d}", directory, prefix, step);
}

std::string partial_path(const std::string& directory, StepIndex step) {
  return fmt::format("{}{}", checkpoint_path(directory, step), partial);
}

std::string begin_checkpoint(const std::string& directory, StepIndex step) {
  const auto path = partial_path(directory, step);
  std::error_code code;
  fs::remove_all(path, code);
  if (!code) fs::create_directories(path, code);
  if (code) fail(path, "cannot be made", code.message());
  return path;
}

void commit_checkpoint(const std::string& directory, StepIndex step) {
  const auto from = partial_path(directory, step), to = checkpoint_path(directory, step);
  std::error_code code;
  if (fs::exists(to, code)) {  // at every moment one of them has the name
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0)
      fail(to, "cannot be replaced", std::strerror(errno));
    fs::remove_all(from, code);
    return;
  }
  replace_file(from, to);
}

std::vector<std::string> prune_checkpoints(const std::string& directory, int keep,
                                           std::optional<StepIndex> kept) {
  std::vector<std::string> left;
  const auto remove = [&](const std::string& path) {
    std::error_code code;
    fs::remove_all(path, code);
    if (code) left.push_back(fmt::format("{}: {}", path, code.message()));
  };
  const auto found = list_checkpoints(directory);
  for (std::size_t i = static_cast<std::size_t>(std::max(keep, 1)); i < found.size(); ++i) {
    if (found[i].step == kept) continue;
    // One that is half removed must not look complete.
    const auto doomed = fmt::format("{}{}", found[i].path, partial);
    std::error_code code;
    fs::rename(found[i].path, doomed, code);
    remove(code ? found[i].path : doomed);
  }
  for (const auto& name : names_in(directory))
    if (name.starts_with(prefix) && name.ends_with(partial)) remove(fmt::format("{}/{}", directory, name));
  return left;
}

}  // namespace tailrace::checkpoint
