// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exchange/flight_order.hpp"
#include "exchange/lines.hpp"
#include "exchange/plan.hpp"
#include "exchange/traffic.hpp"
#include "tailrace/exchange/access_map.hpp"

namespace tailrace::exchange {

/// Several fields whose entries travel together: in a message all entries of the first one, then of the next.
class Fields {
 public:
  explicit Fields(std::span<const Field> list) : list_(list.begin(), list.end()) {}
  [[nodiscard]] std::size_t entry_bytes() const noexcept;
  [[nodiscard]] const std::vector<Field>& list() const noexcept { return list_; }
  /// Writes entries as a message.
  void pack(const Entries& entries, std::byte* message) const;
  /// Combines a message with entries.
  void combine(const Entries& entries, const std::byte* message, const Combine& how) const;
  /// Copies `count` entries from `first` on out of the arrays, or into them.
  void copy_out(std::int64_t first, std::int64_t count, std::byte* message) const;
  void copy_in(std::int64_t first, std::int64_t count, const std::byte* message) const;

 private:
  std::vector<Field> list_;
};

/// What flights of a map have in common.
struct FlightContext {
  std::shared_ptr<const void> map = {};  ///< the flight's, which it needs to the end
  Lines::Lease line;
  double limit_s;
  Traffic* traffic;
  const Entries* sums = nullptr;         ///< the owned entries of what a line that combines has combined
  std::unique_ptr<FlightOrder> order{};  ///< with debug checks
};

/// A flight under way: packs what the line has room for, takes what comes.
class Flight::Work {
 public:
  explicit Work(FlightContext context);
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;

  void notify(std::function<void(int)> arrival) { arrival_ = std::move(arrival); }
  /// @local, does not wait
  void progress();
  void finish();

 protected:
  /// Begins the round; what derived classes do once they are made. All that they do before is part of it.
  void begin(std::span<std::byte* const> places);
  virtual void pack(std::size_t i, std::byte* message) = 0;
  /// The message of sender i is there.
  virtual void take(std::size_t i) = 0;
  /// Does what needs no message and comes before what messages bring: once, when the first are on their way.
  virtual void begun() {}
  /// Does what needs no message and may come late: once, when the caller has finished and all that fits is on
  /// its way. Returns whether there was anything to do.
  virtual bool complete() { return false; }
  void arrived(std::size_t i) const {
    if (arrival_) arrival_(context_.line.from()[i].rank);
  }
  [[nodiscard]] const std::byte* message(std::size_t i) const { return context_.line->incoming(i); }
  [[nodiscard]] const FlightContext& context() const noexcept { return context_; }
  /// Whether the message of sender i has come.
  [[nodiscard]] bool is_here(std::size_t i) const noexcept { return here_[i] != 0; }
  [[nodiscard]] std::size_t senders() const noexcept { return context_.line.from().size(); }

 private:
  /// Returns whether all messages have been sent and taken.
  bool advance();
  void send_what_fits();
  [[noreturn]] void report_silence() const;

  FlightContext context_;
  std::vector<std::size_t>& unsent_ = context_.line.room().unsent;
  std::vector<char>& here_ = context_.line.room().here;
  std::size_t missing_;
  std::function<void(int)> arrival_;
  double begun_s_, cost_s_ = 0;  ///< when it began, and what it has taken from the computation so far
};

/// Owned entries to the landing slots of those that read them.
std::unique_ptr<Flight::Work> start_gather(FlightContext context, const Plan& plan, Fields fields);
/// Landing slots to the owners, combined there as they come, or by rank.
std::unique_ptr<Flight::Work> start_scatter(FlightContext context, const Plan& plan, Fields fields,
                                            const Combine& how, bool by_rank);
/// The same from the value of each position; what goes to one owner's slot is combined before it leaves.
std::unique_ptr<Flight::Work> start_scatter_of_positions(FlightContext context, const Plan& plan,
                                                         Fields values, Fields into, const Combine& how,
                                                         bool by_rank);
/// The value of each position to the owners, combined there one by one in the order (rank, position).
std::unique_ptr<Flight::Work> start_contributions(FlightContext context, const ContributionPlan& plan,
                                                  int rank, Fields values, Fields into, const Combine& how);

}  // namespace tailrace::exchange
