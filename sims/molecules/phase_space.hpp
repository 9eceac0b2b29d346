// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file_access.hpp"
#include "model.hpp"
#include "molecule_list.hpp"
#include "region.hpp"
#include "tailrace/comm.hpp"
#include "validation.hpp"

/// Files with the state of molecules, in all formats of MarDyn and ls1 mardyn, read and written by all ranks
/// together (docs/formats/molecules.md).
namespace tailrace::molecules {

enum class PhaseSpaceFormat {
  ascii,        ///< text
  binary,       ///< an XML header beside rows of 116, 60 or 56 bytes
  cells,        ///< a text header beside rows in cells of space
  netcdf,       ///< a text header beside cells as variables of a netCDF file
  mpi_restart,  ///< rows behind a table of the ranks that wrote
};
/// As the format is named in messages and on command lines.
const char* to_string(PhaseSpaceFormat format) noexcept;

/// The files of a state. Those of one file have no header.
struct PhaseSpaceFiles {
  PhaseSpaceFormat format = PhaseSpaceFormat::ascii;
  std::string header, data;

  friend bool operator==(const PhaseSpaceFiles&, const PhaseSpaceFiles&) = default;
};

/// The files that belong to a name without its endings, as the reference names them: PREFIX.restart.dat,
/// PREFIX.restart.header.xml and so on. @local
PhaseSpaceFiles files_of(PhaseSpaceFormat format, const std::string& prefix);
/// The files of a state that is to be written to `path`: that one file, or two that have its name, as it is
/// or without the ending of either. @local
PhaseSpaceFiles files_at(PhaseSpaceFormat format, const std::string& path);
/// Returns what a file is by its first bytes, with the one that belongs to it. @local. Errors (input): it
/// cannot be read, is none of these, or the other file is missing.
PhaseSpaceFiles recognise(const std::string& path);

/// Describes what a file says beside its molecules; what it leaves out has no value.
struct PhaseSpaceHeader {
  std::int64_t molecules = 0;
  std::optional<double> time;
  std::optional<Vec3> box;
  std::optional<double> temperature;  ///< target of the thermostat
  std::vector<Component> components;
  std::vector<Mixing> mixing;
  std::optional<double> reaction_field_epsilon;
  std::optional<std::uint64_t> state_sum;  ///< refers to all molecules; only our files say
  std::vector<std::string> warnings;       ///< says what is there and has no effect
};

/// Who reads: the same on all ranks but for `own`.
struct Share {
  Limits limits;
  Region own;                             ///< refers to this rank; the regions of all ranks tile the box
  std::function<int(const Vec3&)> owner;  ///< the rank in whose region a point is
};

/// Takes a molecule of this rank.
using Take = std::function<void(const Molecule&)>;

/// A file with the state of molecules, open for reading.
class PhaseSpace {
 public:
  PhaseSpace(const PhaseSpace&) = delete;
  PhaseSpace& operator=(const PhaseSpace&) = delete;
  virtual ~PhaseSpace() = default;

  [[nodiscard]] const PhaseSpaceHeader& header() const noexcept { return header_; }
  /// Hands each molecule to the rank that owns it, in an order that depends on the file and the number of
  /// ranks only. @collective, synchronises. Errors (input), on all ranks: the file is truncated, or of
  /// another byte order; molecules that are none (`check_molecule`), another number of them than the header
  /// says, an id or a point twice; a state other than that of the header. Memory: 4 MiB, 16 bytes for each
  /// molecule.
  void read(const Share& share, const Take& take);
  /// Bytes that this rank has read. @local
  [[nodiscard]] virtual std::int64_t bytes_read() const noexcept = 0;

 protected:
  PhaseSpace(mpi::CommView comm, PhaseSpaceHeader header, std::string path)
      : comm_(mpi::Comm::duplicate(comm)), header_(std::move(header)), path_(std::move(path)) {}
  [[nodiscard]] mpi::CommView comm() const noexcept { return comm_.view(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  /// The molecules of this rank, checked one by one.
  virtual void read_molecules(const Share& share, const Take& take) = 0;

  mpi::Comm comm_;
  PhaseSpaceHeader header_;
  std::string path_;
};

/// Opens a file: rank 0 reads the header and sends it to all. Of two files of which a crash left the first
/// one without its header, that is the file .partial beside it. @collective{comm}, synchronises. Errors
/// (input), on all ranks.
std::unique_ptr<PhaseSpace> open_phase_space(mpi::CommView comm, const PhaseSpaceFiles& files);

/// Describes what is written: the same on all ranks but for `own` and the molecules.
struct PhaseSpaceState {
  double time = 0, temperature = 0;  ///< the target of the thermostat, 0 for none
  Vec3 box{};
  const Model* model = nullptr;
  Region own;  ///< refers to this rank
  MoleculeList list;
  std::array<std::int64_t, 3> cells{1, 1, 1};  ///< refers to the formats in cells, along x, y, z
  FileAccess access{};
};

/// Writes a state. Files that are there keep their content until the new ones are complete and on the device.
/// @collective{comm}, synchronises. Errors (io), on all ranks. Memory: 4 MiB, with the formats in cells 8
/// bytes for each molecule and 16 for each cell of the rank's share.
void write_phase_space(mpi::CommView comm, const PhaseSpaceFiles& files, const PhaseSpaceState& state);

}  // namespace tailrace::molecules
