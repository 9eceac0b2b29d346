// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fragments/checkpoints.hpp"
#include "fragments/placement.hpp"
#include "fragments/printed_lines.hpp"
#include "fragments/state.hpp"
#include "fragments/task.hpp"

namespace tailrace::fragments {

/// Saves what a rank has of a paused program, and gives each rank its own of what was saved, whatever ranks
/// there were: everything has its place by its name.
class ProgramState {
 public:
  /// Describes where the runtime of a rank has its part of the program.
  struct Parts {
    Machine& machine;
    Store& store;
    const Tasks& tasks;  ///< of which some wait
    std::array<const std::deque<Task*>*, 3> queues;
    std::vector<Message>& failures;
    std::vector<Stuck>& failed;
    PrintedLines* printed;
    const Placement& placement;
    std::function<void(StoredData)> restore;
    std::function<void(Fragment, bool placed)> arrive;
  };
  /// Sets a handler. @local
  ProgramState(Mail& mail, Parts parts);
  ProgramState(const ProgramState&) = delete;
  ProgramState& operator=(const ProgramState&) = delete;

  /// Saves the program, which was started with these words, and of which this rank has executed so many
  /// fragments in this run. @collective{ranks}, synchronises
  void save(Checkpoints& checkpoints, const std::vector<std::string>& words, std::int64_t executed,
            bool stops);
  /// Takes what was saved, if the program is to begin there, and sends others theirs; it has arrived when no
  /// message is under way. @collective{ranks}. Errors (input): it is of another program or of other words
  bool restore(Checkpoints& checkpoints, const std::vector<std::string>& words);
  /// On rank 0: fragments that all ranks had executed when the state was saved. @local
  [[nodiscard]] std::int64_t executed_before() const noexcept { return executed_before_; }

 private:
  void pass(checkpoint::StateArchive& archive, const std::vector<std::string>& words,
            StateItems& items) const;
  void collect(StateItems& items, std::int64_t executed);
  [[nodiscard]] int rank_of(std::int32_t creator) const noexcept { return creator % mail_->size(); }
  [[nodiscard]] int rank_of(const StateItem& item) const;
  [[nodiscard]] int rank_of(const Fragment& fragment) const;
  void share_out(const EndedRange& range, std::map<int, EndedNames>& ended) const;
  void pass_on(int rank, StateItem item);
  void take(const EndedRange& range) { parts_.store.restore(range); }
  void take(StoredData data) { parts_.restore(std::move(data)); }
  void take(OpenGroup open) { parts_.machine.groups().restore(open.token, std::move(open.group)); }
  void take(const Counters& created);
  void take(const Executed& executed) { executed_before_ += executed.fragments; }
  void take(BegunLine line);
  void take(Message failure) { parts_.failures.push_back(std::move(failure)); }
  void take(Stuck failed) { parts_.failed.push_back(std::move(failed)); }
  void take(Fragment fragment);
  void take(StateItem item) {
    std::visit([this](auto& what) { take(std::move(what)); }, item);
  }

  Mail* mail_;
  Parts parts_;
  std::map<std::int32_t, Counters> counters_;  ///< of ranks, of earlier runs too, that belong to this one
  std::int64_t executed_before_ = 0;
};

}  // namespace tailrace::fragments
