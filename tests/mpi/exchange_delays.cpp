// SPDX-License-Identifier: BSD-3-Clause
/// Flights over a line that holds messages back, names them in another order than they came in, several at
/// once, and does not always have room: what is random here, a network may do.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "exchange/flight.hpp"
#include "exchange/lines.hpp"
#include "exchange/plan.hpp"
#include "mpi/node.hpp"
#include "mpi_case.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

std::uint64_t seed = 0;  ///< of the lines that are opened next

class Contrary final : public Line {
 public:
  explicit Contrary(const LineConfig& config)
      : beneath_(find_transport("isend").open(config)),
        random_(seed * 1000 + static_cast<std::uint64_t>(config.comm.rank())) {}

  void begin(std::span<std::byte* const> places) override {
    beneath_->begin(places);
    held_.clear();
    let_go_ = 0;
  }
  std::byte* outgoing(std::size_t i) override { return unwilling() ? nullptr : beneath_->outgoing(i); }
  void send(std::size_t i) override { beneath_->send(i); }
  std::optional<std::size_t> arrived() override {
    while (const auto i = beneath_->arrived()) held_.push_back(*i);
    if (let_go_ == 0 && !held_.empty() && !unwilling())
      let_go_ = static_cast<std::size_t>(random_.next()) % held_.size() + 1;
    if (let_go_ == 0) return {};
    --let_go_;
    const auto one = static_cast<std::ptrdiff_t>(random_.next() % held_.size());
    const std::size_t i = held_[static_cast<std::size_t>(one)];
    held_.erase(held_.begin() + one);
    return i;
  }
  const std::byte* incoming(std::size_t i) const override { return beneath_->incoming(i); }
  bool end() override {
    const bool ended = beneath_->end();
    return ended && !unwilling();
  }
  std::size_t memory_bytes() const noexcept override { return beneath_->memory_bytes(); }

 private:
  bool unwilling() { return random_.next() % 3 != 0; }

  std::unique_ptr<Line> beneath_;
  SplitMix64 random_;
  std::vector<std::size_t> held_;  ///< messages that have come and were not named
  std::size_t let_go_ = 0;         ///< of these, how many are named now
};

constexpr Transport contrary{
    "contrary", "delays, reorders and coalesces",
    [](LineConfig config) -> std::unique_ptr<Line> { return std::make_unique<Contrary>(config); }};

constexpr std::int64_t space = 80;

std::vector<std::int64_t> indices_of(int rank, int ranks) {
  SplitMix64 random(static_cast<std::uint64_t>(rank * 100 + ranks));
  std::vector<std::int64_t> indices(60 + static_cast<std::size_t>(rank));
  for (auto& index : indices) index = static_cast<std::int64_t>(random.next() % space);
  return indices;
}

/// What a map has, without its choice of transports.
struct Flights {
  Flights(mpi::CommView parent, const Distribution& distribution)
      : comm(mpi::Comm::duplicate(parent)),
        node(comm),
        indices(indices_of(parent.rank(), parent.size())),
        plan(make_plan(comm, distribution, indices)),
        single(make_contribution_plan(comm, plan)),
        settings{comm, &contrary, {}} {}

  template <class To, class From>
  FlightContext context(Lines& lines, const To& to, const From& from) {
    const auto configure = [&]() -> LineConfig {
      return {.comm = comm, .node = &node, .tag = ++tag, .to = peers_of(to, 8), .from = peers_of(from, 8)};
    };
    return {.line = lines.take({8}, configure), .limit_s = 60, .traffic = &traffic};
  }
  [[nodiscard]] std::vector<double> array() const {
    return std::vector<double>(static_cast<std::size_t>(plan.inspection.array_size()));
  }

  mpi::Comm comm;
  mpi::Node node;
  std::vector<std::int64_t> indices;
  Plan plan;
  ContributionPlan single;
  LineSettings settings;
  Lines to_readers{settings}, to_owners{settings}, of_contributions{settings};
  Traffic traffic;
  int tag = 0;
};

Fields fields_of(std::vector<double>& array) {
  const Field one = field(std::span(array));
  return Fields(std::span(&one, 1));
}

double uneven(int rank, std::size_t position) {
  SplitMix64 random(static_cast<std::uint64_t>(rank) * 1000 + position);
  return std::ldexp(random.unit() - 0.5, static_cast<int>(random.next() % 60));
}

}  // namespace

MPI_CASE("two flights at once bring the values whatever order and delay messages have",
         ranks{1, 2, 3, 4, 7}) {
  const Distribution distribution = Cyclic(space, comm.size());
  for (seed = 1; seed <= 5; ++seed) {
    Flights all(comm, distribution);
    for (int round = 0; round < 6; ++round) {
      auto x = all.array(), y = x;
      for (std::int64_t local = 0; local < all.plan.inspection.owned; ++local)
        x[static_cast<std::size_t>(local)] =
            static_cast<double>(100 * distribution.global(comm.rank(), local) + round);
      y = x;
      const auto& sources = all.plan.inspection.sources;
      auto first =
          start_gather(all.context(all.to_readers, all.plan.readers, sources), all.plan, fields_of(x));
      auto second =
          start_gather(all.context(all.to_readers, all.plan.readers, sources), all.plan, fields_of(y));
      second->progress();
      second->finish();
      first->finish();
      int wrong = 0;
      for (std::size_t i = 0; i < all.indices.size(); ++i) {
        const auto slot = static_cast<std::size_t>(all.plan.inspection.slots[i]);
        wrong += x[slot] != static_cast<double>(100 * all.indices[i] + round);
        wrong += y[slot] != x[slot];
      }
      REQUIRE(wrong == 0);
    }
  }
}

MPI_CASE("sums have the same bits whatever order and delay messages have", ranks{1, 2, 3, 4, 7}) {
  const Distribution distribution = Cyclic(space, comm.size());
  std::vector<double> by_rank, one_by_one;
  for (seed = 1; seed <= 5; ++seed) {
    Flights all(comm, distribution);
    for (int round = 0; round < 6; ++round) {
      std::vector<double> values;
      for (std::size_t i = 0; i < all.indices.size(); ++i) values.push_back(uneven(comm.rank(), i));
      auto fixed = all.array(), free = fixed;
      start_scatter_of_positions(all.context(all.to_owners, all.plan.inspection.sources, all.plan.readers),
                                 all.plan, fields_of(values), fields_of(fixed), {}, true)
          ->finish();
      start_contributions(all.context(all.of_contributions, all.single.out, all.single.in), all.single,
                          comm.rank(), fields_of(values), fields_of(free), {})
          ->finish();
      if (by_rank.empty()) by_rank = fixed, one_by_one = free;
      REQUIRE(fixed == by_rank);
      REQUIRE(free == one_by_one);
    }
  }
  // And those of a loop over ranks and positions.
  std::vector<double> expected(one_by_one.size());
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto indices = indices_of(rank, comm.size());
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (distribution.is_local(indices[i], comm.rank()))
        expected[static_cast<std::size_t>(distribution.local(indices[i]))] += uneven(rank, i);
  }
  for (std::int64_t local = 0; local < distribution.count(comm.rank()); ++local)
    CHECK(one_by_one[static_cast<std::size_t>(local)] == expected[static_cast<std::size_t>(local)]);
}
