// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "contents.hpp"
#include "stored_cell.hpp"

namespace tailrace::checkpoint {

/// Reads cells of a set: the directories of those parts that are of interest, then the cells of interest, in
/// as few reads as they lie together.
class CellReader {
 public:
  CellReader(const InputFile& file, std::string path, const Contents::Set& set)
      : file_(file), path_(std::move(path)), set_(set) {}

  using Words = std::span<const std::uint64_t>;
  /// Describes whether cells with this span (of a part), or this cell (of an entry), are wanted: the first
  /// words of either.
  using Wanted = std::function<bool(Words)>;
  using Take = std::function<void(Words entry, std::span<const std::byte> data)>;

  /// Hands all cells that are wanted to `take`, in the order of the file. Errors (input): one is damaged, or
  /// the directory is. Of a compressed one the stored bytes are looked at before they are decompressed.
  void read(const Wanted& part_wanted, const Wanted& cell_wanted, const Take& take) const;

 private:
  [[nodiscard]] std::vector<std::uint64_t> entries_of(Words part) const;
  /// Cells that lie together in the file.
  struct Run {
    std::int64_t begin = 0, end = 0;  ///< bytes of the file
    std::vector<std::uint64_t> entries;
  };
  [[nodiscard]] std::vector<Run> runs_of(const Wanted& part_wanted, const Wanted& cell_wanted) const;
  void take_run(const Run& run, std::span<const std::byte> data, CellDecompressor* decompressor,
                const Take& take) const;
  [[nodiscard]] std::span<const std::byte> plain(Words entry, std::span<const std::byte> stored,
                                                 CellDecompressor& decompressor) const;
  [[noreturn]] void damaged(const std::string& what, std::int64_t offset) const;
  [[nodiscard]] std::int64_t place_of(Words entry) const noexcept;
  [[nodiscard]] std::int64_t end_of(Words entry) const noexcept;

  const InputFile& file_;
  std::string path_;
  const Contents::Set& set_;
};

}  // namespace tailrace::checkpoint
