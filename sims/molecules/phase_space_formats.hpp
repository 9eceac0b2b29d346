// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "base/files.hpp"
#include "molecule_row.hpp"
#include "phase_space.hpp"

/// The formats, one source file each; inside only.
namespace tailrace::molecules {

/// Says what to do about a file that is too short.
inline constexpr const char* whole_file = "give the whole file";

/// Molecules that are in memory at a time.
inline constexpr std::int64_t batch_molecules = 32768;

// Opening: rank 0 reads the header.
std::unique_ptr<PhaseSpace> open_ascii(mpi::CommView comm, const PhaseSpaceFiles& files);
std::unique_ptr<PhaseSpace> open_binary(mpi::CommView comm, const PhaseSpaceFiles& files);
std::unique_ptr<PhaseSpace> open_cells(mpi::CommView comm, const PhaseSpaceFiles& files);
std::unique_ptr<PhaseSpace> open_netcdf(mpi::CommView comm, const PhaseSpaceFiles& files);
std::unique_ptr<PhaseSpace> open_mpi_restart(mpi::CommView comm, const PhaseSpaceFiles& files);

/// Describes what the writers are given beside the state.
struct StateTotals {
  std::int64_t before = 0, molecules = 0;  ///< refers to the ranks before this one; of all
  std::uint64_t state_sum = 0;             ///< refers to all
};

// Writing. Of two files that with the data is made first, and gets its name first.
void write_ascii(mpi::CommView comm, const PhaseSpaceFiles&, const PhaseSpaceState&, const StateTotals&);
void write_binary(mpi::CommView comm, const PhaseSpaceFiles&, const PhaseSpaceState&, const StateTotals&);
void write_cells(mpi::CommView comm, const PhaseSpaceFiles&, const PhaseSpaceState&, const StateTotals&);
void write_netcdf(mpi::CommView comm, const PhaseSpaceFiles&, const PhaseSpaceState&, const StateTotals&);
void write_mpi_restart(mpi::CommView comm, const PhaseSpaceFiles&, const PhaseSpaceState&,
                       const StateTotals&);

/// The next molecules of this rank's part of a file, at most `batch_molecules`; none at its end.
using NextBatch = std::function<std::vector<Molecule>()>;
/// Reads a part of the file on each rank and sends the molecules to their owners. @collective{comm}
void read_in_parts(mpi::CommView comm, const Share& share, const std::string& path, const NextBatch& next,
                   const Take& take);

/// Rows that lie together in a file.
struct RowRange {
  std::int64_t offset = 0, count = 0;
};
/// Describes how rows of a file become molecules.
struct RowCode {
  std::int64_t bytes = 0;       ///< from one to the next
  std::int64_t used_bytes = 0;  ///< without a gap at the end, which the last one may lack
  std::function<Molecule(std::span<const std::byte>)> unpack;
};
RowCode code_of(const RowLayout& layout);
/// Reads rows from ranges of a file, batch by batch.
class RowReader {
 public:
  RowReader(const InputFile& file, RowCode code, std::vector<RowRange> ranges)
      : file_(file), code_(std::move(code)), ranges_(std::move(ranges)) {}
  std::vector<Molecule> next();

 private:
  const InputFile& file_;
  RowCode code_;
  std::vector<RowRange> ranges_;
  std::size_t at_ = 0;     ///< the range that is being read
  std::int64_t done_ = 0;  ///< rows of it
  std::vector<std::byte> bytes_;
};

/// This rank's part of `count` things that lie one behind the other, as even as may be.
struct Part {
  std::int64_t begin = 0, end = 0;
};
constexpr Part part_of(std::int64_t count, int rank, int ranks) noexcept {
  return {count / ranks * rank + count % ranks * rank / ranks,
          count / ranks * (rank + 1) + count % ranks * (rank + 1) / ranks};
}
/// The rank in whose part a thing is.
int part_with(std::int64_t index, std::int64_t count, int ranks) noexcept;

/// A text that rank 0 reads or makes, on all ranks. @collective{comm}
std::string share_text(mpi::CommView comm, const std::function<std::string()>& make);

}  // namespace tailrace::molecules
