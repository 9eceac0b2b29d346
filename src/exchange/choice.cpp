// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include "base/system.hpp"
#include "mpi/look_until.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

/// Rounds that each candidate is measured in; the one before is not counted. Of two, when one of them was
/// chosen before: more, as noise must not decide.
constexpr std::size_t first_rounds = 5, rounds_of_two = 15;
/// Flights of a build that are looked at, and that are enough to judge a transport by.
constexpr std::size_t recent_flights = 64, enough_flights = 8;
/// A transport that takes so many times as long as when it was chosen has become slower.
constexpr double slower = 1.5;
/// It is left for one that takes at most this part of its time in this share of the rounds of both.
constexpr double clearly_faster = 0.9, needed_share = 0.75;
/// Seconds in which a message around a ring has to arrive.
constexpr double ring_limit_s = 5;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Sends messages to the next rank, in rounds, and looks at what comes from the one before.
class Ring {
 public:
  Ring(mpi::CommView comm, const mpi::Node& node, std::size_t bytes) : comm_(comm) {
    config_ = {.comm = comm, .node = &node, .tag = 0, .to = {}, .from = {}};
    if (comm.size() == 1) return;
    config_.to.push_back({(comm.rank() + 1) % comm.size(), bytes});
    config_.from.push_back({before(), bytes});
  }
  /// Returns whether all rounds went well here.
  [[nodiscard]] bool is_right(const Transport& transport) const {
    const auto line = transport.open(config_);
    bool right = true;
    for (int round = 1; round <= 3; ++round) right = run(*line, round) && right;
    return right;
  }

 private:
  [[nodiscard]] int before() const { return (comm_.rank() + comm_.size() - 1) % comm_.size(); }
  static std::byte content(int rank, int round) { return static_cast<std::byte>(17 * rank + round); }

  bool run(Line& line, int round) const {
    line.begin(std::vector<std::byte*>(config_.from.size()));
    bool sent = config_.to.empty(), come = config_.from.empty(), waited = false, right = true;
    const auto look = [&] {
      if (std::byte* const out = sent ? nullptr : line.outgoing(0)) {
        std::memset(out, static_cast<int>(content(comm_.rank(), round)), config_.to[0].bytes);
        line.send(0);
        sent = true;
      }
      if (sent && !waited) line.wait_for_others(), waited = true;
      if (!come && line.arrived()) {
        const std::span in(line.incoming(0), config_.from[0].bytes);
        right =
            std::all_of(in.begin(), in.end(), [&](std::byte one) { return one == content(before(), round); });
        come = true;
      }
      return sent && come && line.end();
    };
    return mpi::look_until(look, ring_limit_s) && right;
  }

  mpi::CommView comm_;
  LineConfig config_;
};

/// Why a transport is not right here, or nothing. The same on all ranks.
std::string obstacle_of(const Transport& transport, mpi::CommView comm, const mpi::Node& node) {
  std::string reason;
  try {
    for (const std::size_t bytes : {std::size_t{24}, std::size_t{70000}})
      if (!Ring(comm, node, bytes).is_right(transport)) reason = "messages around a ring were wrong, or late";
  } catch (const Error& error) {
    reason = error.what();
  }
  const bool right = mpi::min(comm, std::int64_t{reason.empty() ? 1 : 0}) == 1;
  return right ? "" : reason.empty() ? "it failed on another rank" : reason;
}

}  // namespace

std::vector<TransportTiming> probe(mpi::CommView comm, const mpi::Node& node) {
  static std::map<std::string_view, std::string> known;
  const bool all_know = mpi::min(comm, std::int64_t{known.empty() ? 0 : 1}) == 1;
  std::vector<TransportTiming> timings;
  for (const Transport& transport : transports()) {
    if (transport.ablation) continue;
    if (!all_know)
      known[transport.name] =
          transport.obstacle.empty() ? obstacle_of(transport, comm, node) : std::string(transport.obstacle);
    timings.push_back({.name = std::string(transport.name), .obstacle = known[transport.name]});
  }
  return timings;
}

Choice::Choice(mpi::CommView comm, std::vector<TransportTiming> timings)
    : comm_(comm), consultation_(std::make_unique<mpi::Consultation>(comm)), timings_(std::move(timings)) {
  std::vector<std::string> names;
  for (const auto& timing : timings_)
    if (timing.obstacle.empty()) names.push_back(timing.name);
  if (names.empty())
    throw Error(ErrorKind::internal, "no exchange transport carries messages around a ring of the ranks",
                "name one, to see what it fails with");
  try_out(names, first_rounds);
  if (names.size() == 1) decide(names.front());
}

void Choice::try_out(const std::vector<std::string>& names, std::size_t rounds) {
  candidates_.clear();
  for (const auto& name : names) candidates_.push_back({&find_transport(name), {}});
  rounds_ = rounds;
  flights_ = 0;
  stage_ = Stage::measuring;
}

const Transport& Choice::next() {
  if (stage_ == Stage::decided) return *chosen_;
  if (stage_ == Stage::measuring && measured()) {
    ask();
  } else if (stage_ == Stage::asking) {
    wait();
    consultation_->answer(comm_.is_root() ? winner() : "");
    stage_ = Stage::answering;
  } else if (stage_ == Stage::answering) {
    wait();
    decide(consultation_->text());
    return *chosen_;
  }
  return *candidates_[flights_++ % candidates_.size()].transport;
}

void Choice::record(const Transport& transport, double cost_s) {
  if (decided()) {
    if (recent_s_.size() < recent_flights && &transport == chosen_) recent_s_.push_back(cost_s);
    return;
  }
  for (Candidate& candidate : candidates_)
    if (candidate.transport == &transport) candidate.costs_s.push_back(cost_s);
}

bool Choice::measured() const {
  return std::all_of(candidates_.begin(), candidates_.end(),
                     [&](const Candidate& one) { return one.costs_s.size() > rounds_; });
}

/// Of each round, that of the rank where it took longest is what counts.
void Choice::ask() {
  std::vector<double> costs_s;
  for (const Candidate& candidate : candidates_) {
    const auto first = candidate.costs_s.begin() + 1;
    costs_s.insert(costs_s.end(), first, first + static_cast<std::ptrdiff_t>(rounds_));
  }
  consultation_->ask(std::move(costs_s));
  stage_ = Stage::asking;
}

/// On the root: the name of the transport to take from now on.
std::string Choice::winner() {
  const std::span<const double> all(consultation_->largest());
  const auto of = [&](std::size_t i) { return all.subspan(i * rounds_, rounds_); };
  std::size_t best = 0;
  std::vector<double> medians;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    medians.push_back(median({of(i).begin(), of(i).end()}));
    for (auto& timing : timings_)
      if (timing.name == candidates_[i].transport->name) timing.cost_s = medians[i];
    if (medians[i] < medians[best]) best = i;
  }
  if (before_ != nullptr) {
    std::size_t won = 0;
    for (std::size_t round = 0; round < rounds_; ++round)
      won += of(1)[round] <= clearly_faster * of(0)[round] ? 1 : 0;
    best = static_cast<double>(won) >= needed_share * static_cast<double>(rounds_) ? 1 : 0;
  }
  return std::string(candidates_[best].transport->name);
}

void Choice::reconsider() {
  if (!decided() || timings_.size() == 1) return;
  // All ranks have had the same flights, so they agree on whether these are enough.
  const bool enough = recent_s_.size() >= enough_flights;
  const double now_s = enough ? mpi::max(comm_, median(recent_s_)) : 0;
  recent_s_.clear();
  if (!enough) return;
  const TransportTiming* const rival = comm_.is_root() ? rival_of(now_s) : nullptr;
  const std::int64_t number = mpi::max(comm_, rival == nullptr ? 0 : rival - timings_.data() + 1);
  if (number == 0) return;
  before_ = chosen_;
  chosen_ = nullptr;
  for (auto& timing : timings_) timing.chosen = false;
  try_out({std::string(before_->name), timings_[static_cast<std::size_t>(number) - 1].name}, rounds_of_two);
}

/// On the root, which has all times: what is to be tried against the chosen transport, or null.
const TransportTiming* Choice::rival_of(double now_s) const {
  const TransportTiming* rival = nullptr;
  double then_s = 0;
  for (const auto& timing : timings_) {
    if (timing.chosen)
      then_s = timing.cost_s;
    else if (timing.obstacle.empty() && (rival == nullptr || timing.cost_s < rival->cost_s))
      rival = &timing;
  }
  const bool slow = rival != nullptr && now_s > slower * then_s && now_s > rival->cost_s;
  return slow ? rival : nullptr;
}

void Choice::finish_comparison() {
  if (stage_ == Stage::asking || stage_ == Stage::answering)
    static_cast<void>(mpi::look_until([&] { return consultation_->complete(); }, mpi::verdict_limit_s));
}

void Choice::wait() {
  if (mpi::look_until([&] { return consultation_->complete(); }, mpi::verdict_limit_s)) return;
  throw Error(ErrorKind::internal,
              fmt::format("not all ranks began the same flights within {} s", mpi::verdict_limit_s));
}

void Choice::decide(const std::string& name) {
  chosen_ = &find_transport(name);
  if (before_ != nullptr && before_ != chosen_) left_.emplace_back(before_->name);
  before_ = nullptr;
  for (auto& timing : timings_) timing.chosen = timing.name == name;
  stage_ = Stage::decided;
}

}  // namespace tailrace::exchange
