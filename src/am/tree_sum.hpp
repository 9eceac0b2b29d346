// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tailrace::am {

class Endpoint;
class Message;

/// Sums of numbers of all ranks that nobody waits for: up a binary tree of ranks and down again, at most
/// three messages per rank to send and three to receive, 2 log2(ranks) one after the other.
class TreeSum {
 public:
  static constexpr std::size_t count = 4;
  using Values = std::array<std::int64_t, count>;

  /// Sets the handler of a module, which is its own. @local
  TreeSum(Endpoint& endpoint, int module);
  TreeSum(const TreeSum&) = delete;
  TreeSum& operator=(const TreeSum&) = delete;

  /// Contributes to the next sum. The sum before is complete. @collective{ranks}, does not wait
  void start(const Values& mine);
  /// Returns whether the sum is complete, which the endpoint's `progress` makes it. @local
  [[nodiscard]] bool complete() const noexcept { return !started_; }
  [[nodiscard]] const Values& result() const noexcept { return result_; }
  /// The ranks whose contribution, or whose result, this rank waits for.
  [[nodiscard]] std::vector<int> missing() const;

 private:
  void receive(const Message& message);
  void send_up_if_whole();
  void send_down(const Values& sum);
  void send(int to, const Values& values);
  [[nodiscard]] int children() const noexcept;

  Endpoint* endpoint_;
  int module_;
  Values sum_{}, result_{};
  int contributions_ = 0;
  std::array<bool, 2> has_contributed_{};  ///< the children
  bool started_ = false;
};

/// Finds out that no message is under way and no rank has anything to do, exactly: two sums that follow each
/// other, of the messages that were sent and of those that were handled, are the same four times over
/// (Mattern: Algorithms for distributed termination detection, 1987). Never early, however late a message is.
class Termination {
 public:
  explicit Termination(Endpoint& endpoint);

  /// Says that this rank has nothing to do (`passive`) or has, and how much it holds back; returns whether
  /// all is over, the same on all ranks. To be called again and again between calls of `progress`; sums are
  /// started while passive.
  /// @collective{ranks}, does not wait
  bool reached(bool passive, std::int64_t held = 0, std::int64_t noted = 0);
  /// The sum of `held` over the ranks when all was over. @local
  [[nodiscard]] std::int64_t held() const noexcept { return held_; }
  /// The same of `noted`, which is anything that ranks want to know of each other at that moment. @local
  [[nodiscard]] std::int64_t noted() const noexcept { return noted_; }
  /// Says that all proceeds: what ranks held back is done. @collective{ranks}, does not wait
  void resume() noexcept { reached_ = false, last_ = -1; }
  /// Sums so far.
  [[nodiscard]] int waves() const noexcept { return waves_; }

 private:
  void look_at_sum();

  Endpoint* endpoint_;
  bool under_way_ = false, reached_ = false;
  std::int64_t last_ = -1, held_ = 0, noted_ = 0;
  int waves_ = 0;
};

}  // namespace tailrace::am
