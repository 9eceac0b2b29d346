// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"
#include "tailrace/run/case_exchange.hpp"
#include "tailrace/run/case_schema.hpp"

namespace tailrace::heat {

namespace {

using enum run::KeyType;

constexpr double largest = 1e30, max_steps = static_cast<double>(std::int64_t{1} << 40);
constexpr const char* of_class = "that of the class";

std::vector<run::Key> heat_keys() {
  return {
      {.name = "heat.class",
       .meaning = "class of NPB's benchmark UA, which sets all keys below and `[time]`; with a key that "
                  "differs, the "
                  "result is computed and not verified (class U)",
       .otherwise = "`level`, `radius` and `time.steps` are required",
       .words = {"S", "W", "A", "B", "C", "D", "E"},
       .fix = "class = \"A\""},
      {.name = "heat.level",
       .type = integer,
       .meaning = "the smallest elements have the size 2^-level",
       .otherwise = of_class,
       .limits = {1, deepest_level},
       .fix = "level = 6"},
      {.name = "heat.order",
       .type = integer,
       .meaning = "of the polynomials in an element, which has (order + 1)^3 points; 4 is NPB's",
       .otherwise = "4",
       .limits = {lowest_order, highest_order},
       .fix = "order = 6"},
      {.name = "heat.radius",
       .type = real,
       .meaning = "of the ball; elements that it touches are the smallest ones",
       .otherwise = of_class,
       .limits = {1e-6, 1},
       .fix = "radius = 0.076"},
      {.name = "heat.velocity",
       .type = reals,
       .meaning = "of the flow and of the ball, along x, y, z",
       .otherwise = "[3, 3, 3]",
       .limits = {-largest, largest}},
      {.name = "heat.centre",
       .type = reals,
       .meaning = "of the ball at the start",
       .otherwise = "[3/7, 2/7, 2/7]",
       .limits = {-largest, largest}},
      {.name = "heat.viscosity",
       .type = real,
       .meaning = "of the diffusion",
       .otherwise = "0.005",
       .limits = {0, largest}},
      {.name = "heat.solver",
       .meaning = "of the diffusion, by conjugate gradients: `\"npb\"`, as many iterations in each step, "
                  "converged or not; `\"converged\"`, until `heat.cg_tolerance` is reached, for physics "
                  "(class U)",
       .fallback = "npb",
       .words = {"npb", "converged"}},
      {.name = "heat.cg_iterations",
       .type = integer,
       .meaning = "iterations of conjugate gradients in each step; with `solver = \"converged\"` the most, "
                  "and it is an error to need more",
       .otherwise = "10; 1000 with `solver = \"converged\"`",
       .limits = {1, 10000}},
      {.name = "heat.cg_tolerance",
       .type = real,
       .meaning = "with `solver = \"converged\"`: the residual at which a step's iterations end, over that "
                  "before the first of them (both in the norm of the preconditioner)",
       .otherwise = "1e-10",
       .limits = {1e-15, 0.1}},
      {.name = "heat.adapt_every",
       .type = integer,
       .meaning = "steps between two adaptations of the mesh",
       .otherwise = "5",
       .limits = {1, max_steps}},
      {.name = "heat.distribution",
       .meaning = "which rank owns a mortar point. Of those that touch it: `\"touching\"`, the lowest; "
                  "`\"balanced\"`, of two ranks one owns all that they share, so that ranks own alike. By "
                  "numbers, of which vertices have the lowest: `\"block\"`, equal contiguous shares; "
                  "`\"cyclic\"`, one by one; `\"double-block\"`, equal shares of the vertices and of the "
                  "others; `\"reversed-double-block\"`, the latter from the last rank to the first. Results "
                  "do not depend on it",
       .fallback = "touching",
       .words = {"touching", "balanced", "block", "cyclic", "double-block", "reversed-double-block"}},
      {.name = "heat.sum",
       .meaning = "of products and of the integral: `\"exact\"`, the same bits on any number of ranks; "
                  "`\"fast\"`, as they come, with other last bits on other numbers of ranks or with another "
                  "distribution",
       .fallback = "exact",
       .words = {"exact", "fast"}},
      {.name = "heat.overlap",
       .type = boolean,
       .meaning = "whether elements that share nothing with other ranks are computed while values of mortar "
                  "points travel; `false`: all wait for them, to be compared with. The bits are the same",
       .fallback = "true"},
      {.name = "heat.vtkhdf",
       .meaning =
           "what shows the first output of `\"mesh\"` in ParaView: `\"steps\"`, output.vtkhdf with all "
           "samples (ParaView 5.12 and later); `\"series\"`, a file for each sample and a list of them; "
           "`\"none\"`",
       .fallback = "steps",
       .words = {"none", "steps", "series"}},
      {.name = "heat.cells",
       .meaning = "what an element is there: `\"lagrange\"`, a hexahedron of its order; `\"linear\"`, "
                  "linear ones between its points: order^3",
       .fallback = "lagrange",
       .words = {"lagrange", "linear"}},
      {.name = "heat.transport",
       .meaning = "older name of `exchange.transport`",
       .now = "exchange.transport"},
  };
}

std::vector<run::Key> keys() {
  auto all = heat_keys();
  for (auto& key : run::exchange_keys(exchange::Order::partition_free)) all.push_back(std::move(key));
  all.push_back({.name = "domain.cells",
                 .type = integers,
                 .meaning = "points along x, y, z at which outputs sample the field: i is at (i + 0.5) / n",
                 .otherwise = "required with `[[output]]`, unless it is of the mesh",
                 .fix = "cells = [64, 64, 64], sampling points along x, y, z"});
  all.push_back({.name = "time.steps",
                 .type = integer,
                 .meaning = "number of steps",
                 .otherwise = of_class,
                 .limits = {1, max_steps},
                 .fix = "steps = 200"});
  all.push_back({.name = "time.dt_s",
                 .type = real,
                 .meaning = "time step",
                 .otherwise = "0.04 * 2^-level; above order 4 less, as the points are closer",
                 .limits = {1e-12, largest}});
  return all;
}

const run::CaseSchema schema =
    run::make_schema("heat", {"temperature", "source", "level", "mesh", "mesh_corners"}, keys());

}  // namespace

const run::ProgramInfo program_info{
    .simulation = "heat",
    .purpose = "A moving source of heat on an adaptive mesh of spectral elements (NPB UA)",
    .schema = &schema,
    .footer =
        "Exit status: 0 finished (and verified, of a class with a reference), 1 finished and not verified, 2 "
        "bad "
        "usage or input, 3 the run failed, 4 stopped in good order."};

}  // namespace tailrace::heat
