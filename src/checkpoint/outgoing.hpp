#pragma once

#include <memory>
#include <string>
#include <vector>

#include "digest.hpp"
#include "inventory.hpp"
#include "tailrace/mpi/comm.hpp"

namespace tailrace::checkpoint {

/// A cell of a field has at most so many bytes, unless a single row has more: what a reader of a part of the
/// field reads too much, and what a checksum covers.
inline constexpr std::int64_t most_cell_bytes = 1 << 20;

/// Where a rank's share of something lies among those of all.
struct Share {
  std::int64_t first = 0, own = 0, all = 0;
};

/// A field or a set of records on its way to the file: what this rank has of it, cell after cell.
class OutgoingSet {
 public:
  explicit OutgoingSet(std::string path) : path_(std::move(path)) {}
  OutgoingSet(const OutgoingSet&) = delete;
  OutgoingSet& operator=(const OutgoingSet&) = delete;
  virtual ~OutgoingSet() = default;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Elements or records here, and entries of the directory.
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t entry_count() const noexcept {
    return static_cast<std::int64_t>(entries_.size() / entry_words());
  }
  /// Numbers of an entry; the last three are first, count and digest.
  [[nodiscard]] virtual std::size_t entry_words() const noexcept = 0;
  /// Numbers of a part.
  [[nodiscard]] std::size_t part_words() const { return span().size() + 3; }
  /// Values of the dataset's type that an element or a record takes.
  [[nodiscard]] virtual std::int64_t values_each() const noexcept = 0;
  /// The dataset of `all` elements or records.
  [[nodiscard]] virtual h5::DatasetSpec data_spec(std::int64_t all) const = 0;

  /// Says where the cells of this rank begin.
  void place(std::int64_t first);
  /// Makes values [first, first + count) of this rank, in the order of the file; called once for each, in
  /// ascending order.
  virtual void fill(std::int64_t first, std::int64_t count, std::span<std::byte> out) = 0;

  /// Complete when all was filled: the entries of this rank's cells, and the sum of the set's checksums.
  [[nodiscard]] const std::vector<std::uint64_t>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
  /// What stands in `parts` of this rank, whose entries begin at `first_entry`.
  [[nodiscard]] std::vector<std::uint64_t> part(std::int64_t first_entry) const;

 protected:
  /// Adds a cell; `head` are the first words of its entry.
  void add_cell(const std::vector<std::uint64_t>& head, std::int64_t count);
  void note_digest(std::size_t cell, std::uint64_t digest) noexcept {
    entries_[(cell + 1) * entry_words() - 1] = digest;
  }
  void add_to_sum(std::uint64_t digest) noexcept { sum_ += digest; }
  /// The first words of a part: what its cells span.
  [[nodiscard]] virtual std::vector<std::uint64_t> span() const = 0;

 private:
  std::string path_;
  std::int64_t count_ = 0;
  std::vector<std::uint64_t> entries_;
  std::uint64_t sum_ = 0;
};

/// All fields and record sets of an inventory, in its order.
std::vector<std::unique_ptr<OutgoingSet>> outgoing_sets(const Inventory& inventory);

/// A set, and where this rank's shares of its datasets begin.
struct PlacedSet {
  OutgoingSet* set = nullptr;
  Share data, entries;
};

/// Where the sets of all ranks lie one behind the other. @collective{comm}
std::vector<PlacedSet> place_sets(mpi::CommView comm, const std::vector<std::unique_ptr<OutgoingSet>>& sets);

}  // namespace tailrace::checkpoint
