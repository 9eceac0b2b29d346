// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// Questions to all ranks and answers to all of them that cost no wait: each is under way while the ranks do
/// something else. Every rank takes part in each question and each answer, in the same order.
class Consultation {
 public:
  static constexpr std::size_t longest_answer = 64;  ///< characters

  explicit Consultation(CommView comm) : comm_(comm) {}
  Consultation(const Consultation&) = delete;
  Consultation& operator=(const Consultation&) = delete;
  /// After the end of what was started, unless an error ends the program.
  ~Consultation();

  /// Hands in this rank's numbers, as many as all others. @collective{comm}, does not wait
  void ask(std::vector<double> mine);
  /// Hands out the root's text; what other ranks pass does not matter. @collective{comm}, does not wait
  void answer(const std::string& text);
  /// True once what was started last is complete on this rank. @local, does not wait
  bool complete();

  /// On the root, after a complete `ask`: the largest of each number over the ranks.
  [[nodiscard]] const std::vector<double>& largest() const noexcept { return values_->largest; }
  /// After a complete `answer`.
  [[nodiscard]] std::string text() const { return values_->text.data(); }

 private:
  struct Values {
    std::vector<double> mine, largest;
    std::array<char, longest_answer + 1> text{};
  };
  CommView comm_;
  Request request_ = Request::none;
  std::unique_ptr<Values> values_ = std::make_unique<Values>();
};

}  // namespace tailrace::mpi
