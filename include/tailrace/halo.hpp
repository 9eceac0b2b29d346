// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/decomposition.hpp"

namespace tailrace::layout {

/// Describes which of the points around a box are exchanged: those beyond its faces, also those beyond its
/// edges (for mixed derivatives), or all.
enum class HaloPoints { faces = 1, edges = 2, corners = 3 };

struct HaloConfig {
  Decomposition decomposition;  ///< over as many ranks as the communicator has
  LocalLayout layout;           ///< refers to this rank's arrays, halo included; may differ between ranks
  std::size_t element_bytes = 0;
  std::int64_t width = 1;  ///< points beyond each side of a box
  HaloPoints points = HaloPoints::faces;
};

/// Keeps the points around a rank's box as their owners have them; what lies outside of the grid is left
/// alone. Works with any decomposition, also one with boxes thinner than `width`, or empty. MPI takes the
/// points out of one array and puts them into the other. Main thread only.
class Halo {
 public:
  /// The most fields that may be on their way at once.
  static constexpr int max_fields = 1024;

  /// Plans the messages. All of `config` but the layout agrees on all ranks. @collective{comm}, synchronises
  Halo(mpi::CommView comm, const HaloConfig& config);
  /// Gives up what has not finished, which is only right while an error ends the program. @collective{comm}
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  /// The points, counted from the low corner of the rank's box, that no other rank needs. @local
  [[nodiscard]] const Box& interior() const noexcept { return interior_; }
  /// The other points of the rank's box, as boxes that do not overlap. @local
  [[nodiscard]] const std::vector<Box>& shells() const noexcept { return shells_; }

  /// Starts to exchange the halos of a field; `first` is the element at the low corner of the rank's box.
  /// Several fields may be on their way, each with its own number from 0 on. The points of the shells stay
  /// as they are, and the halo is not read, until `finish`. @collective{comm}, does not wait.
  void start(void* first, int field);
  /// Lets MPI continue. @local, does not wait.
  void progress();
  /// Waits until all halos are there. @collective{comm}
  void finish();
  /// Exchanges the halo of one field. @collective{comm}
  void exchange(void* first);

 private:
  struct Message;

  mpi::Comm comm_;
  Box interior_;
  std::vector<Box> shells_;
  std::vector<Message> sends_, receives_;
  std::vector<mpi::Request> receiving_, sending_;
};

}  // namespace tailrace::layout
