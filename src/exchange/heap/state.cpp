// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/heap/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "mpi/collective.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

const char* name_of(std::int64_t call) {
  constexpr std::array names{"barrier_all",     "allocate", "free",      "broadcast",
                             "sum, min or max", "collect",  "all_to_all"};
  return names[static_cast<std::size_t>(call)];
}

/// What ranks hand in with a call, besides values.
const char* meant_by(HeapCall call) {
  switch (call) {
    case HeapCall::free:
      return "array";
    case HeapCall::broadcast:
      return "root, type and number of values";
    case HeapCall::combine:
      return "operation, type and number of values";
    default:
      return "type";
  }
}

void check_options(const HeapOptions& options) {
  if (options.segment_bytes > 0 && options.aggregate_bytes >= 0 && options.aggregate_age_s >= 0) return;
  throw Error(ErrorKind::input, "a heap with a negative size or age",
              "segments of at least 1 byte, 0 for no aggregation");
}

}  // namespace

Heap::State::State(mpi::CommView parent, const HeapOptions& wanted)
    : options((check_options(wanted), wanted)),
      comm(mpi::Comm::duplicate(parent)),
      node(comm),
      far(comm, options, counts, [this](std::uint32_t number, std::uint64_t offset) {
        return local_bytes(*blocks.at(number)).data() + offset;
      }) {}

void Heap::State::complete(mpi::Request request, const char* what) {
  far.wait([&] { return mpi::test_all({&request, 1}); }, what);
}

void Heap::State::meet(HeapCall call, std::array<std::int64_t, 2> numbers) {
  ++calls;
  const std::array mine{std::int64_t{static_cast<std::uint8_t>(call)}, calls, numbers[0], numbers[1]};
  // MPI writes into it later where an error leaves this function.
  auto most = std::make_unique<std::vector<std::int64_t>>(mine.begin(), mine.end());
  for (const std::int64_t one : mine) most->push_back(-one);
  const mpi::Request request = mpi::start_combining(comm, std::span(*most), mpi::Combination::max);
  try {
    complete(request, "all ranks to call the same function");
  } catch (...) {
    static_cast<void>(most.release());
    throw;
  }
  const auto differ = [&](std::size_t i) { return (*most)[i] != -(*most)[i + mine.size()]; };
  if (differ(0))
    throw Error(ErrorKind::usage,
                fmt::format("in call {} of a heap some ranks are in {}, others in {}", calls,
                            name_of((*most)[0]), name_of(-(*most)[mine.size()])),
                "the same collective functions in the same order on all ranks");
  if (differ(1) || differ(2) || differ(3))
    throw Error(ErrorKind::usage,
                fmt::format("in call {} of a heap, {}, the ranks do not mean the same {}", calls,
                            name_of((*most)[0]), meant_by(call)),
                "the same array, root, type and number of values on all ranks");
}

std::vector<std::int64_t> Heap::State::numbers_of_all(std::int64_t mine) {
  const auto ranks = static_cast<std::size_t>(comm.view().size());
  std::vector<std::int64_t> all(ranks);
  const mpi::Blocks blocks_of(std::vector<std::int64_t>(ranks, sizeof mine));
  complete(mpi::start_collecting(comm, std::as_bytes(std::span(&mine, 1)),
                                 std::as_writable_bytes(std::span(all)), blocks_of),
           "a number of each rank");
  return all;
}

void Heap::State::grow(const std::vector<std::int64_t>& bytes_of_rank) {
  const std::int64_t mine = bytes_of_rank[static_cast<std::size_t>(comm.view().rank())];
  const auto segment_bytes = [&](std::int64_t wanted) { return std::max(wanted, options.segment_bytes); };
  auto segment = std::make_unique<Segment>(node, static_cast<std::size_t>(segment_bytes(mine)));
  const std::int64_t rank = comm.view().rank(), none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t failed = mpi::min(comm, segment->complete() ? none : rank);
  if (failed != none) {
    segment.reset();  // all together
    throw Error(ErrorInfo{
        .kind = ErrorKind::resource,
        .message = fmt::format("no memory for {} bytes of a heap on rank {}",
                               segment_bytes(bytes_of_rank[static_cast<std::size_t>(failed)]), failed),
        .path = {},
        .rank = static_cast<int>(failed),
        .hint = "smaller arrays, or fewer ranks on a machine"});
  }
  some_not_shared = some_not_shared || (!segment->shared() && node.ranks().size() > 1);
  segments.push_back(std::move(segment));
}

Segment& Heap::State::room_for(const std::vector<std::int64_t>& bytes_of_rank) {
  constexpr std::size_t bits = 64;
  const auto mine = static_cast<std::size_t>(bytes_of_rank[static_cast<std::size_t>(comm.view().rank())]);
  std::vector<std::uint64_t> too_small(segments.size() / bits + 1);
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (!segments[i]->ranges().find(mine)) too_small[i / bits] |= std::uint64_t{1} << (i % bits);
  mpi::unite_bits(comm, too_small);
  for (std::size_t i = 0; i < segments.size(); ++i)
    if ((too_small[i / bits] >> (i % bits) & 1U) == 0) return *segments[i];
  grow(bytes_of_rank);
  return *segments.back();
}

std::shared_ptr<detail::HeapBlock> Heap::State::place(Segment& segment, std::size_t bytes) {
  auto block = std::make_shared<Block>();
  block->heap = this;
  block->segment = &segment;
  block->offset = segment.ranges().find(bytes).value();
  segment.ranges().take(block->offset, bytes);
  block->near = segment.places(block->offset);
  std::fill_n(segment.own() + block->offset, bytes, std::byte{0});
  return block;
}

void Heap::State::register_block(const std::shared_ptr<Block>& block) {
  const auto empty = std::find(blocks.begin(), blocks.end(), nullptr);
  block->number = static_cast<std::uint32_t>(empty - blocks.begin());
  if (empty == blocks.end())
    blocks.push_back(block);
  else
    *empty = block;
}

void Heap::State::check(const Place& place, std::int64_t bytes) const {
  const Block* const block = place.block;
  if (block == nullptr || block->heap != this)
    throw Error(ErrorKind::input,
                block == nullptr         ? "an array that no heap has allocated"
                : block->heap == nullptr ? "an array that was freed already"
                                         : "an array of another heap",
                "arrays that this heap has allocated and not freed");
  if (place.rank < 0 || place.rank >= comm.view().size())
    throw Error(ErrorKind::input,
                fmt::format("rank {} of a heap of {} ranks", place.rank, comm.view().size()),
                "a rank of the heap's communicator");
  const std::int64_t size = block->bytes_on(place.rank);
  if (place.offset_bytes >= 0 && bytes <= size - place.offset_bytes) return;
  const auto element = static_cast<std::int64_t>(block->element_bytes);
  throw Error(ErrorInfo{
      .kind = ErrorKind::input,
      .message =
          fmt::format("elements {} to {} of an array that has {} on rank {}", place.offset_bytes / element,
                      (place.offset_bytes + bytes) / element - 1, size / element, place.rank),
      .path = {},
      .rank = comm.view().rank(),
      .hint = "elements that the rank has: see Heap::count"});
}

void Heap::State::check(const Place& place, const detail::ElementPattern& pattern, std::size_t element_bytes,
                        std::size_t bytes) const {
  const auto element = static_cast<std::int64_t>(element_bytes);
  if (pattern.count * element != static_cast<std::int64_t>(bytes))
    throw Error(
        ErrorKind::input,
        fmt::format("{} indices for {} values", pattern.count, static_cast<std::int64_t>(bytes) / element),
        "one index for each value");
  for (std::int64_t i = 0; i < pattern.count; ++i)
    check({place.block, place.rank, place.offset_bytes + pattern[i] * element}, element);
}

std::byte* Heap::State::near(const Place& place) const noexcept {
  const auto& ranks = node.ranks();
  const auto found = std::lower_bound(ranks.begin(), ranks.end(), place.rank);
  if (found == ranks.end() || *found != place.rank) return nullptr;
  std::byte* const part = place.block->near[static_cast<std::size_t>(found - ranks.begin())];
  return part == nullptr ? nullptr : part + place.offset_bytes;
}

}  // namespace tailrace::exchange
