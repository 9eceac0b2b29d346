#include "tailrace/layout/transpose.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "copy.hpp"
#include "tailrace/base/aligned.hpp"
#include "tailrace/base/check.hpp"

namespace tailrace::layout {

namespace {

/// One message: a box of points of one piece to or from another rank.
struct Message {
  int peer, piece;
  Box box;
  std::size_t staging_offset;  ///< of its bytes in the staging memory, or `direct`
};
constexpr std::size_t direct = SIZE_MAX;  // contiguous in the user's array: no staging

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

/// The points of `part` inside an array that holds `whole`.
template <class Byte>
Placed<Byte> placed(Byte* array, LocalLayout layout, const Box& whole, const Box& part,
                    std::size_t element_bytes) {
  const std::int64_t first = (part.lo.z - whole.lo.z) * layout.stride_z +
                             (part.lo.y - whole.lo.y) * layout.stride_y + (part.lo.x - whole.lo.x);
  return {array + first * static_cast<std::int64_t>(element_bytes), layout};
}

/// Part `k` of the points of `box` along an axis.
Box piece_of(const Box& box, Axis axis, int pieces, int k) {
  const Range range = range_of(box, axis);
  const Range part = split(range.size(), pieces, k);
  return with_range(box, axis, {range.begin + part.begin, range.begin + part.end});
}

/// What a flight needs besides the user's arrays; kept from one flight to the next.
struct Buffers {
  AlignedVector<std::byte> outgoing, incoming;
  std::vector<MPI_Request> requests;  ///< the receives in the order of the plan, then the sends
  std::vector<int> done;
};

}  // namespace

struct Transpose::Plan {
  Plan(mpi::CommView parent, const TransposeConfig& wanted);
  void check_config() const;
  void plan_sends();
  void plan_receives();
  std::size_t bytes(const Box& part) const {
    return static_cast<std::size_t>(part.volume()) * config.element_bytes;
  }
  void add(std::vector<Message>& messages, std::size_t& staged, int peer, int piece, const Box& block,
           LocalLayout layout);
  std::unique_ptr<Buffers> take_buffers();

  TransposeConfig config;
  mpi::Comm comm;
  Box from, to;                          ///< of this rank
  std::vector<Message> sends, receives;  ///< sends in the order of their pieces
  std::vector<std::size_t> piece_begin;  ///< the sends of piece k are piece_begin[k] to piece_begin[k + 1]
  std::size_t outgoing_bytes = 0, incoming_bytes = 0;
  int slots = 0, begun = 0, open = 0;
  std::vector<std::unique_ptr<Buffers>> idle;
};

Transpose::Plan::Plan(mpi::CommView parent, const TransposeConfig& wanted) : config(wanted) {
  TAILRACE_CHECK(config.from.ranks() == parent.size() && config.to.ranks() == parent.size(),
                 "a transpose has the ranks of its communicator");
  comm = mpi::Comm::duplicate(parent);
  from = config.from.box(parent.rank());
  to = config.to.box(parent.rank());
  check_config();
  constexpr int largest_tag = 32767;  // what every MPI library grants
  slots = (largest_tag + 1) / config.pieces;
  plan_sends();
  plan_receives();
}

void Transpose::Plan::check_config() const {
  const auto holds = [](LocalLayout layout, const Box& box) {
    return box.empty() || (layout.stride_y >= box.x().size() &&
                           layout.stride_z >= layout.stride_y * (box.y().size() - 1) + box.x().size());
  };
  TAILRACE_CHECK(config.from.extents() == config.to.extents(), "a transpose keeps the extents");
  TAILRACE_CHECK(config.element_bytes > 0 && config.largest_message_bytes >= config.element_bytes &&
                     config.largest_message_bytes <= std::size_t{1} << 30,
                 "elements have a size and fit into messages of at most 1 GiB");
  TAILRACE_CHECK(config.pieces > 0 && config.pieces <= 1024, "1 to 1024 pieces");
  TAILRACE_CHECK(holds(config.from_layout, from) && holds(config.to_layout, to),
                 "rows and planes do not overlap");
}

void Transpose::Plan::add(std::vector<Message>& messages, std::size_t& staged, int peer, int piece,
                          const Box& block, LocalLayout layout) {
  std::vector<Box> parts;
  split_into(parts, block, static_cast<std::int64_t>(config.largest_message_bytes / config.element_bytes));
  for (const Box& part : parts) {
    const bool in_place = is_contiguous(part.extents(), layout);
    messages.push_back({peer, piece, part, in_place ? direct : staged});
    if (!in_place) staged += bytes(part);
  }
}

void Transpose::Plan::plan_sends() {
  for (int k = 0; k < config.pieces; ++k) {
    piece_begin.push_back(sends.size());
    const Box piece = piece_of(from, config.piece_axis, config.pieces, k);
    for (const int peer : config.to.ranks_meeting(piece))
      if (peer != comm.view().rank())
        add(sends, outgoing_bytes, peer, k, intersect(piece, config.to.box(peer)), config.from_layout);
  }
  piece_begin.push_back(sends.size());
}

void Transpose::Plan::plan_receives() {
  for (const int peer : config.from.ranks_meeting(to)) {
    if (peer == comm.view().rank()) continue;
    for (int k = 0; k < config.pieces; ++k) {
      const Box piece = piece_of(config.from.box(peer), config.piece_axis, config.pieces, k);
      add(receives, incoming_bytes, peer, k, intersect(piece, to), config.to_layout);
    }
  }
}

std::unique_ptr<Buffers> Transpose::Plan::take_buffers() {
  if (!idle.empty()) {
    auto buffers = std::move(idle.back());
    idle.pop_back();
    buffers->requests.clear();
    return buffers;
  }
  auto buffers = std::make_unique<Buffers>();
  buffers->outgoing.resize(outgoing_bytes);
  buffers->incoming.resize(incoming_bytes);
  buffers->requests.reserve(receives.size() + sends.size());
  return buffers;
}

Transpose::Transpose(mpi::CommView comm, const TransposeConfig& config)
    : plan_(std::make_unique<Plan>(comm, config)) {}
Transpose::Transpose(Transpose&&) noexcept = default;
Transpose& Transpose::operator=(Transpose&&) noexcept = default;
Transpose::~Transpose() = default;

int Transpose::pieces() const noexcept {
  return plan_->config.pieces;
}

Range Transpose::piece(int k) const {
  return range_of(piece_of(plan_->from, plan_->config.piece_axis, plan_->config.pieces, k),
                  plan_->config.piece_axis);
}

std::int64_t Transpose::staging_bytes() const noexcept {
  return static_cast<std::int64_t>(plan_->outgoing_bytes + plan_->incoming_bytes);
}

struct Transpose::Flight::State {
  State(Plan& p, const std::byte* source, std::byte* target)
      : plan(p),
        from(source),
        to(target),
        first_tag(p.begun++ % p.slots * p.config.pieces),
        buffers(p.take_buffers()) {
    ++plan.open;
  }
  ~State() { --plan.open; }
  void receive_all();
  void send(const Message& message);
  void copy_own(int k);
  void put_into_place();

  Plan& plan;
  const std::byte* from;
  std::byte* to;
  int first_tag;
  std::unique_ptr<Buffers> buffers;
  int started = 0;
};

void Transpose::Flight::State::receive_all() {
  for (const Message& message : plan.receives) {
    const auto where = placed(to, plan.config.to_layout, plan.to, message.box, plan.config.element_bytes);
    std::byte* target =
        message.staging_offset == direct ? where.first : buffers->incoming.data() + message.staging_offset;
    buffers->requests.push_back(mpi::start_receive(plan.comm, {target, plan.bytes(message.box)}, message.peer,
                                                   first_tag + message.piece));
  }
}

void Transpose::Flight::State::send(const Message& message) {
  const auto source =
      placed(from, plan.config.from_layout, plan.from, message.box, plan.config.element_bytes);
  const std::byte* data = source.first;
  if (message.staging_offset != direct) {
    std::byte* packed = buffers->outgoing.data() + message.staging_offset;
    copy_box({packed, LocalLayout::dense(message.box)}, source, message.box.extents(),
             plan.config.element_bytes);
    data = packed;
  }
  buffers->requests.push_back(
      mpi::start_send(plan.comm, {data, plan.bytes(message.box)}, message.peer, first_tag + message.piece));
}

void Transpose::Flight::State::copy_own(int k) {
  const Box own = intersect(piece_of(plan.from, plan.config.piece_axis, plan.config.pieces, k), plan.to);
  if (own.empty()) return;
  const std::size_t size = plan.config.element_bytes;
  copy_box(placed(to, plan.config.to_layout, plan.to, own, size),
           placed(from, plan.config.from_layout, plan.from, own, size), own.extents(), size);
}

void Transpose::Flight::State::put_into_place() {
  const std::size_t size = plan.config.element_bytes;
  for (const int index : buffers->done) {
    if (static_cast<std::size_t>(index) >= plan.receives.size()) continue;
    const Message& message = plan.receives[static_cast<std::size_t>(index)];
    if (message.staging_offset == direct) continue;
    const std::byte* packed = buffers->incoming.data() + message.staging_offset;
    copy_box(placed(to, plan.config.to_layout, plan.to, message.box, size),
             {packed, LocalLayout::dense(message.box)}, message.box.extents(), size);
  }
}

Transpose::Flight Transpose::begin(const void* from, void* to) {
  TAILRACE_CHECK(plan_->open < plan_->slots, "too many flights at once");
  auto state = std::make_unique<Flight::State>(*plan_, static_cast<const std::byte*>(from),
                                               static_cast<std::byte*>(to));
  state->receive_all();
  return Flight(std::move(state));
}

Transpose::Flight::Flight(std::unique_ptr<State> state) : state_(std::move(state)) {}
Transpose::Flight::Flight(Flight&&) noexcept = default;

Transpose::Flight::~Flight() {
  if (!state_) return;
  const std::span requests(state_->buffers->requests);
  const std::size_t receives = std::min(requests.size(), state_->plan.receives.size());
  mpi::abandon(requests.first(receives), requests.subspan(receives));
  state_->plan.idle.push_back(std::move(state_->buffers));  // sends may still read from it
}

void Transpose::Flight::start(int k) {
  TAILRACE_CHECK(state_ && k >= 0 && k < state_->plan.config.pieces,
                 "a flight starts each of its pieces before it finishes");
  const auto& plan = state_->plan;
  const auto piece = static_cast<std::size_t>(k);
  for (std::size_t i = plan.piece_begin[piece]; i < plan.piece_begin[piece + 1]; ++i)
    state_->send(plan.sends[i]);
  state_->copy_own(k);
  ++state_->started;
}

void Transpose::Flight::progress() {
  if (!state_ || state_->buffers->requests.empty()) return;
  mpi::test_some(state_->buffers->requests, state_->buffers->done);
  state_->put_into_place();
}

void Transpose::Flight::finish() {
  TAILRACE_CHECK(state_ && state_->started == state_->plan.config.pieces,
                 "a flight finishes once, after all its pieces");
  auto& buffers = *state_->buffers;
  do {
    mpi::wait_some(buffers.requests, buffers.done);
    state_->put_into_place();
  } while (!buffers.done.empty());
  state_->plan.idle.push_back(std::move(state_->buffers));
  state_.reset();
}

}  // namespace tailrace::layout
