#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "grid.hpp"
#include "mpi/message.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/decomposition.hpp"

namespace tailrace::seismic {

/// Bricks, as many as ranks, with the least to exchange for a grid: rows along x are cut last, because the
/// pieces of a cut across them lie apart in memory.
layout::Decomposition choose_bricks(Index3 extents, int ranks);

/// Keeps the points around a rank's box as their owners have them: the `reach` points beyond its faces and,
/// for mixed derivatives, beyond its edges; what lies outside of the grid is left alone. Of any
/// decomposition, also one with parts thinner than `reach`, or without points.
class Halo {
 public:
  /// For arrays of this layout whose elements have `value_bytes`. @collective{comm}
  Halo(mpi::CommView comm, const layout::Decomposition& decomposition, const ArrayLayout& layout,
       std::size_t value_bytes, bool edges);
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  /// The points, counted from the low corner of the rank's box, that no other rank needs. @local
  [[nodiscard]] const Box& interior() const noexcept { return interior_; }
  /// The other points of the rank's box, as boxes that do not overlap. @local
  [[nodiscard]] const std::vector<Box>& shells() const noexcept { return shells_; }

  /// Starts to exchange the halos of a field; `field` is the start of its array. Several fields may be on
  /// their way, each with its own number from 0 on. The points of the shells stay as they are, and the halo
  /// is not read, until `finish`. @collective, does not wait.
  void start(std::byte* field, int number);
  /// Lets the messages go on. @local, does not wait
  void poll();
  /// Waits until all halos are there. @collective
  void finish();

 private:
  struct Message {
    std::int64_t offset_bytes = 0;  ///< from the start of the array
    mpi::BlockType type;
    int peer = 0, tag = 0;
  };
  [[nodiscard]] Message message(const Box& block, int peer, int direction) const;
  void find_messages(const layout::Decomposition& decomposition, bool edges);
  void divide(const layout::Decomposition& decomposition);

  mpi::Comm comm_;
  ArrayLayout layout_;
  std::size_t value_bytes_;
  Box own_, interior_;
  std::vector<Box> shells_;
  std::vector<Message> sends_, receives_;
  std::vector<MPI_Request> receiving_, sending_;
};

}  // namespace tailrace::seismic
