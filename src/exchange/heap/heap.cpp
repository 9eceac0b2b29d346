// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/exchange/heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>

#include "exchange/heap/state.hpp"
#include "mpi/collective.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

Heap::Heap(mpi::CommView comm, const HeapOptions& options) : state_(std::make_unique<State>(comm, options)) {}

Heap::~Heap() {
  if (std::uncaught_exceptions() > 0) return;
  try {
    barrier_all();
  } catch (const Error&) {
    static_cast<void>(state_.release());  // its memory is given back by all ranks together, or not at all
  }
}

int Heap::rank() const noexcept {
  return state_->comm.view().rank();
}

int Heap::size() const noexcept {
  return state_->comm.view().size();
}

std::shared_ptr<const detail::HeapBlock> Heap::allocate_block(std::int64_t count, std::size_t element_bytes) {
  State& state = *state_;
  quiet();
  state.meet(HeapCall::allocate, {static_cast<std::int64_t>(element_bytes), 0});
  auto counts = state.numbers_of_all(count);
  auto bytes = counts;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] < 0)
      throw Error(ErrorKind::input, fmt::format("{} elements on rank {}", counts[rank], rank),
                  "0 elements or more");
    bytes[rank] *= static_cast<std::int64_t>(element_bytes);
  }
  const auto block =
      state.place(state.room_for(bytes), static_cast<std::size_t>(bytes[static_cast<std::size_t>(rank())]));
  block->element_bytes = element_bytes;
  block->count = count;
  if (std::any_of(counts.begin(), counts.end(), [&](std::int64_t other) { return other != counts[0]; }))
    block->counts = std::move(counts);
  state.register_block(block);
  state.meet(HeapCall::allocate);
  return block;
}

void Heap::free_block(const Block* block) {
  State& state = *state_;
  quiet();
  const bool known = block != nullptr && block->heap == &state;
  state.meet(HeapCall::free, {known ? std::int64_t{block->number} : -1, 0});
  state.check({block, rank(), 0}, 0);
  const auto bytes = static_cast<std::size_t>(block->bytes_on(rank()));
  block->segment->ranges().give_back(block->offset, bytes);
  state.blocks[block->number]->heap = nullptr;
  state.blocks[block->number].reset();
}

std::span<std::byte> Heap::local_bytes(const Block& block) {
  const auto* const state = static_cast<const State*>(block.heap);
  return {block.segment->own() + block.offset,
          static_cast<std::size_t>(block.bytes_on(state->comm.view().rank()))};
}

std::int64_t Heap::bytes_on(const Block* block, int rank) const {
  state_->check({block, rank, 0}, 0);
  return block->bytes_on(rank);
}

void Heap::put_bytes(const Place& to, std::span<const std::byte> bytes) {
  State& state = *state_;
  state.check(to, static_cast<std::int64_t>(bytes.size()));
  std::byte* const at = state.near(to);
  if (at == nullptr) return state.far.put(State::far_place(to), bytes);
  ++state.counts.near;
  copy_number_or_bytes(at, bytes.data(), bytes.size());
}

void Heap::get_bytes(const Place& from, std::span<std::byte> out) {
  State& state = *state_;
  state.check(from, static_cast<std::int64_t>(out.size()));
  const std::byte* const at = state.near(from);
  if (at == nullptr) return state.far.get(State::far_place(from), out);
  ++state.counts.near;
  copy_number_or_bytes(out.data(), at, out.size());
}

void Heap::put_elements(const Place& to, const detail::ElementPattern& pattern, std::size_t element_bytes,
                        std::span<const std::byte> values) {
  state_->check(to, pattern, element_bytes, values.size());
  for (std::int64_t i = 0; i < pattern.count; ++i) {
    const auto offset = to.offset_bytes + pattern[i] * static_cast<std::int64_t>(element_bytes);
    put_bytes({to.block, to.rank, offset},
              values.subspan(static_cast<std::size_t>(i) * element_bytes, element_bytes));
  }
}

void Heap::get_elements(const Place& from, const detail::ElementPattern& pattern, std::size_t element_bytes,
                        std::span<std::byte> out) {
  state_->check(from, pattern, element_bytes, out.size());
  for (std::int64_t i = 0; i < pattern.count; ++i) {
    const auto offset = from.offset_bytes + pattern[i] * static_cast<std::int64_t>(element_bytes);
    get_bytes({from.block, from.rank, offset},
              out.subspan(static_cast<std::size_t>(i) * element_bytes, element_bytes));
  }
}

void Heap::wait_for_gets() {
  state_->far.wait_for_gets();
}

void Heap::change(const Place& at, Number number, AtomicOp op, std::uint64_t operand) {
  State& state = *state_;
  const Change change{.op = op, .number = number, .operand = operand};
  state.check(at, static_cast<std::int64_t>(bytes_of(number)));
  std::byte* const place = state.near(at);
  if (place == nullptr) return state.far.change(State::far_place(at), change);
  ++state.counts.near;
  apply_change(place, change);
}

std::uint64_t Heap::fetch(const Place& at, Number number, AtomicOp op, std::uint64_t operand,
                          std::uint64_t expected) {
  State& state = *state_;
  const Change change{.op = op, .number = number, .operand = operand, .expected = expected};
  state.check(at, static_cast<std::int64_t>(bytes_of(number)));
  if (std::byte* const place = state.near(at)) {
    ++state.counts.near;
    return apply_change(place, change);
  }
  std::uint64_t old = 0;
  state.far.fetch(State::far_place(at), change, old);
  wait_for_gets();
  return old;
}

void Heap::raise(const Place& signal, std::uint64_t value, SignalOp how) {
  fence();
  change(signal, Number::int64, how == SignalOp::set ? AtomicOp::store : AtomicOp::add, value);
  state_->far.send(signal.rank);
}

std::uint64_t Heap::load_local(const Place& at, Number number) {
  state_->check(at, static_cast<std::int64_t>(bytes_of(number)));
  return apply_change(state_->near(at), {.op = AtomicOp::load, .number = number});
}

void Heap::fence() {
  std::atomic_thread_fence(std::memory_order_release);
  if (state_->some_not_shared) quiet();
}

void Heap::quiet(int rank) {
  state_->far.quiet(rank);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Heap::quiet() {
  state_->far.quiet();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Heap::barrier_all() {
  quiet();
  state_->meet(HeapCall::barrier_all);
}

void Heap::progress() {
  Far::progress_all();
}

void Heap::wait(const std::function<bool()>& done, const char* what) {
  state_->far.wait(done, what);
}

void Heap::broadcast_bytes(std::span<std::byte> bytes, std::size_t element_bytes, int root) {
  state_->meet(HeapCall::broadcast, {root, static_cast<std::int64_t>(bytes.size() + (element_bytes << 40U))});
  state_->complete(mpi::start_broadcast(state_->comm, bytes, root), "a broadcast");
}

namespace {

template <class T>
mpi::Request start_combining(mpi::CommView comm, const Field& field, mpi::Combination how) {
  return mpi::start_combining(comm, {static_cast<T*>(field.data), static_cast<std::size_t>(field.entries)},
                              how);
}

mpi::Request start_combining(mpi::CommView comm, const Field& field, mpi::Combination how) {
  switch (field.number) {
    case Number::float32:
      return start_combining<float>(comm, field, how);
    case Number::float64:
      return start_combining<double>(comm, field, how);
    case Number::int32:
      return start_combining<std::int32_t>(comm, field, how);
    default:
      return start_combining<std::int64_t>(comm, field, how);
  }
}

std::vector<std::int64_t> times(std::vector<std::int64_t> numbers, std::size_t factor) {
  for (std::int64_t& one : numbers) one *= static_cast<std::int64_t>(factor);
  return numbers;
}

}  // namespace

void Heap::combine(const Field& values, Reduction how) {
  const auto which = static_cast<std::int64_t>(how) * 8 + static_cast<std::int64_t>(values.number);
  state_->meet(HeapCall::combine, {which, values.entries});
  const auto combination = how == Reduction::sum   ? mpi::Combination::sum
                           : how == Reduction::min ? mpi::Combination::min
                                                   : mpi::Combination::max;
  state_->complete(start_combining(state_->comm, values, combination), "a reduction");
}

std::vector<std::byte> Heap::collect_bytes(std::span<const std::byte> mine, std::size_t element_bytes) {
  state_->meet(HeapCall::collect, {static_cast<std::int64_t>(element_bytes), 0});
  const mpi::Blocks blocks(state_->numbers_of_all(static_cast<std::int64_t>(mine.size())));
  std::vector<std::byte> all(blocks.size_bytes());
  state_->complete(mpi::start_collecting(state_->comm, mine, all, blocks), "the values of all ranks");
  return all;
}

std::pair<std::vector<std::byte>, std::vector<std::int64_t>> Heap::all_to_all_bytes(
    std::span<const std::byte> values, std::size_t element_bytes, const std::vector<std::int64_t>& counts) {
  State& state = *state_;
  state.meet(HeapCall::all_to_all, {static_cast<std::int64_t>(element_bytes), 0});
  std::vector<std::int64_t> from(counts.size());
  const mpi::Blocks one_each(std::vector<std::int64_t>(counts.size(), sizeof(std::int64_t)));
  state.complete(mpi::start_all_to_all(state.comm, std::as_bytes(std::span(counts)), one_each,
                                       std::as_writable_bytes(std::span(from)), one_each),
                 "the sizes of what ranks send each other");
  const mpi::Blocks sent(times(counts, element_bytes)), received(times(from, element_bytes));
  std::vector<std::byte> in(received.size_bytes());
  state.complete(mpi::start_all_to_all(state.comm, values, sent, in, received), "what ranks send each other");
  return {std::move(in), std::move(from)};
}

const HeapCounts& Heap::counts() const noexcept {
  return state_->counts;
}

HeapSummary Heap::describe() const {
  const State& state = *state_;
  HeapSummary summary{.segments = static_cast<int>(state.segments.size()),
                      .buffer_bytes = static_cast<std::int64_t>(Far::bound_bytes(state.options)),
                      .near_ranks = static_cast<int>(state.node.ranks().size()),
                      .note = {}};
  for (const auto& segment : state.segments) {
    summary.reserved_bytes += static_cast<std::int64_t>(segment->size_bytes());
    summary.used_bytes += static_cast<std::int64_t>(segment->size_bytes() - segment->ranges().free_bytes());
  }
  if (state.some_not_shared)
    summary.note = fmt::format(
        "the system has not enough shared memory (/dev/shm) for the {} ranks of a node: arrays for which "
        "there was "
        "none are reached by messages",
        state.node.ranks().size());
  return summary;
}

}  // namespace tailrace::exchange
