// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "tailrace/fragments/program.hpp"

/// Fragment programs of which each shows one cost. All but those with work and the last three take the number
/// of fragments.
namespace tailrace::bench {

/// n fragments of which each reads an int of the one before; with `alternates` on the next rank each time.
fragments::Program chain(bool alternates);
/// A chain on rank 0 whose values are at home on rank 1: each fragment sends one, asks for one, gets one.
fragments::Program remote_values();
/// n fragments that read the same int.
fragments::Program independent();
/// n steps of 8 points on a ring, of which each reads three ints of the step before.
inline constexpr int ring_points = 8;
fragments::Program stencil();
/// The product of two n x n matrices of ints, each entry by n fragments.
fragments::Program matrix_product();
/// n structured fragments that create nothing.
fragments::Program structured();
/// n blocks, each of which declares a name, writes one int of it and reads that; the int goes by its use
/// count, or with its block.
fragments::Program blocks(bool counts_uses);

/// A program whose ranks have unequal work as long as no fragment moves, and the work of all of them
/// together.
struct Unbalanced {
  fragments::Program program;
  double work_s = 0;
};
/// Branches of very different size, all of them on the rank where the program begins.
Unbalanced unbalanced_tree();
/// A stencil on two ranks, of which one has the dear half of the points.
Unbalanced unbalanced_graph();

/// What a program below measured, in the process that ran it.
struct Seen {
  std::int64_t heap_before = 0, heap_full = 0, fragments = 0;
  double ended_s = 0;
};
/// n fragments wait for two reals each when the heap is looked at, for names of their own or all for the
/// same.
fragments::Program waiting(Seen& seen, bool own_names);
/// n blocks of one fragment, with a name each, are over when the heap is looked at.
fragments::Program blocks_over(Seen& seen);
/// n reals are there when the heap is looked at.
fragments::Program live_reals(Seen& seen);
/// A body that works for so many seconds on the last rank, and says when it ended.
fragments::Program one_body(Seen& seen, double seconds);
/// The same body, and n fragments that wait for ever: for a value that nobody writes, or for ten of them that
/// wait for each other.
fragments::Program never_ends(Seen& seen, double seconds, bool cycle);

}  // namespace tailrace::bench
