// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "h5/file.hpp"
#include "h5/hyperslab.hpp"
#include "mpi/file.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::output {

/// A netCDF file (format CDF-5) that the ranks of a communicator have open through PnetCDF. Every call is
/// checked: errors (io) have the path and the system's or PnetCDF's reason, on the ranks that see them.
class PnetcdfFile {
 public:
  /// Makes the file `place`, which is in messages as `name`; then variables and attributes are defined.
  /// @collective{comm}
  static PnetcdfFile create(mpi::CommView comm, const std::string& place, const std::string& name,
                            const mpi::Hints& hints);
  /// Opens an existing file for writing. @collective{comm}
  static PnetcdfFile open(mpi::CommView comm, const std::string& path, const mpi::Hints& hints);
  PnetcdfFile(PnetcdfFile&& other) noexcept;
  PnetcdfFile& operator=(PnetcdfFile&&) = delete;
  PnetcdfFile(const PnetcdfFile&) = delete;
  PnetcdfFile& operator=(const PnetcdfFile&) = delete;
  /// Leaves a file that was not closed, which is collective, to the end of the process.
  ~PnetcdfFile() = default;

  /// Defines a variable; its dimensions are those of all variables with the same extent in the same place.
  /// @collective{comm}
  int define(const std::string& variable, const h5::Shape& shape, h5::ElementType type);
  /// Gives a variable, or with `global` the file, an attribute. Texts take at least their reserved bytes.
  /// @collective{comm}
  void define(int variable, const h5::Attribute& attribute);
  static constexpr int global = -1;  ///< NC_GLOBAL
  /// Ends the definitions. @collective{comm}
  void finish_definitions();
  /// Replaces the text of a global attribute by one that is not longer than the reserved bytes.
  /// @collective{comm}
  void update_text(const std::string& attribute, const std::string& text);

  [[nodiscard]] int find(const std::string& variable) const;
  /// The first byte of a variable in the file. @local
  [[nodiscard]] std::int64_t place(int variable) const;
  /// Writes a whole variable, from values of its own type. @collective{comm}
  void write_all(int variable, std::span<const std::byte> values);
  /// Writes one element, another one on each rank. @collective{comm}
  void write_element(int variable, const std::vector<std::uint64_t>& element, std::uint64_t value);

  /// Asks for blocks to be written by the next `complete`; until then the values belong to PnetCDF. @local
  void post(int variable, std::span<const h5::Hyperslab> hyperslabs, h5::ElementType type,
            std::span<const std::byte> values);
  /// Writes everything that was posted on any rank. @collective{comm}
  void complete();
  /// @collective{comm}
  void close();

 private:
  PnetcdfFile(int id, std::string name) : id_(id), name_(std::move(name)) {}
  void check(int code, const char* operation) const;

  int id_ = -1;
  std::string name_;
  std::map<std::string, int> dimensions_;
  std::vector<int> requests_;
};

}  // namespace tailrace::output
