// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/save.hpp"
#include "h5/file.hpp"
#include "outgoing.hpp"
#include "tailrace/file_content.hpp"

namespace tailrace::checkpoint {

/// Parts are written, sent and copied so many bytes at a time.
inline constexpr std::int64_t batch_bytes = 4 << 20;

/// Describes what one rank wrote of a checkpoint into a file of its node: enough to lay out the file of the
/// whole checkpoint, to put this part to its place there, and to verify it alone
/// (docs/formats/checkpoint.md).
struct Part {
  struct Set {
    h5::DatasetSpec data;  ///< as the whole file has it
    std::int64_t bytes_each = 0;
    std::size_t entry_words = 0;
    bool compressed = false;
    Share count, stored,
        entries;  ///< refers to this rank, elements or rows, bytes of data, entries of the directory
    std::vector<std::uint64_t> row;            ///< refers to this rank in `parts`
    std::uint64_t sum = 0;                     ///< refers to this rank's checksums
    std::int64_t data_at = 0, entries_at = 0;  ///< in the file of the part

    [[nodiscard]] std::string name() const;  ///< such as "solver/p"
    [[nodiscard]] std::int64_t entry_bytes() const noexcept;
    [[nodiscard]] std::int64_t entries_bytes() const noexcept { return entries.own * entry_bytes(); }
  };
  std::string run;  ///< by which the segment names what it leaves on the nodes
  Origin origin;
  int rank = 0, ranks = 1;
  std::string created;
  std::vector<output::StaticDataset> head;  ///< numbers, texts and versions
  std::vector<Set> sets;
  std::int64_t bytes = 0;  ///< refers to the file of the part

  [[nodiscard]] bool is_compressed() const noexcept {
    return std::any_of(sets.begin(), sets.end(), [](const Set& set) { return set.compressed; });
  }
};

/// Says where each set is in the file: the data of all sets one behind the other, then the entries of
/// all. @local
void place_in_file(Part& part);

/// As a text that carries its own checksum, and back. Errors (input): `path` is damaged or of another format.
std::string to_text(const Part& part);
Part part_of(const std::string& path, const std::string& text);
Part read_part(const std::string& path);

/// Reads the file of a part and compares all checksums. Errors (input): it is missing or damaged. @local
void verify(const Part& part, const std::string& data_path);

}  // namespace tailrace::checkpoint
