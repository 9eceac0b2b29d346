// SPDX-License-Identifier: BSD-3-Clause
#include "layout/transpose.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "array_block.hpp"
#include "base/check.hpp"
#include "mpi/message.hpp"

namespace tailrace::layout {

namespace {

/// Halves a box along its slowest axis until no part has more than `most` points. Both sides do it alike.
void split_into(std::vector<Box>& parts, const Box& box, std::int64_t most) {
  if (box.empty()) return;
  if (box.volume() <= most) {
    parts.push_back(box);
    return;
  }
  const Axis axis = box.z().size() > 1 ? Axis::z : box.y().size() > 1 ? Axis::y : Axis::x;
  const Range range = range_of(box, axis);
  const std::int64_t middle = range.begin + range.size() / 2;
  split_into(parts, with_range(box, axis, {range.begin, middle}), most);
  split_into(parts, with_range(box, axis, {middle, range.end}), most);
}

/// Part `k` of the points of `box` along an axis.
Box batch_of(const Box& box, Axis axis, int batches, int k) {
  const Range range = range_of(box, axis);
  const Range part = split(range.size(), batches, k);
  return with_range(box, axis, {range.begin + part.begin, range.begin + part.end});
}

/// Returns whether rows and planes of an array do not overlap.
bool holds_box(const ArrayBlock& array) noexcept {
  const auto& [box, layout, bytes] = array;
  return box.empty() || (layout.stride_y >= box.x().size() &&
                         layout.stride_z >= layout.stride_y * (box.y().size() - 1) + box.x().size());
}

struct Message {
  int peer, batch;
  std::int64_t offset_bytes;  ///< refers to its first point in this rank's array
  mpi::DatatypeHandle type;
};

/// The types of one plan. A transpose has few distinct shapes, however many ranks take part.
class BlockTypes {
 public:
  mpi::DatatypeHandle of(const mpi::BlockShape& shape) {
    return types_.try_emplace(shape, shape).first->second.get();
  }

 private:
  std::map<mpi::BlockShape, mpi::BlockType> types_;
};

/// Copies the points of `part`, which both arrays hold, with all threads where that pays.
void copy_own(const ArrayBlock& to, std::byte* to_array, const ArrayBlock& from, const std::byte* from_array,
              const Box& part) {
  constexpr std::int64_t worth_threads_bytes =
      256 * 1024;  // below, starting the threads costs more than it saves
  const std::int64_t width = part.x().size();
  const bool rows_join = to.layout.stride_y == width && from.layout.stride_y == width;
  const std::int64_t rows_per_run = rows_join ? std::max<std::int64_t>(part.y().size(), 1) : 1;
  const auto run_bytes = static_cast<std::size_t>(width * rows_per_run * to.element_bytes);
  [[maybe_unused]] const bool threads = part.volume() * to.element_bytes >= worth_threads_bytes;
#pragma omp parallel for collapse(2) schedule(static) if (threads)
  for (std::int64_t z = part.lo.z; z < part.hi.z; ++z)
    for (std::int64_t y = part.lo.y; y < part.hi.y; y += rows_per_run)
      std::memcpy(to_array + to.offset_bytes({part.lo.x, y, z}),
                  from_array + from.offset_bytes({part.lo.x, y, z}), run_bytes);
}

}  // namespace

struct Transpose::Plan {
  Plan(mpi::CommView parent, const TransposeConfig& wanted);
  void check_config() const;
  void plan_sends();
  void plan_receives();
  /// Adds the messages that carry `block`.
  void add(std::vector<Message>& messages, int peer, int batch, const Box& block, const ArrayBlock& side);
  [[nodiscard]] bool leaves_out(int rank) const {
    return std::find(config.left_out.begin(), config.left_out.end(), rank) != config.left_out.end();
  }
  [[nodiscard]] bool exchanges_with(int rank) const {
    return rank != comm.view().rank() && !leaves_out(rank);
  }
  [[nodiscard]] Box batch_box(const Box& box, int k) const {
    return batch_of(box, config.batch_axis, config.batches, k);
  }

  TransposeConfig config;
  mpi::Comm comm;
  BlockTypes types;
  ArrayBlock from, to;                   ///< refers to this rank
  std::vector<Message> sends, receives;  ///< sends in the order of their batches
  std::vector<std::size_t> batch_begin;  ///< the sends of batch k are batch_begin[k] to batch_begin[k + 1]
  int slots = 0, begun = 0, open = 0;    ///< ranges of tags for flights; flights so far; flights now
};

Transpose::Plan::Plan(mpi::CommView parent, const TransposeConfig& wanted) : config(wanted) {
  TAILRACE_CHECK(config.from.ranks() == parent.size() && config.to.ranks() == parent.size(),
                 "a transpose has the ranks of its communicator");
  const auto element_bytes = static_cast<std::int64_t>(config.element_bytes);
  from = {config.from.box(parent.rank()), config.from_layout, element_bytes};
  to = {config.to.box(parent.rank()), config.to_layout, element_bytes};
  check_config();
  constexpr int tags = 32768;  // what every MPI library grants
  slots = tags / config.batches;
  comm = mpi::Comm::duplicate(parent);
  plan_sends();
  plan_receives();
}

void Transpose::Plan::check_config() const {
  constexpr std::size_t longest_bytes = std::size_t{1} << 30;
  TAILRACE_CHECK(config.from.extents() == config.to.extents(), "a transpose keeps the extents");
  TAILRACE_CHECK(config.element_bytes > 0 && config.element_bytes <= config.largest_message_bytes &&
                     config.largest_message_bytes <= longest_bytes,
                 "elements have a size and fit into messages of at most 1 GiB");
  TAILRACE_CHECK(config.batches > 0 && config.batches <= 1024, "a transpose has 1 to 1024 batches");
  TAILRACE_CHECK(holds_box(from) && holds_box(to), "rows and planes of a layout do not overlap");
}

void Transpose::Plan::add(std::vector<Message>& messages, int peer, int batch, const Box& block,
                          const ArrayBlock& side) {
  std::vector<Box> parts;
  split_into(parts, block, static_cast<std::int64_t>(config.largest_message_bytes / config.element_bytes));
  for (const Box& part : parts)
    messages.push_back({peer, batch, side.offset_bytes(part.lo), types.of(side.shape(part.extents()))});
}

void Transpose::Plan::plan_sends() {
  for (int k = 0; k < config.batches; ++k) {
    batch_begin.push_back(sends.size());
    const Box batch = batch_box(from.box, k);
    for (const int peer : config.to.ranks_meeting(batch))
      if (exchanges_with(peer)) add(sends, peer, k, intersect(batch, config.to.box(peer)), from);
  }
  batch_begin.push_back(sends.size());
}

void Transpose::Plan::plan_receives() {
  for (const int peer : config.from.ranks_meeting(to.box)) {
    if (!exchanges_with(peer)) continue;
    for (int k = 0; k < config.batches; ++k)
      add(receives, peer, k, intersect(batch_box(config.from.box(peer), k), to.box), to);
  }
}

Transpose::Transpose(mpi::CommView comm, const TransposeConfig& config)
    : plan_(std::make_unique<Plan>(comm, config)) {}
Transpose::Transpose(Transpose&&) noexcept = default;
Transpose& Transpose::operator=(Transpose&&) noexcept = default;
Transpose::~Transpose() = default;

int Transpose::batches() const noexcept {
  return plan_->config.batches;
}

Range Transpose::batch(int k) const {
  return range_of(plan_->batch_box(plan_->from.box, k), plan_->config.batch_axis);
}

Transpose::Flight Transpose::begin(const void* from, void* to) {
  TAILRACE_CHECK(plan_->open < plan_->slots, "too many flights at once");
  return {*plan_, static_cast<const std::byte*>(from), static_cast<std::byte*>(to)};
}

Transpose::Flight::Flight(Plan& plan, const std::byte* from, std::byte* to)
    : plan_(&plan), from_(from), to_(to), first_tag_(plan.begun * plan.config.batches) {
  plan.begun = (plan.begun + 1) % plan.slots;
  ++plan.open;
  requests_.reserve(plan.receives.size() + plan.sends.size());
  for (const Message& message : plan.receives)
    requests_.push_back(mpi::start_receive(plan.comm, to + message.offset_bytes, message.type, message.peer,
                                           first_tag_ + message.batch));
}

Transpose::Flight::Flight(Flight&& other) noexcept
    : plan_(std::exchange(other.plan_, nullptr)),
      from_(other.from_),
      to_(other.to_),
      first_tag_(other.first_tag_),
      started_(other.started_),
      requests_(std::move(other.requests_)) {}

Transpose::Flight::~Flight() {
  if (plan_ == nullptr) return;
  const std::span requests(requests_);
  const std::size_t receives = plan_->receives.size();
  mpi::abandon(requests.first(receives), requests.subspan(receives));
  --plan_->open;
}

void Transpose::Flight::start(int k) {
  TAILRACE_CHECK(plan_ != nullptr && k >= 0 && k < plan_->config.batches,
                 "a flight has this batch and is not finished");
  const auto batch = static_cast<std::size_t>(k);
  for (std::size_t i = plan_->batch_begin[batch]; i < plan_->batch_begin[batch + 1]; ++i) {
    const Message& message = plan_->sends[i];
    requests_.push_back(mpi::start_send(plan_->comm, from_ + message.offset_bytes, message.type, message.peer,
                                        first_tag_ + message.batch));
  }
  if (!plan_->leaves_out(plan_->comm.view().rank()))
    copy_own(plan_->to, to_, plan_->from, from_,
             intersect(plan_->batch_box(plan_->from.box, k), plan_->to.box));
  ++started_;
}

void Transpose::Flight::progress() {
  if (plan_ != nullptr) mpi::test_all(requests_);
}

void Transpose::Flight::finish() {
  TAILRACE_CHECK(plan_ != nullptr && started_ == plan_->config.batches,
                 "a flight finishes once, after all its batches");
  mpi::wait_all(requests_);
  --plan_->open;
  plan_ = nullptr;
}

}  // namespace tailrace::layout
