// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "digest.hpp"
#include "inventory.hpp"
#include "stored_cell.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::checkpoint {

/// A cell of a field, or of items, has at most so many bytes, unless a single row or item has more: what a
/// reader of a part of the field reads too much, and what a checksum covers.
inline constexpr std::int64_t max_cell_bytes = 1 << 20;

/// Returns a number as the directory of cells holds it.
constexpr std::uint64_t word(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number);
}

/// Describes where a rank's share of something lies among those of all.
struct Share {
  std::int64_t first = 0, own = 0, all = 0;
};

/// A field, or a set of rows or items, on its way to the file: what this rank has of it, cell after cell.
class OutgoingSet {
 public:
  OutgoingSet(const OutgoingSet&) = delete;
  OutgoingSet& operator=(const OutgoingSet&) = delete;
  virtual ~OutgoingSet() = default;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Elements or rows here, and entries of the directory.
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t entry_count() const noexcept { return static_cast<std::int64_t>(cells()); }
  [[nodiscard]] bool is_compressed() const noexcept { return compressor_ != nullptr; }
  /// Numbers of an entry; the last three are first, count and digest, before them, if the set is compressed,
  /// first stored word, stored words and their digest.
  [[nodiscard]] std::size_t entry_words() const noexcept { return head_words_ + (is_compressed() ? 6 : 3); }
  /// Numbers of a part.
  [[nodiscard]] std::size_t part_words() const { return span().size() + 3; }
  /// Bytes of an element or a record.
  [[nodiscard]] std::int64_t bytes_each() const noexcept { return bytes_each_; }
  /// Bytes of the dataset here; of a compressed set, as far as its cells have been made.
  [[nodiscard]] std::int64_t stored_bytes() const noexcept {
    return is_compressed() ? stored_bytes_ : count_ * bytes_each_;
  }
  /// The dataset of all ranks, which have so many elements or rows and store so many bytes.
  [[nodiscard]] h5::DatasetSpec data_spec(std::int64_t count, std::int64_t stored_bytes) const;

  /// Makes all cells before the first one is given: of a compressed set, to know what they take. Up to
  /// `max_kept` bytes of them are kept; the others are made again when they are given.
  void make_all(std::int64_t max_kept);
  [[nodiscard]] std::int64_t kept_bytes() const noexcept { return static_cast<std::int64_t>(kept_.size()); }
  /// Gives the bytes of the dataset in their order: fills `out`, or gives what is left. Returns the bytes
  /// given.
  std::size_t give(std::span<std::byte> out);
  /// Says where the cells of this rank begin, in elements or rows and in bytes. Those of a compressed set
  /// have been made before.
  void place(std::int64_t first, std::int64_t first_byte);

  /// What this rank's box adds to the `corner_sum` of all, and what the sum is if the boxes cover the domain
  /// once; both 0 for what has no boxes.
  struct Cover {
    std::uint64_t own = 0, all = 0;
  };
  [[nodiscard]] virtual Cover cover() const { return {}; }

  /// Complete when all cells have been made: their entries, and the sum of the set's checksums.
  [[nodiscard]] const std::vector<std::uint64_t>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
  /// Returns what is in `parts` of this rank, whose entries begin at `first_entry`.
  [[nodiscard]] std::vector<std::uint64_t> part(std::int64_t first_entry) const;

 protected:
  /// Entries begin with so many words that say which cell it is. Without a compressor the set is stored as
  /// it is; with one, it is given as a whole before another set that has the same.
  OutgoingSet(std::string path, std::size_t head_words, std::int64_t bytes_each,
              std::shared_ptr<CellCompressor> compressor);
  /// Adds a cell.
  void add_cell(const std::vector<std::uint64_t>& head, std::int64_t count);
  /// The dataset of all ranks where nothing is compressed.
  [[nodiscard]] virtual h5::DatasetSpec plain_spec(std::int64_t count) const = 0;
  /// Makes the elements or rows of a cell.
  virtual void make_cell(std::size_t cell, std::span<std::byte> out) = 0;
  /// Returns what a cell adds to the sum of the set.
  [[nodiscard]] virtual std::uint64_t sum_of(std::span<const std::byte> cell, std::uint64_t digest) const = 0;
  /// The first words of a part: what its cells span.
  [[nodiscard]] virtual std::vector<std::uint64_t> span() const = 0;

 private:
  [[nodiscard]] std::size_t cells() const noexcept { return entries_.size() / entry_words(); }
  [[nodiscard]] std::uint64_t* entry_end(std::size_t cell) noexcept {
    return entries_.data() + (cell + 1) * entry_words();
  }
  [[nodiscard]] std::size_t cell_bytes(std::size_t cell) noexcept;
  std::span<const std::byte> make_stored(std::size_t cell, std::span<std::byte> place);
  std::span<std::byte> room_for(std::size_t cell);
  std::size_t begin_cell(std::span<std::byte> out);

  std::string path_;
  std::size_t head_words_;
  std::int64_t bytes_each_;
  std::shared_ptr<CellCompressor> compressor_;
  std::int64_t count_ = 0, stored_bytes_ = 0;
  std::vector<std::uint64_t> entries_;
  std::uint64_t sum_ = 0;
  std::size_t marked_ = 0;                 ///< cells whose entries are complete
  std::size_t next_ = 0;                   ///< the cell that is given next
  std::span<const std::byte> ready_;       ///< bytes before it that are not given yet
  std::vector<std::byte> scratch_, kept_;  ///< a cell that has no room where it belongs; the first ones
};

/// All fields, row sets and item sets of an inventory, in its order.
std::vector<std::unique_ptr<OutgoingSet>> outgoing_sets(const Inventory& inventory,
                                                        const Compression& compression);

/// A set, and where this rank's shares lie: elements or rows, bytes of the dataset, entries.
struct PlacedSet {
  OutgoingSet* set = nullptr;
  Share count, stored, entries;

  [[nodiscard]] h5::DatasetSpec data_spec() const { return set->data_spec(count.all, stored.all); }
};

/// Returns where the sets of all ranks lie one behind the other. Cells of compressed sets have been made
/// before. @collective{comm}. Errors (input), on all ranks: boxes that do not cover a field once.
std::vector<PlacedSet> place_sets(mpi::CommView comm, const std::vector<std::unique_ptr<OutgoingSet>>& sets);

}  // namespace tailrace::checkpoint
