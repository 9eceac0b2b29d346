// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"
#include "tailrace/comm.hpp"

int main(int argc, char** argv) {
  const tailrace::mpi::Environment environment(argc, argv);
  return tailrace::poisson::run_program(environment.world(), argc, argv);
}
