// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"
#include "tailrace/run/case_schema.hpp"

namespace tailrace::poisson {

namespace {

using enum run::KeyType;

constexpr double largest = 1e30, max_steps = static_cast<double>(std::int64_t{1} << 40);

std::vector<run::Key> problem_keys() {
  return {
      {.name = "domain.cells",
       .type = integers,
       .meaning = "unknowns along x, y, z; two numbers, or 1 along z, for a problem in the plane",
       .fix = "cells = [127, 127], or three numbers",
       .required = true},
      {.name = "domain.spacing_m",
       .type = reals,
       .meaning = "their distances along x, y (, z)",
       .otherwise = "such that the sides of the box are 1 m long",
       .limits = {0, largest},
       .fix = "spacing_m = [0.01, 0.01]"},
      {.name = "domain.sides",
       .type = texts,
       .meaning =
           "for x, y (, z), or once for all: `\"dirichlet\"`, u is given one spacing beyond the first and "
           "the last unknown; `\"periodic\"`",
       .otherwise = "`[\"dirichlet\"]`",
       .fix = "sides = [\"dirichlet\", \"periodic\"]"},
      {.name = "problem.rhs",
       .type = any,
       .meaning =
           "f in -div grad u = f: a number, an HDF5 dataset `\"FILE:/DATASET\"` of the shape (z, y, x) or "
           "(y, x), or a [formula](../howto/poisson.md#right-hand-sides) with a known solution, "
           "`\"sines\"` or `\"smooth\"`",
       .otherwise = "required",
       .fix = "rhs = \"smooth\", 1.0 or \"file.h5:/dataset\""},
      {.name = "problem.boundary",
       .type = real,
       .meaning = "u on Dirichlet sides",
       .fallback = "0.0",
       .limits = {-largest, largest}}};
}

std::vector<run::Key> solver_keys() {
  return {
      {.name = "solver.method",
       .meaning = "`\"jacobi\"`, `\"gauss-seidel\"` (red and black points alternate) or `\"cg\"` (conjugate "
                  "gradients)",
       .fallback = "cg",
       .words = {"jacobi", "gauss-seidel", "cg"}},
      {.name = "solver.blocks",
       .type = integers,
       .meaning = "unknowns of a block along x, y (, z): a block is what one fragment computes, on any rank",
       .otherwise =
           "`[128, 128]` or `[32, 32, 32]`, at most the domain; in a large one up to `[512, 256]` or "
           "`[64, 64, 32]`, as long as there are 32 blocks",
       .fix = "blocks = [64, 64]"},
      {.name = "solver.tolerance",
       .type = real,
       .meaning = "the run ends when the residual is this part of the first one; 0: after all steps",
       .fallback = "0.0",
       .limits = {0, 1}},
      {.name = "solver.check_every",
       .type = integer,
       .meaning = "sweeps from one look at the residual to the next, at which the run may end or stop",
       .fallback = "10",
       .limits = {1, 1 << 20}},
      {.name = "time.steps",
       .type = integer,
       .meaning = "sweeps at most: a step is a sweep, or an iteration of conjugate gradients",
       .limits = {1, max_steps},
       .fix = "steps = 1000",
       .required = true}};
}

/// How the fragment programs run, which changes no result.
std::vector<run::Key> fragment_keys() {
  return {
      {.name = "fragments.balance",
       .meaning = "[how](../explain/fragments.md#balance) fragments that may move come to ranks that have "
                  "less to do: not at all, stolen, given to neighbours, or both",
       .fallback = "off",
       .words = {fragments::balance_words.begin(), fragments::balance_words.end()}},
      {.name = "fragments.live_fragments",
       .type = integer,
       .meaning = "fragments that a rank has at a time, "
                  "[beyond which](../explain/fragments.md#limits) it creates no more unless nothing else "
                  "can proceed",
       .fallback = "100000",
       .limits = {1, max_steps}},
      {.name = "fragments.live_bytes",
       .meaning = "the same for the bytes of its data fragments",
       .otherwise = "no limit",
       .fix = "live_bytes = \"2GB\""}};
}

std::vector<run::Key> keys() {
  auto all = problem_keys();
  for (auto& key : solver_keys()) all.push_back(std::move(key));
  for (auto& key : fragment_keys()) all.push_back(std::move(key));
  return all;
}

const run::CaseSchema schema = run::make_schema("poisson", {"u", "rhs", "residual"}, keys());

}  // namespace

const run::ProgramInfo program_info{
    .simulation = "poisson",
    .purpose = "Poisson's equation in two or three dimensions, as a program of data fragments",
    .schema = &schema};

}  // namespace tailrace::poisson
