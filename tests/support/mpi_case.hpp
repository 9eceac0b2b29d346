// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

#include "tailrace/comm.hpp"

/// Test cases that run on several rank counts within one launch.
namespace tailrace::test {

/// The rank counts of a case, each at most the number of ranks of the launch for the case to run on it.
struct ranks {
  ranks(std::initializer_list<int> list) : counts(list) {}
  std::vector<int> counts;
  bool shared = false;  ///< each has a part of the case's work, so none may be left out
};

/// The rank counts of a case that shares its work out among them.
struct shared_by : ranks {
  shared_by(std::initializer_list<int> list) : ranks(list) { shared = true; }
};

using MpiBody = void (*)(mpi::CommView comm);

/// Runs a case on each of its rank counts that fits: the first ranks of the launch get a communicator of
/// their own, the others sleep. A failed assertion or an exception on one rank fails the case on all. Called
/// by `MPI_CASE`.
void run_case(const char* name, const ranks& wanted, MpiBody body);

/// Registers a case for `--list`.
struct Registered {
  Registered(const char* name, const ranks& wanted);
};

}  // namespace tailrace::test

/// MPI_CASE("name", ranks{1, 2, 3, 4, 7}) { ... uses `comm` ... }
#define MPI_CASE(name, ...) TAILRACE_MPI_CASE(DOCTEST_ANONYMOUS(tailrace_mpi_case_), name, __VA_ARGS__)
#define TAILRACE_MPI_CASE(body, name, ...)                                                                 \
  static void body(::tailrace::mpi::CommView comm);                                                        \
  static const ::tailrace::test::Registered DOCTEST_CAT(body, _registered)(name,                           \
                                                                           ::tailrace::test::__VA_ARGS__); \
  TEST_CASE(name) {                                                                                        \
    ::tailrace::test::run_case(name, ::tailrace::test::__VA_ARGS__, &body);                                \
  }                                                                                                        \
  static void body([[maybe_unused]] ::tailrace::mpi::CommView comm)
