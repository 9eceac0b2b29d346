// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fragments/fragment.hpp"

namespace tailrace::fragments {

/// Who writes or deletes: a statement, and the calls that it is part of.
struct Origin {
  const Statement* statement = nullptr;
  std::shared_ptr<const CallRecord> call;
};

/// A value on its way into the store.
struct Post {
  Name name;
  Value value;
  std::int32_t uses = -1;  ///< after which it goes; -1 is without limit
  Place count_at;          ///< where the number of uses is said
  Origin writer;
};

/// A deletion on its way to the store.
struct Removal {
  Name name;
  Origin by;
};

/// What follows when a fragment, and all that it created, has run.
struct AfterActions {
  std::vector<Post> sets;
  std::vector<Removal> deletes;
  std::vector<std::pair<Name, Name>> pushes;
  [[nodiscard]] bool empty() const noexcept { return sets.empty() && deletes.empty() && pushes.empty(); }
  void clear() { sets.clear(), deletes.clear(), pushes.clear(); }
};

/// Structured fragments of this rank that wait until all they created has run.
class Groups {
 public:
  struct Group {
    std::int64_t outstanding = 0;
    Origin origin;
    GroupToken parent;
    AfterActions after;
  };

  std::uint64_t open(Origin origin, const GroupToken& parent, AfterActions after) {
    groups_.emplace(++last_, Group{0, std::move(origin), parent, std::move(after)});
    return last_;
  }
  void expect(std::uint64_t slot, std::int64_t count) { groups_.at(slot).outstanding += count; }
  /// One less; the group itself when it was the last.
  std::optional<Group> finished(std::uint64_t slot) {
    const auto found = groups_.find(slot);
    if (--found->second.outstanding > 0) return {};
    auto group = std::move(found->second);
    groups_.erase(found);
    return group;
  }
  [[nodiscard]] const std::unordered_map<std::uint64_t, Group>& all() const noexcept { return groups_; }

 private:
  std::unordered_map<std::uint64_t, Group> groups_;
  std::uint64_t last_ = 0;
};

}  // namespace tailrace::fragments
