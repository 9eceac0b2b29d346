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
  Shared<const CallRecord> call;
};

/// A value on its way into the store.
struct Post {
  Name name;
  Value value;
  std::int32_t uses = -1;        ///< after which it goes; -1 is without limit
  std::int32_t count_rule = -1;  ///< which rule of its writer says the number of uses
  Origin writer;
  std::vector<Name> pushes{};  ///< labels to which its writer pushes it; not in its form as bytes
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
  std::vector<Name> ended;  ///< declared by a block that is over; without indices
  [[nodiscard]] bool empty() const noexcept {
    return sets.empty() && deletes.empty() && pushes.empty() && ended.empty();
  }
  void clear() { sets.clear(), deletes.clear(), pushes.clear(), ended.clear(); }
};

/// Structured fragments of this rank that wait until all they created has run, and blocks whose data
/// fragments go then.
class Groups {
 public:
  struct Group {
    std::int64_t outstanding = 0;
    Origin origin;
    GroupToken parent;
    AfterActions after;
  };

  GroupToken open(std::int32_t rank, Origin origin, const GroupToken& parent, AfterActions after) {
    const GroupToken token{rank, ++last_};
    groups_.emplace(token, Group{0, std::move(origin), parent, std::move(after)});
    return token;
  }
  void expect(const GroupToken& token, std::int64_t count) { groups_.at(token).outstanding += count; }
  /// One less; the group itself when it was the last.
  std::optional<Group> finished(const GroupToken& token) {
    const auto found = groups_.find(token);
    if (--found->second.outstanding > 0) return {};
    auto group = std::move(found->second);
    groups_.erase(found);
    return group;
  }
  /// Takes a group of an earlier run of the program.
  void restore(const GroupToken& token, Group group) { groups_.emplace(token, std::move(group)); }
  /// How many this rank has opened; further ones are counted from there.
  [[nodiscard]] std::uint64_t opened() const noexcept { return last_; }
  void continue_from(std::uint64_t opened) noexcept { last_ = opened; }
  [[nodiscard]] const std::unordered_map<GroupToken, Group, GroupHash>& all() const noexcept {
    return groups_;
  }

 private:
  std::unordered_map<GroupToken, Group, GroupHash> groups_;
  std::uint64_t last_ = 0;
};

}  // namespace tailrace::fragments
