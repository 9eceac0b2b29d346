// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/line.hpp"
#include "mpi/consultation.hpp"
#include "tailrace/exchange/access_map.hpp"

namespace tailrace::exchange {

/// The transports that `auto` chooses from, those first that are right on this machine: each has carried
/// messages around a ring of the ranks, whole and in time. The others are named with the reason.
/// @collective{comm}, synchronises. Cost: the first call of a process tries each of them.
std::vector<TransportTiming> probe(mpi::CommView comm, const mpi::Node& node);

/// Finds the fastest of some transports on the flights of one kind, which take turns at first. What counts is
/// the time that a flight takes from the computation, its median, on the rank where that is longest. All
/// ranks choose alike.
class Choice {
 public:
  /// Of the timings without an obstacle. With a single one there is nothing to choose. Errors (internal):
  /// there is none.
  Choice(mpi::CommView comm, std::vector<TransportTiming> timings);

  /// The transport of the next flight. @collective{comm}. Waits twice, when what all ranks measured is
  /// compared.
  [[nodiscard]] const Transport& next();
  /// A flight took so long. All ranks record theirs in the same order. @local
  void record(const Transport& transport, double cost_s);
  /// Between flights, of a new map of the same shape: if the chosen transport has become much slower since it
  /// was chosen, and slower than the next best was then, the two take turns for some flights. It is left only
  /// if the other one is clearly faster in most of these: what slows down everything changes nothing.
  /// @collective{comm}, synchronises
  void reconsider();

  /// Before the communicator goes: waits for a comparison that is under way. @collective{comm}
  void finish_comparison();

  [[nodiscard]] bool decided() const noexcept { return stage_ == Stage::decided; }
  /// Null until it is decided.
  [[nodiscard]] const Transport* chosen() const noexcept { return chosen_; }
  /// What was tried; once it is decided, with the medians of the slowest ranks. On rank 0; elsewhere those of
  /// this rank.
  [[nodiscard]] const std::vector<TransportTiming>& timings() const noexcept { return timings_; }
  /// What was chosen before and was left for another one. The same on all ranks.
  [[nodiscard]] const std::vector<std::string>& left() const noexcept { return left_; }

 private:
  enum class Stage { measuring, asking, answering, decided };
  /// A transport that is being tried.
  struct Candidate {
    const Transport* transport;
    std::vector<double> costs_s;
  };
  void try_out(const std::vector<std::string>& names, std::size_t rounds);
  [[nodiscard]] bool measured() const;
  void ask();
  [[nodiscard]] std::string winner();
  void wait();
  void decide(const std::string& name);
  [[nodiscard]] const TransportTiming* rival_of(double now_s) const;

  mpi::CommView comm_;
  std::unique_ptr<mpi::Consultation> consultation_;
  std::vector<TransportTiming> timings_;
  std::vector<Candidate> candidates_;  ///< that take turns; first the one that was chosen before, if any
  std::size_t rounds_ = 0;             ///< that count, of each
  std::size_t flights_ = 0;
  Stage stage_ = Stage::measuring;
  const Transport *chosen_ = nullptr, *before_ = nullptr;
  std::vector<double> recent_s_;  ///< costs of the first flights since it was chosen, or of this build
  std::vector<std::string> left_;
};

}  // namespace tailrace::exchange
