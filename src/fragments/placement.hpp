// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>

#include "fragments/mail.hpp"
#include "fragments/task.hpp"

namespace tailrace::fragments {

/// On which rank the data fragments and the fragments of a program are.
class Placement {
 public:
  Placement(const Mail& mail, const Machine& machine) : mail_(&mail), machine_(&machine) {}

  /// The home of a data fragment, or of labelled fragments: by its recommendation; else neighbours in the
  /// last index are on neighbouring ranks, whatever the name, so that what belongs together is together.
  /// @local
  [[nodiscard]] int home_of(const Name& name) const {
    if (mail_->size() == 1) return 0;
    if (const auto wanted = machine_->wanted_home(name)) return mail_->rank_of(*wanted);
    const auto indices = name.id.indices();
    return indices.empty() ? static_cast<int>(name.id.hash() % static_cast<std::uint64_t>(mail_->size()))
                           : mail_->rank_of(indices.back());
  }
  /// The ranks, from the first to before the second, that may have data fragments of a name as it was
  /// declared: its home, or all if it has indices. @local
  [[nodiscard]] std::pair<int, int> holders(const Name& name) const {
    if (machine_->image().declarations[name.declaration].indexed) return {0, mail_->size()};
    const int home = home_of(name);
    return {home, home + 1};
  }
  /// Where a fragment that was created is recommended to be, if that needs no data fragment. @local
  [[nodiscard]] std::optional<int> recommended(const Fragment& fragment) const {
    if (const auto rank = machine_->wanted_rank(fragment)) return mail_->rank_of(*rank);
    if (const auto label = machine_->placing_label(fragment)) return home_of(*label);
    return {};
  }
  /// Where a fragment that is to run wants to be, if it is not here: as recommended; a body without
  /// recommendation at its first output. @local
  [[nodiscard]] std::optional<int> elsewhere(const Task& task) const {
    const auto& resolution = *task.resolution;
    if (task.placed || resolution.fault || mail_->size() == 1) return {};
    std::optional<int> rank;
    if (task.fragment.statement->placed_by_label && resolution.label)
      rank = home_of(*resolution.label);
    else if (resolution.rank)
      rank = mail_->rank_of(*resolution.rank);
    for (const auto& argument : resolution.arguments)
      if (const auto* const name = std::get_if<Name>(&argument); name != nullptr && !rank)
        rank = home_of(*name);
    return rank && *rank != mail_->rank() ? rank : std::nullopt;
  }

 private:
  const Mail* mail_;
  const Machine* machine_;
};

}  // namespace tailrace::fragments
