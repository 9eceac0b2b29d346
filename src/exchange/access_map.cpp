// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/exchange/access_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/system.hpp"
#include "exchange/flight.hpp"
#include "exchange/lines.hpp"
#include "exchange/plan.hpp"
#include "mpi/alike.hpp"
#include "mpi/collective.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

constexpr auto automatic = "auto";

/// The number of binary digits of the most peers, and of the most values, that a rank of the plan reads.
/// @collective{comm}
std::pair<int, int> shape_of(mpi::CommView comm, const Plan& plan) {
  std::array most{static_cast<std::int64_t>(plan.inspection.sources.size()),
                  static_cast<std::int64_t>(plan.inspection.wanted.size())};
  mpi::Request request = mpi::start_combining(comm, std::span(most), mpi::Combination::max);
  mpi::wait_all({&request, 1});
  const auto digits = [](std::int64_t count) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count)));
  };
  return {digits(most[0]), digits(most[1])};
}

/// Refuses a transport that is not to be had, or not for this, with where its name comes from.
void check_transport_from(const AccessOptions& options, bool by_environment) {
  try {
    check_transport(options);
  } catch (const Error& error) {
    if (!by_environment) throw;
    throw Error(error.info().kind, "TAILRACE_EXCHANGE: " + error.info().message, error.info().hint);
  }
}

/// What is known of the transports, without those that cannot move word by word, if that is asked for.
std::vector<TransportTiming> candidates(mpi::CommView comm, const mpi::Node& node, bool aggregate) {
  auto timings = probe(comm, node);
  for (TransportTiming& timing : timings)
    if (!aggregate && timing.obstacle.empty() && !find_transport(timing.name).batches)
      timing.obstacle = "it sends one message to each rank, not word by word";
  return timings;
}

/// By which lines that combine differ.
std::string terms_of(const Fields& fields, Reduction how) {
  std::string terms = std::to_string(static_cast<int>(how));
  for (const Field& field : fields.list())
    terms += fmt::format(" {}x{}", static_cast<int>(field.number), field.components);
  return terms;
}

/// Ranks that exchange in different ways would wait for each other. @collective{comm}
void check_alike(mpi::CommView comm, const AccessOptions& options) {
  const std::array given{mpi::Given{"transport", mpi::Fingerprint().add(options.transport)},
                         mpi::Given{"order", mpi::Fingerprint().add(options.order)},
                         mpi::Given{"aggregate", mpi::Fingerprint().add(options.aggregate)}};
  const auto differences = mpi::find_differences(comm, given);
  if (!differences.empty())
    throw Error(ErrorKind::usage,
                fmt::format("an access map with different options on different ranks: {}", differences),
                "the same options on all ranks");
}

/// What the program asks for, or where it leaves the choice open the environment variable of the first rank.
/// @collective{comm}
AccessOptions with_environment(mpi::CommView comm, AccessOptions options) {
  if (options.transport != automatic) return options;
  const char* const text = std::getenv("TAILRACE_EXCHANGE");
  options.transport = mpi::broadcast(comm, text == nullptr ? automatic : text, 0);
  return options;
}

}  // namespace

struct AccessMap::State : std::enable_shared_from_this<AccessMap::State> {
  State(mpi::CommView parent, const AccessOptions& wanted)
      : options(wanted), comm(mpi::Comm::duplicate(parent)), node(comm) {
    settings.comm = comm;
    traffic.log = options.log;
    if (options.transport == automatic)
      settings.timings = candidates(comm, node, options.aggregate);
    else
      settings.transport = &find_transport(options.transport);
  }

  void build(const Distribution& distribution, std::span<const std::int64_t> indices);
  /// A flight on these lines; `to` and `from` are what one of them is opened with, if there is none.
  template <class To, class From>
  [[nodiscard]] FlightContext flight(Lines& lines, const LineKey& key, const To& to, const From& from) {
    return flight(lines, key, to, from, [] { return std::shared_ptr<const Sums>(); });
  }
  template <class To, class From, class MakeSums>
  [[nodiscard]] FlightContext flight(Lines& lines, const LineKey& key, const To& to, const From& from,
                                     MakeSums make_sums);
  [[nodiscard]] FlightContext owner_bound_flight(const Fields& fields, const Combine& how);
  /// Of lines to the owners: those of a transport that combines differ by what they combine.
  [[nodiscard]] LineKey owner_key(const Fields& fields, const Combine& how) const {
    return {fields.entry_bytes(), shared ? terms_of(fields, how.reduction) : std::string()};
  }
  /// Before a flight with these lines: all ranks check together where they have to meet anyway, to open a
  /// line; after that, each checks by itself, and what it refuses is no call that others are compared with.
  template <class Check>
  void before_flight(const Lines& lines, const LineKey& key, Check check) {
    const bool apart = lines.has_free(key);
    if (apart) check();
    compare_calls(&lines == &to_readers ? MapCall::gather : MapCall::scatter_add, key.entry_bytes);
    if (apart) return;
    if (order) order->wait(options.limit_s);
    mpi::collectively(comm, check);
  }
  /// With debug checks: whether all ranks call the map for the same. @collective{comm}, does not wait
  void compare_calls([[maybe_unused]] MapCall call, [[maybe_unused]] std::size_t entry_bytes) {
#ifdef TAILRACE_DEBUG_CHECKS
    order = std::make_unique<FlightOrder>(comm, ++calls, call, entry_bytes);
#endif
  }
  void check_field(const Field& field, std::int64_t entries, const char* what) const;
  void check(std::span<const Field> fields) const;
  void check(std::span<const Contribution> contributions) const;
  void check(const Combine& how, std::span<const Field> fields) const;

  AccessOptions options;
  mpi::Comm comm;
  mpi::Node node;
  LineSettings settings;
  int next_tag = 0;
  Plan plan;
  std::optional<ContributionPlan> contributions;
  std::optional<SharedSlots> shared;  ///< of a transport that combines
  std::pair<int, int>
      shape;  ///< magnitudes of what is exchanged: the choice of a transport holds for maps alike
  Lines to_readers{settings}, to_owners{settings}, of_contributions{settings};
  Traffic traffic;
  std::int64_t generation = 0;
  double build_s = 0;
  bool no_shared_memory = false;
  std::int64_t calls = 0;                   ///< for debug checks
  std::unique_ptr<FlightOrder> order;       ///< of the call that begins
  bool split = false;                       ///< whether the two lists below are made
  std::vector<std::int32_t> interior, rim;  ///< positions
};

void AccessMap::State::build(const Distribution& distribution, std::span<const std::int64_t> indices) {
  if (to_readers.in_use() || to_owners.in_use() || of_contributions.in_use())
    throw Error(ErrorKind::usage, "a map is rebuilt while a flight of it is under way",
                "finish() of all flights first");
  compare_calls(MapCall::rebuild, 0);
  if (order) order->wait(options.limit_s);
  order.reset();
  const double start_s = monotonic_s();
  Plan made = make_plan(comm, distribution, indices);
  std::optional<ContributionPlan> single;
  if (options.order == Order::partition_free) single = make_contribution_plan(comm, made);
  plan = std::move(made);
  contributions = std::move(single);
  if (settings.transport != nullptr && settings.transport->open_sums != nullptr)
    shared = shared_slots_of(plan);
  const auto new_shape = shape_of(comm, plan);
  for (Lines* lines : {&to_readers, &to_owners, &of_contributions}) lines->clear(new_shape == shape);
  shape = new_shape;
  split = false;
  ++generation;
  ++traffic.counts.builds;
  build_s = monotonic_s() - start_s;
  traffic.counts.build_s += build_s;
}

template <class To, class From, class MakeSums>
FlightContext AccessMap::State::flight(Lines& lines, const LineKey& key, const To& to, const From& from,
                                       MakeSums make_sums) {
  constexpr std::size_t word_bytes = 8;
  const auto configure = [&]() -> LineConfig {
    constexpr int tags = 16384;  // of those that every MPI library grants
    next_tag = (next_tag + 1) % tags;
    return {.comm = comm,
            .node = &node,
            .tag = next_tag,
            .to = peers_of(to, key.entry_bytes),
            .from = peers_of(from, key.entry_bytes),
            .batch_bytes = options.aggregate ? 0 : word_bytes,
            .sums = make_sums(),
            .no_shared_memory = &no_shared_memory};
  };
  return {.map = shared_from_this(),
          .line = lines.take(key, configure),
          .limit_s = options.limit_s,
          .traffic = &traffic,
          .sums = shared ? &shared->slots : nullptr,
          .order = std::move(order)};
}

FlightContext AccessMap::State::owner_bound_flight(const Fields& fields, const Combine& how) {
  const auto make_sums = [&]() -> std::shared_ptr<const Sums> {
    if (!shared) return nullptr;
    return std::make_shared<const Sums>(Sums{fields.list(), how.reduction, shared->count, shared->numbers});
  };
  return flight(to_owners, owner_key(fields, how), plan.inspection.sources, plan.readers, make_sums);
}

void AccessMap::State::check_field(const Field& field, std::int64_t entries, const char* what) const {
  if (field.generation != 0 && field.generation != generation)
    throw Error(
        ErrorKind::input,
        fmt::format("an array of build {} of a map that is in its build {}", field.generation, generation),
        "arrays of array_size() entries, made again after each rebuild");
  if (field.entries < entries || field.components < 1 || (field.data == nullptr && entries > 0))
    throw Error(ErrorKind::input,
                fmt::format("an array of {} entries of {} numbers on rank {}", field.entries,
                            field.components, comm.view().rank()),
                fmt::format("{} entries, {}", entries, what));
}

void AccessMap::State::check(std::span<const Field> fields) const {
  for (const Field& field : fields)
    check_field(field, plan.inspection.array_size(), "one for each slot of the map");
}

void AccessMap::State::check(std::span<const Contribution> given) const {
  for (const auto& [values, into] : given) {
    check_field(values, static_cast<std::int64_t>(plan.inspection.slots.size()),
                "one for each position of the map");
    check_field(into, plan.inspection.owned, "one for each owned slot of the map");
    if (values.number != into.number || values.components != into.components)
      throw Error(ErrorKind::input, "contributions and what they are added to are of different types",
                  "the same numbers, as many per entry");
  }
}

void AccessMap::State::check(const Combine& how, std::span<const Field> fields) const {
  const auto any = [&](auto is) { return std::any_of(fields.begin(), fields.end(), is); };
  if (how.function != nullptr && fields.size() != 1)
    throw Error(ErrorKind::usage,
                fmt::format("{} fields combined by a function of the program", fields.size()),
                "a flight for each field");
  if (how.function == nullptr && any([](const Field& field) { return field.number == Number::byte; }))
    throw Error(ErrorKind::usage, "objects of a program have no sum, least or greatest",
                "hand in a function that combines two of them");
  if (!shared) return;
  const auto is_float = [](const Field& one) {
    return one.number == Number::float32 || one.number == Number::float64;
  };
  if (how.function != nullptr || (how.reduction == Reduction::logical_or && any(is_float)))
    throw Error(ErrorKind::usage,
                fmt::format("the exchange transport {} has no {}", settings.transport->name,
                            how.function != nullptr ? "functions of the program"
                                                    : "logical or of floating-point numbers"),
                "another transport");
}

AccessMap::AccessMap(std::shared_ptr<State> state) : state_(std::move(state)) {}
AccessMap::AccessMap(AccessMap&&) noexcept = default;
AccessMap& AccessMap::operator=(AccessMap&&) noexcept = default;
AccessMap::~AccessMap() = default;

AccessMap AccessMap::make(mpi::CommView comm, const Distribution& distribution,
                          std::span<const std::int64_t> indices, const AccessOptions& wanted) {
  check_alike(comm, wanted);
  const AccessOptions options = with_environment(comm, wanted);
  mpi::collectively(comm, [&] { check_transport_from(options, options.transport != wanted.transport); });
  auto state = std::make_shared<State>(comm, options);
  state->build(distribution, indices);
  return AccessMap(std::move(state));
}

AccessMap::State& AccessMap::state() const {
  if (state_) return *state_;
  throw Error(ErrorKind::usage, "an access map that was moved away is used", "the one that it was moved to");
}

void AccessMap::rebuild(const Distribution& distribution, std::span<const std::int64_t> indices) {
  state().build(distribution, indices);
}

std::span<const std::int32_t> AccessMap::slots() const noexcept {
  return state_->plan.inspection.slots;
}

std::int64_t AccessMap::owned() const noexcept {
  return state_->plan.inspection.owned;
}

std::int64_t AccessMap::array_size() const noexcept {
  return state_->plan.inspection.array_size();
}

std::int64_t AccessMap::generation() const noexcept {
  return state_->generation;
}

std::span<const std::int32_t> AccessMap::interior() const {
  State& state = this->state();
  if (state.split) return state.interior;
  const Inspection& inspection = state.plan.inspection;
  state.interior.clear(), state.rim.clear();
  state.rim.reserve(static_cast<std::size_t>(inspection.rim));
  state.interior.reserve(inspection.slots.size() - static_cast<std::size_t>(inspection.rim));
  for (std::size_t position = 0; position < inspection.slots.size(); ++position)
    (inspection.is_remote(position) ? state.rim : state.interior)
        .push_back(static_cast<std::int32_t>(position));
  state.split = true;
  return state.interior;
}

std::span<const std::int32_t> AccessMap::rim() const {
  static_cast<void>(interior());
  return state_->rim;
}

Flight AccessMap::begin_gather(std::span<const Field> fields) {
  State& state = this->state();
  Fields given(fields);
  const LineKey key{given.entry_bytes()};
  state.before_flight(state.to_readers, key, [&] { state.check(fields); });
  auto context = state.flight(state.to_readers, key, state.plan.readers, state.plan.inspection.sources);
  return Flight(start_gather(std::move(context), state.plan, std::move(given)));
}

Flight AccessMap::begin_scatter_add(std::span<const Field> fields, const Combine& how) {
  State& state = this->state();
  if (state.options.order == Order::partition_free)
    throw Error(ErrorKind::usage, "sums of a rank cannot be added in the order partition_free",
                "hand in one contribution per position");
  Fields given(fields);
  state.before_flight(state.to_owners, state.owner_key(given, how), [&] {
    state.check(fields);
    state.check(how, fields);
  });
  auto context = state.owner_bound_flight(given, how);
  return Flight(start_scatter(std::move(context), state.plan, std::move(given), how,
                              state.options.order == Order::fixed));
}

Flight AccessMap::begin_scatter_add(std::span<const Contribution> contributions, const Combine& how) {
  State& state = this->state();
  std::vector<Field> given, wanted;
  for (const auto& [from, to] : contributions) {
    given.push_back(from);
    wanted.push_back(to);
  }
  const Fields values(given), into(wanted);
  const bool single = state.options.order == Order::partition_free;
  const LineKey key = single ? LineKey{values.entry_bytes()} : state.owner_key(values, how);
  state.before_flight(single ? state.of_contributions : state.to_owners, key, [&] {
    state.check(contributions);
    state.check(how, given);
    if (!single && how.function != nullptr && how.neutral == nullptr)
      throw Error(ErrorKind::usage, "a function that combines contributions has no neutral entry",
                  "name one, or use the order partition_free");
  });
  if (!single)
    return Flight(start_scatter_of_positions(state.owner_bound_flight(values, how), state.plan, values, into,
                                             how, state.options.order == Order::fixed));
  const ContributionPlan& plan = *state.contributions;
  auto context = state.flight(state.of_contributions, key, plan.out, plan.in);
  return Flight(start_contributions(std::move(context), plan, state.comm.view().rank(), values, into, how));
}

AccessSummary AccessMap::describe() const {
  const State& state = this->state();
  const Inspection& inspection = state.plan.inspection;
  AccessSummary summary{.positions = static_cast<std::int64_t>(inspection.slots.size()),
                        .owned = inspection.owned,
                        .landing = static_cast<std::int64_t>(inspection.wanted.size()),
                        .rim = inspection.rim,
                        .reads_from = static_cast<int>(inspection.sources.size()),
                        .read_by = static_cast<int>(state.plan.readers.size()),
                        .build_s = state.build_s};
  std::size_t bytes = inspection.memory_bytes() + state.to_readers.memory_bytes() +
                      state.to_owners.memory_bytes() + state.of_contributions.memory_bytes();
  for (const Share& reader : state.plan.readers) {
    summary.sent += reader.entries.size();
    bytes += reader.entries.memory_bytes();
  }
  if (state.contributions) bytes += state.contributions->memory_bytes();
  if (state.shared) bytes += state.shared->memory_bytes();
  if (state.no_shared_memory)
    summary.note = "the system has not enough shared memory (/dev/shm): ranks of a node exchange by messages";
  summary.memory_bytes = static_cast<std::int64_t>(bytes);
  return summary;
}

std::vector<TransportChoice> AccessMap::choices() const {
  std::vector<TransportChoice> list;
  const auto add = [&](const char* flights, const Lines& lines) {
    lines.for_each_choice([&](std::size_t entry_bytes, const Choice& choice) {
      list.push_back({flights, static_cast<std::int64_t>(entry_bytes), choice.timings(), choice.left()});
    });
  };
  add("gather", state_->to_readers);
  add("scatter_add", state_->to_owners);
  add("contributions", state_->of_contributions);
  return list;
}

const AccessCounts& AccessMap::counts() const noexcept {
  return state_->traffic.counts;
}

std::vector<PeerTraffic> AccessMap::traffic() const {
  std::vector<PeerTraffic> list;
  for (const auto& [rank, one] : state_->traffic.sent) list.push_back(one);
  return list;
}

void AccessMap::mark_step(StepIndex step) noexcept {
  state_->traffic.step = step;
}

namespace {

/// Refuses a call of a flight that has finished, or was moved from.
void check_goes_on(const Flight::Work* work, const char* call) {
  if (work == nullptr)
    throw Error(ErrorKind::usage, fmt::format("{} of a flight that has finished", call),
                "begin another flight; each finishes once");
}

}  // namespace

Flight::Flight(std::unique_ptr<Work> work) : work_(std::move(work)) {}
Flight::Flight(Flight&&) noexcept = default;
Flight::~Flight() = default;

void Flight::on_arrival(std::function<void(int)> arrival) {
  check_goes_on(work_.get(), "on_arrival");
  work_->notify(std::move(arrival));
}

void Flight::progress() {
  if (work_) work_->progress();
}

void Flight::finish() {
  check_goes_on(work_.get(), "finish");
  work_->finish();
  work_.reset();
}

}  // namespace tailrace::exchange
