// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/flight.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <numeric>

#include "base/aligned.hpp"
#include "base/system.hpp"
#include "mpi/look_until.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

std::size_t Fields::entry_bytes() const noexcept {
  return std::accumulate(list_.begin(), list_.end(), std::size_t{0},
                         [](std::size_t sum, const Field& field) { return sum + field.entry_bytes(); });
}

void Fields::pack(const Entries& entries, std::byte* message) const {
  for (const Field& field : list_) {
    entries.copy_from(field, message);
    message += static_cast<std::size_t>(entries.size()) * field.entry_bytes();
  }
}

void Fields::combine(const Entries& entries, const std::byte* message, const Combine& how) const {
  for (const Field& field : list_) {
    entries.combine_into(field, message, how);
    message += static_cast<std::size_t>(entries.size()) * field.entry_bytes();
  }
}

void Fields::copy_out(std::int64_t first, std::int64_t count, std::byte* message) const {
  for (const Field& field : list_) {
    const std::size_t bytes = static_cast<std::size_t>(count) * field.entry_bytes();
    std::memcpy(
        message,
        static_cast<const std::byte*>(field.data) + static_cast<std::size_t>(first) * field.entry_bytes(),
        bytes);
    message += bytes;
  }
}

void Fields::copy_in(std::int64_t first, std::int64_t count, const std::byte* message) const {
  for (const Field& field : list_) {
    const std::size_t bytes = static_cast<std::size_t>(count) * field.entry_bytes();
    auto* const place =
        static_cast<std::byte*>(field.data) + static_cast<std::size_t>(first) * field.entry_bytes();
    if (place != message) std::memcpy(place, message, bytes);
    message += bytes;
  }
}

Flight::Work::Work(FlightContext context)
    : context_(std::move(context)), missing_(senders()), begun_s_(monotonic_s()) {
  here_.assign(senders(), 0);
  unsent_.clear();
  for (std::size_t i = context_.line.to().size(); i > 0; --i) unsent_.push_back(i - 1);
}

void Flight::Work::begin(std::span<std::byte* const> places) {
  const std::int64_t sent = context_.traffic->counts.bytes;
  ++context_.traffic->counts.flights;
  context_.line->begin(places);
  send_what_fits();
  begun();
  cost_s_ += context_.traffic->span(begun_s_, sent);
}

void Flight::Work::send_what_fits() {
  for (std::size_t left = unsent_.size(); left > 0; --left) {
    const std::size_t i = unsent_[left - 1];
    std::byte* const message = context_.line->outgoing(i);
    if (message == nullptr) continue;
    pack(i, message);
    context_.line->send(i);
    context_.traffic->count(context_.line.to()[i], context_.line.batches(i));
    unsent_.erase(unsent_.begin() + static_cast<std::ptrdiff_t>(left) - 1);
  }
}

void Flight::Work::progress() {
  const double start_s = monotonic_s();
  advance();
  cost_s_ += monotonic_s() - start_s;
}

bool Flight::Work::advance() {
  send_what_fits();
  while (const auto i = context_.line->arrived()) {
    here_[*i] = 1;
    --missing_;
    take(*i);
  }
  return unsent_.empty() && missing_ == 0;
}

void Flight::Work::finish() {
  const double start_s = monotonic_s();
  const std::int64_t sent = context_.traffic->counts.bytes;
  const bool sends = !unsent_.empty();
  send_what_fits();
  const bool computes = complete();
  const double waiting_since_s = sends || computes ? monotonic_s() : start_s;
  bool waited = false, all_here = false;
  const auto look = [&] {
    if (context_.order && context_.order->agreed()) context_.order.reset();
    all_here = all_here || advance();
    if (!waited && unsent_.empty()) {
      context_.line->wait_for_others();
      waited = true;
    }
    return all_here && !context_.order && context_.line->end();
  };
  if (!mpi::look_until(look, context_.limit_s)) report_silence();
  const double taken_s = context_.traffic->span(start_s, sent);
  cost_s_ += taken_s;
  auto& counts = context_.traffic->counts;
  counts.wait_s += start_s + taken_s - waiting_since_s;
  counts.cost_s += cost_s_;
  counts.flight_s += start_s + taken_s - begun_s_;
  context_.line.give_back(cost_s_);
}

void Flight::Work::report_silence() const {
  std::vector<int> silent;
  for (std::size_t i = 0; i < here_.size(); ++i)
    if (!is_here(i)) silent.push_back(context_.line.from()[i].rank);
  for (const std::size_t i : unsent_) silent.push_back(context_.line.to()[i].rank);
  // Where all is here, somebody has not taken what this rank sent; MPI does not say who.
  const auto what = silent.empty() ? fmt::format("messages to ranks {} were not all taken",
                                                 fmt::join(ranks_of(context_.line.to()), ", "))
                                   : fmt::format("no values came from ranks {}", fmt::join(silent, ", "));
  throw Error(ErrorKind::internal, fmt::format("{} for {} s", what, context_.limit_s),
              "look at what these ranks are doing: all ranks begin the same flights");
}

namespace {

class Gather final : public Flight::Work {
 public:
  Gather(FlightContext context, const Plan& plan, Fields fields)
      : Work(std::move(context)), plan_(plan), fields_(std::move(fields)) {
    auto& places = this->context().line.room().places;
    places.clear();
    for (const Source& source : plan_.inspection.sources) places.push_back(place_of(source));
    begin(places);
  }

 private:
  /// Where a message can land whole: that of a single field is contiguous there.
  [[nodiscard]] std::byte* place_of(const Source& source) const {
    if (fields_.list().size() != 1) return nullptr;
    const Field& field = fields_.list().front();
    return static_cast<std::byte*>(field.data) +
           static_cast<std::size_t>(first(source)) * field.entry_bytes();
  }
  [[nodiscard]] std::int64_t first(const Source& source) const noexcept {
    return std::int64_t{plan_.inspection.owned} + source.first;
  }
  void pack(std::size_t i, std::byte* message) override { fields_.pack(plan_.readers[i].entries, message); }
  void take(std::size_t i) override {
    const Source& source = plan_.inspection.sources[i];
    fields_.copy_in(first(source), source.count, message(i));
    arrived(i);
  }

  const Plan& plan_;
  Fields fields_;
};

/// Flights whose messages are combined with owned entries, in the order of arrival or by rank.
class Combining : public Flight::Work {
 public:
  Combining(FlightContext context, const std::vector<Share>& shares, Fields into, const Combine& how,
            bool by_rank)
      : Work(std::move(context)), shares_(shares), into_(std::move(into)), how_(how), by_rank_(by_rank) {}

 protected:
  void take(std::size_t i) override {
    if (context().line.combines()) return take_sums();
    if (!by_rank_) return combine(i);
    while (next_ < senders() && is_here(next_)) combine(next_++);
  }
  virtual void combine(std::size_t i) {
    into_.combine(shares_[i].entries, message(i), how_);
    arrived(i);
  }
  /// Begins the round; messages have no place of their own.
  void begin_anywhere() {
    auto& places = context().line.room().places;
    places.assign(senders(), nullptr);
    begin(places);
  }
  [[nodiscard]] const Fields& into() const noexcept { return into_; }
  [[nodiscard]] const Combine& how() const noexcept { return how_; }

 private:
  /// What the line has combined, once all senders have contributed.
  void take_sums() {
    if (++next_ < senders()) return;
    into_.combine(*context().sums, message(0), how_);
    for (std::size_t i = 0; i < senders(); ++i) arrived(i);
  }

  const std::vector<Share>& shares_;
  Fields into_;
  Combine how_;
  bool by_rank_;
  std::size_t next_ = 0;  ///< whose turn it is, or how many have come
};

class Scatter final : public Combining {
 public:
  Scatter(FlightContext context, const Plan& plan, Fields fields, const Combine& how, bool by_rank)
      : Combining(std::move(context), plan.readers, std::move(fields), how, by_rank), plan_(plan) {
    begin_anywhere();
  }

 private:
  void pack(std::size_t i, std::byte* message) override {
    const Source& source = plan_.inspection.sources[i];
    into().copy_out(std::int64_t{plan_.inspection.owned} + source.first, source.count, message);
  }
  const Plan& plan_;
};

/// Landing slots that no array of the caller has, for each field of an entry size.
class Landing {
 public:
  Landing(const Fields& like, std::int64_t slots, const Combine& how) {
    for (Field field : like.list()) {
      memory_.emplace_back(static_cast<std::size_t>(slots) * field.entry_bytes());
      field.data = memory_.back().data();
      field.entries = slots;
      set_neutral(field, how);
      list_.push_back(field);
    }
  }
  [[nodiscard]] const std::vector<Field>& list() const noexcept { return list_; }

 private:
  std::vector<AlignedVector<std::byte>> memory_;
  std::vector<Field> list_;
};

class ScatterOfPositions final : public Combining {
 public:
  ScatterOfPositions(FlightContext context, const Plan& plan, const Fields& values, Fields into,
                     const Combine& how, bool by_rank)
      : Combining(std::move(context), plan.readers, std::move(into), how, by_rank),
        plan_(plan),
        landing_(values, static_cast<std::int64_t>(plan.inspection.wanted.size()), how),
        landing_fields_(landing_.list()) {
    const Inspection& inspection = plan.inspection;
    for (std::size_t i = 0; i < values.list().size(); ++i)
      combine_positions(values.list()[i], inspection.slots, inspection.owned, this->into().list()[i],
                        landing_.list()[i], how);
    begin_anywhere();
  }

 private:
  void pack(std::size_t i, std::byte* message) override {
    const Source& source = plan_.inspection.sources[i];
    landing_fields_.copy_out(source.first, source.count, message);
  }
  const Plan& plan_;
  Landing landing_;
  Fields landing_fields_;
};

class Contributions final : public Combining {
 public:
  Contributions(FlightContext context, const ContributionPlan& plan, int rank, Fields values, Fields into,
                const Combine& how)
      : Combining(std::move(context), plan.in, std::move(into), how, true),
        plan_(plan),
        values_(std::move(values)) {
    while (turn_ < plan.in.size() && plan.in[turn_].rank < rank) ++turn_;
    begin_anywhere();
  }

 private:
  void pack(std::size_t i, std::byte* message) override { values_.pack(plan_.out[i].entries, message); }
  void combine(std::size_t i) override {
    Combining::combine(i);
    if (i + 1 == turn_) combine_own(plan_.in_turn);
  }
  void begun() override {
    if (turn_ == 0) combine_own(plan_.in_turn);
  }
  bool complete() override {
    combine_own(plan_.alone);
    return true;
  }
  void combine_own(const PairedEntries& own) {
    for (std::size_t i = 0; i < values_.list().size(); ++i)
      own.combine(values_.list()[i], into().list()[i], how());
  }
  const ContributionPlan& plan_;
  Fields values_;
  std::size_t turn_ = 0;  ///< how many other ranks come before this one
};

}  // namespace

std::unique_ptr<Flight::Work> start_scatter_of_positions(FlightContext context, const Plan& plan,
                                                         Fields values, Fields into, const Combine& how,
                                                         bool by_rank) {
  return std::make_unique<ScatterOfPositions>(std::move(context), plan, values, std::move(into), how,
                                              by_rank);
}

std::unique_ptr<Flight::Work> start_contributions(FlightContext context, const ContributionPlan& plan,
                                                  int rank, Fields values, Fields into, const Combine& how) {
  return std::make_unique<Contributions>(std::move(context), plan, rank, std::move(values), std::move(into),
                                         how);
}

std::unique_ptr<Flight::Work> start_gather(FlightContext context, const Plan& plan, Fields fields) {
  return std::make_unique<Gather>(std::move(context), plan, std::move(fields));
}

std::unique_ptr<Flight::Work> start_scatter(FlightContext context, const Plan& plan, Fields fields,
                                            const Combine& how, bool by_rank) {
  return std::make_unique<Scatter>(std::move(context), plan, std::move(fields), how, by_rank);
}

}  // namespace tailrace::exchange
