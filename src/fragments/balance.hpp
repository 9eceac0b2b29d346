// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "fragments/diffusion.hpp"
#include "fragments/move_costs.hpp"
#include "fragments/recording.hpp"
#include "fragments/stealing.hpp"
#include "fragments/task.hpp"

namespace tailrace::fragments {

/// The fragments of a rank that are ready, and may move.
struct ReadyFragments {
  Tasks& tasks;
  std::deque<Task*>& bodies;
  std::deque<Task*>& unfolding;
  std::int64_t& foreign_bytes;  ///< of values that came with those that are there
  Recording& recording;

  /// Ready bodies that may move and are worth it, at most a share of them and at most so many, of the last
  /// ones; otherwise the structured fragment that would be unfolded last, if it is not the only one. @local
  std::vector<Fragment> spare(double share, std::size_t most, const MoveCosts& costs);

 private:
  void move(std::vector<Fragment>& spared, std::deque<Task*>& queue, std::size_t at);
};

/// How fragments come to ranks that have less to do.
class Balance {
 public:
  using Take = std::function<void(std::vector<Fragment>)>;

  /// Sets handlers. `way` is one of `balance_words`; `take` gets what other ranks gave. @local. Errors
  /// (usage): another word, with what is known
  Balance(Mail& mail, const std::string& way, ReadyFragments ready, Take take);
  Balance(const Balance&) = delete;
  Balance& operator=(const Balance&) = delete;

  /// Whether fragments may move at all. @local
  [[nodiscard]] bool active() const noexcept { return stealing_ || diffusion_; }
  /// A body has run, and was timed. @local
  void ran(const Fragment& fragment, const Effects& effects) { costs_.ran(fragment, effects); }
  /// After each step, and when there was none. @local, does not wait
  void look(bool worked, bool idle, const Work& work);

 private:
  ReadyFragments ready_;
  Take take_;
  MoveCosts costs_;
  std::optional<Stealing> stealing_;
  std::optional<Diffusion> diffusion_;
};

}  // namespace tailrace::fragments
