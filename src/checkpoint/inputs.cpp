// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

constexpr const char* component = "inputs";

/// The names of inputs that are not in both, or not the same.
std::vector<std::string> changed(const InputDigests& saved, const InputDigests& given) {
  std::vector<std::pair<std::string, std::uint64_t>> differences;
  std::set_symmetric_difference(saved.begin(), saved.end(), given.begin(), given.end(),
                                std::back_inserter(differences));
  std::vector<std::string> names;
  for (const auto& [name, digest] : differences)
    if (names.empty() || names.back() != name) names.push_back(name);
  return names;
}

}  // namespace

void pass_inputs(StateArchive& archive, const std::string& subject, const InputDigests& inputs) {
  if (!archive.has(component)) return;
  std::vector<std::string> names;
  std::vector<std::uint64_t> digests;
  for (const auto& [name, digest] : inputs) {
    names.push_back(name);
    digests.push_back(digest);
  }
  auto lines = fmt::format("{}", fmt::join(names, "\n"));
  archive.component(component, 1, [&](int) {
    archive.text("names", lines);
    archive.values("digests", digests);
  });
  if (!archive.restores()) return;
  InputDigests saved;
  names = split_text(lines, '\n');
  for (std::size_t i = 0; i < std::min(names.size(), digests.size()); ++i) saved[names[i]] = digests[i];
  const auto others = changed(saved, inputs);
  if (others.empty()) return;
  throw Error(ErrorInfo{
      .kind = ErrorKind::input,
      .message = fmt::format("{}: not what the run began with: {}", subject, fmt::join(others, ", ")),
      .path = subject,
      .hint = "resume with the input of that run, or start from the beginning"});
}

}  // namespace tailrace::checkpoint
