// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tailrace/fragments/program.hpp"
#include "work.hpp"

namespace tailrace::bench {

/// The program that executes a load, which has to live as long, with the points of each graph in blocks on
/// `ranks`. @local. Errors: std::runtime_error, tasks with more inputs than the bodies here have
fragments::Program describe(const Load& load, int ranks);

}  // namespace tailrace::bench
