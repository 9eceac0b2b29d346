// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "exchange_peers.hpp"

/// The same exchanges by libraries of others, each in a file of its own that is compiled where the library is
/// found. Tailrace depends on none of them.
namespace tailrace::bench {

/// A library, and what it brings; without peers where it is absent.
struct Library {
  std::string name;
  std::string version;  ///< or why it is absent
  std::vector<NamedPeer> peers;
};

#ifdef TAILRACE_PEER_PETSC
/// PetscSF of types basic, neighbor and window, and VecScatter. @collective{comm}
Library petsc_library(mpi::CommView comm, const IndexLoad& load, int components);
#endif
#ifdef TAILRACE_PEER_GSLIB
/// gs with pairwise messages, the crystal router and an all-reduce. @collective{comm}
Library gslib_library(mpi::CommView comm, const IndexLoad& load, int components);
#endif
#ifdef TAILRACE_PEER_GA
/// Element-wise gather and scatter-accumulate of Global Arrays. Values of one number only. @collective{comm}
Library global_arrays_library(mpi::CommView comm, const IndexLoad& load, int components);
#endif
#ifdef TAILRACE_PEER_COARRAYS
/// Puts into coarrays of OpenCoarrays; nothing adds up there. @collective{comm}
Library coarray_library(mpi::CommView comm, const IndexLoad& load, int components);
#endif

/// All of them, those that are absent by name. @collective{comm}
std::vector<Library> libraries(mpi::CommView comm, const IndexLoad& load, int components);

}  // namespace tailrace::bench
