// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fragments/body_call.hpp"
#include "fragments/evaluation.hpp"
#include "fragments/groups.hpp"

namespace tailrace::fragments {

/// What a fragment needs, or what it is about to do.
struct Resolution {
  std::vector<Name> missing;
  std::optional<Fault> fault;
  std::vector<Slot> arguments;       ///< of a call, converted
  std::vector<const Name*> sources;  ///< of a call: the inputs that arguments are, or null
  std::vector<Value> nfarguments;    ///< of a call
  Shared<const Frame> callee_frame;  ///< of a structured call
  AfterActions after;
  std::optional<std::int32_t> rank;   ///< where `locator_cyclic` wants it
  std::optional<Name> out;            ///< of a repeat
  std::optional<Name> label;          ///< of a fragment that its label places, or that waits for pushes
  std::vector<Name> awaited;          ///< of what is missing: what is to be pushed
  std::int32_t first = 0, last = -1;  ///< of a loop; of a repeat, first is k
  bool holds = false;                 ///< of a repeat or condition
  std::vector<bool> used;             ///< inputs that were used
  [[nodiscard]] bool ready() const noexcept { return missing.empty(); }
  /// Forgets all but its memory.
  void clear() {
    missing.clear(), arguments.clear(), sources.clear(), nfarguments.clear(), used.clear(), after.clear(),
        awaited.clear();
    fault.reset(), callee_frame.reset(), rank.reset(), out.reset(), label.reset();
    first = 0, last = -1, holds = false;
  }
};

/// What the execution of a fragment leads to, in the order in which it takes place.
struct Effects {
  std::vector<Post> posts;
  std::vector<Fragment> created;
  std::vector<Removal> deletes;
  std::vector<std::pair<Name, Name>> pushes;
  std::vector<Name> ended;           ///< names without indices, whose block is over
  std::vector<GroupToken> finished;  ///< whom to notify
  std::optional<Fragment> again;     ///< the fragment itself, which continues
  std::optional<Fault> fault;
  bool no_memory = false;  ///< the fault is that there was none
  double body_s = 0;       ///< that the body took, if bodies are timed
};

struct MachineOptions {
  std::int32_t rank = 0;
  std::int32_t batch = 64;       ///< iterations that a loop creates at once
  std::uint32_t depth = 10'000;  ///< calls within each other
  bool timed = false;            ///< bodies
};

/// Iterations that a loop creates at once: no more than the fragments that a rank may have. @local
inline std::int32_t batch_within(std::int64_t live_fragments) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(live_fragments, 1, MachineOptions{}.batch));
}

/// Executes fragments of one rank: the meaning of programs, without queues, stores and messages.
class Machine {
 public:
  /// @local. Errors (input): a body that is not there
  Machine(std::shared_ptr<const Image> image, const Bodies& bodies, const MachineOptions& options);

  [[nodiscard]] const Image& image() const noexcept { return *image_; }
  /// The call of `main`. @local. Errors (usage): words of other number or form than its parameters
  Fragment start(const std::vector<std::string>& words);

  /// Finds out what a fragment still needs, or all that its execution takes. @local
  void resolve(const Fragment& fragment, Resolution& resolution) const;
  /// Executes a fragment that is ready: runs its body on this thread, or creates what it consists of. @local
  Effects execute(Fragment fragment, Resolution& resolution);
  /// The same for a fragment that runs a body. Any thread, also at the same time as all else. @local
  Effects run_body(const Fragment& fragment, Resolution& resolution) const;
  /// One of the fragments that a group waits for has run. @local
  Effects child_finished(const GroupToken& group);

  /// Structured fragments that wait for what they created. @local
  [[nodiscard]] const Groups& groups() const noexcept { return groups_; }
  [[nodiscard]] Groups& groups() noexcept { return groups_; }
  /// How many names this rank has created; further ones are counted from there. @local
  [[nodiscard]] std::uint64_t names() const noexcept { return names_; }
  void continue_from(std::uint64_t names) noexcept { names_ = names; }

  /// The rank that a recommendation gives a fragment that was created, if that needs no data fragment. @local
  [[nodiscard]] std::optional<std::int32_t> wanted_rank(const Fragment& fragment) const;
  /// The label of a fragment that was created, if it says where that runs and needs no data fragment. @local
  [[nodiscard]] std::optional<Name> placing_label(const Fragment& fragment) const;
  /// The home of a data fragment by the rule of its declaration, or nothing. @local
  [[nodiscard]] std::optional<std::int32_t> wanted_home(const Name& name) const;
  /// How far the ranks with copies of a data fragment are apart by the rule of its declaration. @local
  [[nodiscard]] std::optional<std::int32_t> wanted_copies(const Name& name) const;

 private:
  [[nodiscard]] std::optional<std::int32_t> evaluate(const Name& name, const IndexedCode& rule) const;
  Effects call_body(const Fragment& fragment, Resolution& resolution) const;
  void set_outputs(const Fragment& fragment, Resolution& resolution, tailrace_call& call,
                   Effects& effects) const;
  void unfold(Fragment fragment, Resolution& resolution, Effects& effects);
  void unfold_call(const Fragment& fragment, const Resolution& resolution, Effects& effects);
  void unfold_loop(Fragment& fragment, Effects& effects);
  void unfold_repeat(Fragment& fragment, const Resolution& resolution, Effects& effects);
  void create(const Statements& block, Shared<Frame> frame, const Fragment& by, Effects& effects);
  GroupToken group_of(const Statements& block, const Frame& frame, const Fragment& by);
  [[nodiscard]] Shared<const Home> home_of(const Declaration& declaration, const Frame& frame) const;
  static void conclude(AfterActions& after, const GroupToken& group, Effects& effects);

  std::shared_ptr<const Image> image_;
  std::vector<Body> bodies_;  ///< by number of the subroutine
  MachineOptions options_;
  Groups groups_;
  std::uint64_t names_ = 0;
};

}  // namespace tailrace::fragments
