// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/exchange/field.hpp"

/// Memory that all ranks of a communicator reach, in the vocabulary of OpenSHMEM. What is ordered by what,
/// and when others see it: rules M1 to M9 of docs/explain/exchange.md.
namespace tailrace::exchange {

/// Numbers that atomic operations know.
template <class T>
concept AtomicInteger = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ||
    std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>;
template <class T>
concept AtomicNumber = AtomicInteger<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;

enum class AtomicOp : std::uint8_t { load, store, add, bit_and, bit_or, bit_xor, swap, compare_swap };
enum class Compare : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };
/// What `put_signal` does to the signal.
enum class SignalOp : std::uint8_t { set, add };

struct HeapOptions {
  std::int64_t segment_bytes = 1 << 20;  ///< the least by which a rank's memory grows
  /// Small operations to one rank of another node leave together once they have so many bytes; 0: each one
  /// leaves alone.
  std::int64_t aggregate_bytes = 16384;
  double aggregate_age_s =
      100e-6;           ///< or once the first of them waits for so long, when `progress` is called
  double limit_s = 60;  ///< after which a rank that waits names those that do not answer
};

/// What operations of this rank have come to so far.
struct HeapCounts {
  std::int64_t near = 0, far = 0;        ///< operations within the node, and beyond
  std::int64_t messages = 0, bytes = 0;  ///< sent: far operations, replies
  std::int64_t served = 0;               ///< operations of others that this rank has carried out
  std::int64_t largest_message = 0;      ///< bytes
  double wait_s = 0;                     ///< for others
};

struct HeapSummary {
  int segments = 0;
  std::int64_t reserved_bytes = 0, used_bytes = 0;  ///< of this rank's memory
  std::int64_t buffer_bytes = 0;                    ///< the most that messages on their way may take
  int near_ranks = 0;                               ///< that loads and stores reach, this one included
  std::string note;                                 ///< why memory of this rank is not shared, if it is not
};

namespace detail {
struct HeapBlock;

/// So many bytes of a block of a rank.
struct HeapPlace {
  const HeapBlock* block = nullptr;
  int rank = 0;
  std::int64_t offset_bytes = 0;
};

/// Where elements are, counted in elements from a place: at indices, or at a constant distance.
struct ElementPattern {
  std::int64_t count = 0;
  std::int64_t stride = 1;
  const std::int64_t* indices = nullptr;  ///< or null

  [[nodiscard]] std::int64_t operator[](std::int64_t i) const noexcept {
    return indices != nullptr ? indices[i] : i * stride;
  }
};

/// Numbers that add up alike are of one kind, whether they have a sign or not.
template <AtomicNumber T>
inline constexpr Number atomic_number = std::is_same_v<T, float>    ? Number::float32
                                        : std::is_same_v<T, double> ? Number::float64
                                        : sizeof(T) == 4            ? Number::int32
                                                                    : Number::int64;

template <class T>
std::uint64_t bits_of(T value) noexcept {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(value);
  else
    return std::bit_cast<std::uint64_t>(value);
}

template <class T>
T of_bits(std::uint64_t bits) noexcept {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  else
    return std::bit_cast<T>(bits);
}
}  // namespace detail

/// An element of a symmetric array on some rank.
template <class T>
struct Remote {
  detail::HeapPlace place;
};

/// An array of which every rank has a part, whose size may differ from rank to rank. Copies are the same
/// array. Its memory is the heap's.
template <class T>
class Symmetric {
 public:
  Symmetric() = default;
  Symmetric(std::shared_ptr<const detail::HeapBlock> block, std::span<T> local)
      : block_(std::move(block)), local_(local) {}

  /// This rank's part. @local
  [[nodiscard]] std::span<T> local() const noexcept { return local_; }
  /// Element `index` of a rank's part; whether there is one is looked at when it is used. @local
  [[nodiscard]] Remote<T> on(int rank, std::int64_t index = 0) const noexcept {
    return {{block_.get(), rank, index * static_cast<std::int64_t>(sizeof(T))}};
  }
  [[nodiscard]] const std::shared_ptr<const detail::HeapBlock>& block() const noexcept { return block_; }

 private:
  std::shared_ptr<const detail::HeapBlock> block_;
  std::span<T> local_;
};

/// Symmetric memory over a communicator. Within a node, operations are loads and stores in shared memory. An
/// operation towards another node is a message that its rank carries out while it is in any function of any
/// heap; ranks that wait in one do so all the time. Main thread only; several heaps do not disturb each
/// other. Errors of all operations (input): a place beyond the array, an array that was freed or is of
/// another heap.
class Heap {
 public:
  template <class T>
  using In = std::type_identity_t<std::span<const T>>;
  template <class T>
  using Out = std::type_identity_t<std::span<T>>;

  /// @collective{comm}, synchronises
  explicit Heap(mpi::CommView comm, const HeapOptions& options = {});
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  /// Completes what is open, then gives all memory back. @collective{comm}, synchronises, unless an error
  /// ends the program
  ~Heap();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;

  /// An array with `count` elements of this rank, zeroed. It stays where it is. @collective{comm},
  /// synchronises. Cost: five collective operations; 8 bytes per rank if the counts differ. Errors, the same
  /// on all ranks (input): a negative count; (resource): no memory for it on some rank.
  template <mpi::Sendable T>
  [[nodiscard]] Symmetric<T> allocate(std::int64_t count) {
    auto block = allocate_block(count, sizeof(T));
    const auto bytes = local_bytes(*block);
    return {std::move(block), {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)}};
  }
  /// Completes what is open on all ranks, then gives an array back; arrays in any order that is the same on
  /// all ranks. @collective{comm}, synchronises. Errors, the same on all ranks (input): it was freed before;
  /// it is not the same array on all ranks.
  template <class T>
  void free(const Symmetric<T>& array) {
    free_block(array.block().get());
  }
  /// Elements that a rank has. @local
  template <class T>
  [[nodiscard]] std::int64_t count(const Symmetric<T>& array, int rank) const {
    return bytes_on(array.block().get(), rank) / static_cast<std::int64_t>(sizeof(T));
  }

  /// Writes to another rank's part from an element on; `values` may be changed at once. One element of 4 or 8
  /// bytes is written as a whole. @local, waits only while too much is on its way
  template <class T>
  void put(const Remote<T>& to, In<T> values) {
    put_bytes(to.place, std::as_bytes(values));
  }
  template <class T>
  void put(const Remote<T>& to, const std::type_identity_t<T>& value) {
    put_bytes(to.place, std::as_bytes(std::span(&value, 1)));
  }
  /// Writes value i to the element `i * stride` behind `to`, or `indices[i]` behind it. @local, waits as
  /// `put`
  template <class T>
  void put_strided(const Remote<T>& to, std::int64_t stride, In<T> values) {
    put_elements(to.place, {signed_size(values), stride}, sizeof(T), std::as_bytes(values));
  }
  template <class T>
  void put_indexed(const Remote<T>& to, std::span<const std::int64_t> indices, In<T> values) {
    put_elements(to.place, at(indices), sizeof(T), std::as_bytes(values));
  }

  /// Begins to read; the values are there after `quiet` of that rank. @local, waits as `put`
  template <class T>
  void start_get(const Remote<T>& from, Out<T> out) {
    get_bytes(from.place, std::as_writable_bytes(out));
  }
  template <class T>
  void start_get_strided(const Remote<T>& from, std::int64_t stride, Out<T> out) {
    get_elements(from.place, {signed_size(out), stride}, sizeof(T), std::as_writable_bytes(out));
  }
  template <class T>
  void start_get_indexed(const Remote<T>& from, std::span<const std::int64_t> indices, Out<T> out) {
    get_elements(from.place, at(indices), sizeof(T), std::as_writable_bytes(out));
  }
  /// Reads, and waits for the values. @neighbour
  template <class T>
  void get(const Remote<T>& from, Out<T> out) {
    start_get(from, out);
    wait_for_gets();
  }
  template <class T>
  [[nodiscard]] T get(const Remote<T>& from) {
    T value{};
    get(from, std::span(&value, 1));
    return value;
  }
  template <class T>
  void get_strided(const Remote<T>& from, std::int64_t stride, Out<T> out) {
    start_get_strided(from, stride, out);
    wait_for_gets();
  }
  template <class T>
  void get_indexed(const Remote<T>& from, std::span<const std::int64_t> indices, Out<T> out) {
    start_get_indexed(from, indices, out);
    wait_for_gets();
  }

  /// Writes values, then sets or raises a signal: who sees the signal sees the values. @local, waits as `put`
  template <class T>
  void put_signal(const Remote<T>& to, In<T> values, const Remote<std::uint64_t>& signal, std::uint64_t value,
                  SignalOp how = SignalOp::set) {
    put_bytes(to.place, std::as_bytes(values));
    raise(signal.place, value, how);
  }
  /// Returns whether a number of this rank compares so with `value`; if it does, this rank sees all that was
  /// ordered before it was written. @local, does not wait
  template <AtomicInteger T>
  [[nodiscard]] bool test(const Symmetric<T>& array, std::int64_t index, Compare how,
                          std::type_identity_t<T> value) {
    progress();
    return compares(load_here(array, index), how, value);
  }
  /// Waits for that; returns the number. @neighbour. Errors (internal): not within `limit_s`.
  template <AtomicInteger T>
  T wait_until(const Symmetric<T>& array, std::int64_t index, Compare how, std::type_identity_t<T> value) {
    T seen{};
    wait([&] { return compares(seen = load_here(array, index), how, value); }, "a signal");
    return seen;
  }

  /// Each is one operation towards all other atomic operations and single values put there, from any rank.
  /// Those that return the old value wait for it. @neighbour
  template <AtomicNumber T>
  [[nodiscard]] T fetch(const Remote<T>& at) {
    return fetching(at, AtomicOp::load);
  }
  template <AtomicNumber T>
  T swap(const Remote<T>& at, std::type_identity_t<T> value) {
    return fetching(at, AtomicOp::swap, value);
  }
  template <AtomicNumber T>
  T fetch_add(const Remote<T>& at, std::type_identity_t<T> value) {
    return fetching(at, AtomicOp::add, value);
  }
  template <AtomicInteger T>
  T fetch_and(const Remote<T>& at, std::type_identity_t<T> value) {
    return fetching(at, AtomicOp::bit_and, value);
  }
  template <AtomicInteger T>
  T fetch_or(const Remote<T>& at, std::type_identity_t<T> value) {
    return fetching(at, AtomicOp::bit_or, value);
  }
  template <AtomicInteger T>
  T fetch_xor(const Remote<T>& at, std::type_identity_t<T> value) {
    return fetching(at, AtomicOp::bit_xor, value);
  }
  /// Sets the number to `desired` if it is `expected`; returns what it was. @neighbour
  template <AtomicInteger T>
  T compare_swap(const Remote<T>& at, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
    return fetching(at, AtomicOp::compare_swap, desired, expected);
  }
  /// The same without the old value. @local, wait as `put`
  template <AtomicNumber T>
  void set(const Remote<T>& at, std::type_identity_t<T> value) {
    changing(at, AtomicOp::store, value);
  }
  template <AtomicNumber T>
  void add(const Remote<T>& at, std::type_identity_t<T> value) {
    changing(at, AtomicOp::add, value);
  }
  template <AtomicInteger T>
  void bit_and(const Remote<T>& at, std::type_identity_t<T> value) {
    changing(at, AtomicOp::bit_and, value);
  }
  template <AtomicInteger T>
  void bit_or(const Remote<T>& at, std::type_identity_t<T> value) {
    changing(at, AtomicOp::bit_or, value);
  }
  template <AtomicInteger T>
  void bit_xor(const Remote<T>& at, std::type_identity_t<T> value) {
    changing(at, AtomicOp::bit_xor, value);
  }

  /// Orders what this rank wrote before towards each rank before what it writes there after. @local, waits
  /// only where some memory of a node could not be shared
  void fence();
  /// Waits until what this rank has begun towards one rank, or all, is done and seen by all. @neighbour
  void quiet(int rank);
  void quiet();
  /// `quiet` on all ranks, then all meet. @collective{comm}, synchronises
  void barrier_all();
  /// Carries out what others have asked for, and lets small operations leave that have waited for long; of
  /// all heaps. @local, does not wait
  void progress();

  /// Sends the root's values to all. @collective{comm}. What arrays hold is local to each rank: these need no
  /// symmetric memory, and order nothing. Errors of these, the same on all ranks (usage): ranks call
  /// different functions, or with other roots, types or numbers of values.
  template <mpi::Sendable T>
  void broadcast(std::span<T> values, int root) {
    broadcast_bytes(std::as_writable_bytes(values), sizeof(T), root);
  }
  /// Combines a value, or an array element by element, of all ranks; the same result on all.
  /// @collective{comm}, synchronises
  template <FieldNumber T>
  [[nodiscard]] T sum(T value) {
    return combined(value, Reduction::sum);
  }
  template <FieldNumber T>
  [[nodiscard]] T min(T value) {
    return combined(value, Reduction::min);
  }
  template <FieldNumber T>
  [[nodiscard]] T max(T value) {
    return combined(value, Reduction::max);
  }
  template <FieldNumber T>
  void sum(std::span<T> values) {
    combine(field(values), Reduction::sum);
  }
  template <FieldNumber T>
  void min(std::span<T> values) {
    combine(field(values), Reduction::min);
  }
  template <FieldNumber T>
  void max(std::span<T> values) {
    combine(field(values), Reduction::max);
  }
  /// The values of all ranks in the order of ranks; each may have another number of them. @collective{comm},
  /// synchronises
  template <mpi::Sendable T>
  [[nodiscard]] std::vector<T> collect(In<T> values) {
    return values_of<T>(collect_bytes(std::as_bytes(values), sizeof(T)));
  }
  /// Sends each rank as many of the values, in the order of ranks; returns what all ranks have sent here.
  /// @collective{comm}, synchronises
  template <mpi::Sendable T>
  [[nodiscard]] std::vector<T> all_to_all(In<T> values) {
    const auto each = static_cast<std::int64_t>(values.size()) / size();
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(size()), each);
    return all_to_all<T>(values, counts).first;
  }
  /// Sends `counts[r]` of the values to rank r; returns what came, and how many from each. @collective{comm},
  /// synchronises
  template <mpi::Sendable T>
  [[nodiscard]] std::pair<std::vector<T>, std::vector<std::int64_t>> all_to_all(
      In<T> values, const std::vector<std::int64_t>& counts) {
    auto [bytes, from] = all_to_all_bytes(std::as_bytes(values), sizeof(T), counts);
    return {values_of<T>(bytes), std::move(from)};
  }

  /// @local
  [[nodiscard]] const HeapCounts& counts() const noexcept;
  /// @local
  [[nodiscard]] HeapSummary describe() const;

 private:
  using Block = detail::HeapBlock;
  using Place = detail::HeapPlace;
  struct State;

  std::shared_ptr<const Block> allocate_block(std::int64_t count, std::size_t element_bytes);
  void free_block(const Block* block);
  [[nodiscard]] static std::span<std::byte> local_bytes(const Block& block);
  [[nodiscard]] std::int64_t bytes_on(const Block* block, int rank) const;
  void put_bytes(const Place& to, std::span<const std::byte> bytes);
  void put_elements(const Place& to, const detail::ElementPattern& pattern, std::size_t element_bytes,
                    std::span<const std::byte> values);
  void get_bytes(const Place& from, std::span<std::byte> out);
  void get_elements(const Place& from, const detail::ElementPattern& pattern, std::size_t element_bytes,
                    std::span<std::byte> out);
  void wait_for_gets();
  void raise(const Place& signal, std::uint64_t value, SignalOp how);
  void change(const Place& at, Number number, AtomicOp op, std::uint64_t operand);
  std::uint64_t fetch(const Place& at, Number number, AtomicOp op, std::uint64_t operand,
                      std::uint64_t expected);
  /// A number of this rank, with acquire order.
  std::uint64_t load_local(const Place& at, Number number);
  void wait(const std::function<bool()>& done, const char* what);
  void broadcast_bytes(std::span<std::byte> bytes, std::size_t element_bytes, int root);
  void combine(const Field& values, Reduction how);
  std::vector<std::byte> collect_bytes(std::span<const std::byte> mine, std::size_t element_bytes);
  std::pair<std::vector<std::byte>, std::vector<std::int64_t>> all_to_all_bytes(
      std::span<const std::byte> values, std::size_t element_bytes, const std::vector<std::int64_t>& counts);

  template <class Span>
  static std::int64_t signed_size(const Span& values) noexcept {
    return static_cast<std::int64_t>(values.size());
  }
  static detail::ElementPattern at(std::span<const std::int64_t> indices) noexcept {
    return {signed_size(indices), 1, indices.data()};
  }
  template <class T>
  T load_here(const Symmetric<T>& array, std::int64_t index) {
    return detail::of_bits<T>(load_local(array.on(rank(), index).place, detail::atomic_number<T>));
  }
  template <class T>
  static bool compares(T seen, Compare how, T value) noexcept {
    const std::array answers{seen == value, seen != value, seen<value, seen <= value, seen> value,
                             seen >= value};
    return answers[static_cast<std::size_t>(how)];
  }
  template <class T>
  T fetching(const Remote<T>& at, AtomicOp op, T value = {}, T expected = {}) {
    return detail::of_bits<T>(
        fetch(at.place, detail::atomic_number<T>, op, detail::bits_of(value), detail::bits_of(expected)));
  }
  template <class T>
  void changing(const Remote<T>& at, AtomicOp op, T value) {
    change(at.place, detail::atomic_number<T>, op, detail::bits_of(value));
  }
  template <class T>
  T combined(T value, Reduction how) {
    combine(field(std::span(&value, 1)), how);
    return value;
  }
  template <class T>
  static std::vector<T> values_of(const std::vector<std::byte>& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) std::as_writable_bytes(std::span(values))[i] = bytes[i];
    return values;
  }

  std::unique_ptr<State> state_;
};

}  // namespace tailrace::exchange
