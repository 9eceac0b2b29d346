// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fragments/placement.hpp"
#include "fragments/store.hpp"

namespace tailrace::fragments {

/// Values that `afterpush x => label` brings to labelled fragments that `wait` for them: the home of a value
/// sends it to the home of the label as soon as both the value and the push are there, so nobody asks. There
/// it is kept until its fragment comes. A push is no use of the value, who takes it is: of a value with a
/// use count, its home gets word. Fragments that wait for what nobody has pushed ask for it once there is
/// nothing else to do (`give_up`), so it never matters for results whether, and when, somebody pushes.
class Pushes {
 public:
  /// Has a fragment of this rank, which waits, take a value; asks for one on its behalf.
  using Take = std::function<void(std::uint32_t token, const Id&, Value)>;
  using Request = std::function<void(const Name&, const Reader&)>;

  /// Sets handlers. `used` is called for uses of a value whose home is this rank and that others have pushed.
  /// @local
  Pushes(Mail& mail, const Placement& placement, const Store& store, Take take, Request request,
         std::function<void(const Name&, const Origin&)> used);
  Pushes(const Pushes&) = delete;
  Pushes& operator=(const Pushes&) = delete;

  /// Has values that a fragment writes take its pushes of them along, unless it deletes them. @local
  static void join(Effects& effects);
  /// A fragment has pushed a data fragment to a label. @local, does not wait
  void push(const Name& name, const Name& label);
  /// At the home: the value has been written, with these pushes of its writer. @local, does not wait
  void written(const Name& name, const std::vector<Name>& labels);

  /// What a fragment that is to wait expects from pushes to its label.
  struct Expected {
    Id label;
    std::vector<Name> names;  ///< none if pushes to its label do not come to this rank
  };
  [[nodiscard]] Expected expected_by(const Task& task) const;
  /// Whether a value is expected, and not to be asked for: the fragment takes it as soon as it is here.
  /// @local
  bool await(const Expected& expected, const Name& name, const Task& task);
  /// How many fragments wait for pushes: while there are any, the program is not over. @local
  [[nodiscard]] std::size_t awaited() const noexcept { return awaited_count_; }
  /// Has all these values asked for. @local, does not wait
  void give_up();
  /// Bytes of values that have been pushed here and that nobody has taken. @local
  [[nodiscard]] std::int64_t live_bytes() const noexcept { return live_bytes_; }

 private:
  using Key = std::pair<Id, Id>;  ///< of a label and a data fragment
  struct Pushed {
    Value value;
    bool counted = false;  ///< it has a use count
  };
  struct Awaiting {
    Name name;
    std::uint32_t token = 0;
    Origin reader;
  };
  void push_here(const Name& name, const Name& label);
  void arrive(const Key& key, const Name& name, Pushed pushed);
  void use(const Name& name, const Origin& reader);

  Mail* mail_;
  const Placement* placement_;
  const Store* store_;
  Take take_;
  Request request_;
  std::function<void(const Name&, const Origin&)> used_;
  std::unordered_map<Id, std::vector<Name>, IdHash> early_;  ///< labels to which is pushed what is not there
  std::map<Key, Pushed> kept_;
  std::map<Key, std::vector<Awaiting>> awaiting_;
  std::size_t awaited_count_ = 0;
  std::int64_t live_bytes_ = 0;
};

}  // namespace tailrace::fragments
