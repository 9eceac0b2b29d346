// SPDX-License-Identifier: BSD-3-Clause
#include "cube.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "tailrace/run/case_schema.hpp"

namespace tailrace::rehearse {

namespace {

using enum run::KeyType;

std::vector<run::Key> keys() {
  constexpr double max_multiple = 1 << 20, max_ms = 1e7, max_factor = 1e3, fastest_cells = 1e6;
  constexpr double max_particles = static_cast<double>(std::int64_t{1} << 40);
  constexpr double max_steps = static_cast<double>(largest_exact_float64 - 1);
  return {
      {.name = "domain.cells",
       .type = integers,
       .meaning = "points along x, y, z: `[64, 64, 64]`; one number for a cube",
       .fallback = "[64]"},
      {.name = "time.steps",
       .type = integer,
       .meaning = "number of steps",
       .fallback = "50",
       .limits = {1, max_steps}},
      {.name = "model.precision",
       .meaning = "`\"float32\"` or `\"float64\"`, of the field and of what the selections write",
       .fallback = "float64"},
      {.name = "rehearse.decomposition",
       .meaning =
           "who owns which points: `\"slabs\"` (equal parts along z), `\"pencils\"` (along y and z), "
           "`\"uneven\"` (along z, rank r in proportion to r + 1), `\"one-owner\"` or `\"one-owner:2\"`",
       .fallback = "slabs"},
      {.name = "rehearse.select",
       .type = texts,
       .meaning =
           "list of selections beside the `[[output]]` tables, each a dataset `/NAME/values` or several; see "
           "below",
       .otherwise = "`[\"whole\"]` without `[[output]]`, else none",
       .fix = "select = [\"whole\"]"},
      {.name = "rehearse.every",
       .type = integer,
       .meaning = "steps from one sample of the selections to the next",
       .fallback = "1",
       .limits = {.least = 1}},
      {.name = "rehearse.reduce", .meaning = "of the selections, as `output.reduce`", .fallback = "none"},
      {.name = "rehearse.data_multiplier",
       .type = integer,
       .meaning = "writes every dataset of the selections so many times, under names of their own",
       .fallback = "1",
       .limits = {1, max_multiple}},
      {.name = "rehearse.write_multiplier",
       .type = integer,
       .meaning = "cuts every dataset of the selections into so many, along the longest axis",
       .fallback = "1",
       .limits = {1, max_multiple}},
      {.name = "rehearse.particles",
       .type = integer,
       .meaning = "particles that cross the domain, from rank to rank; part of every checkpoint",
       .fallback = "0",
       .limits = {0, max_particles}},
      {.name = "rehearse.clustering",
       .type = integer,
       .meaning = "1: they begin all over the domain; the higher, the more of them near its low corner",
       .fallback = "1",
       .limits = {1, 100}},
      {.name = "rehearse.drift",
       .type = real,
       .meaning =
           "points that all of them move on in a step, along each axis; each is a little faster or slower "
           "than that",
       .fallback = "1",
       .limits = {-fastest_cells, fastest_cells}},
      {.name = "rehearse.compute",
       .meaning = "work of a step: `\"matmul\"` (stays in the cache), `\"memory\"` (a pass over arrays that "
                  "no cache "
                  "holds), `\"broadcast\"` (messages from each rank one after the other to all), `\"none\"`",
       .fallback = "matmul"},
      {.name = "rehearse.compute_ms",
       .type = real,
       .meaning = "its duration on an undisturbed machine: measured at the start, then a number of units",
       .otherwise = "0",
       .limits = {0, max_ms}},
      {.name = "rehearse.compute_units",
       .type = integer,
       .meaning = "its amount instead, as `run.json` of an earlier run has it",
       .limits = {.least = 0}},
      {.name = "rehearse.imbalance",
       .type = real,
       .meaning = "0.2: from 20 % less than the mean on the first rank to 20 % more on the last",
       .fallback = "0",
       .limits = {0, 1}},
      {.name = "rehearse.slow_rank",
       .type = integer,
       .meaning = "a rank that does more work than the others",
       .otherwise = "none",
       .limits = {.least = 0}},
      {.name = "rehearse.slow_factor",
       .type = real,
       .meaning = "namely so many times as much",
       .otherwise = "2",
       .limits = {0, max_factor}},
      {.name = "rehearse.verify",
       .type = boolean,
       .meaning =
           "`true` compares every value of the file with the formula at the end; a wrong one gives exit "
           "status 1",
       .fallback = "false"}};
}

constexpr const char* footer_text =
    "Selections:\n"
    "  whole, none               all points, or no output at all\n"
    "  varying                   rows of points, any number per step and rank; --sink hdf5 or hdf5-chunked\n"
    "  x, y, z, x=12, ...        a cut across an axis, in the middle or at an index\n"
    "  box:0,0,0,9,19,29         a box by its corners, inclusive\n"
    "  boxes:N[,size=8x8x4]      N boxes, a dataset each; without a size they tile the domain\n"
    "  points:N                  N points, one dataset\n"
    "  ...,share=even            boxes and points lie all over the domain (default)\n"
    "  ...,share=uneven          the denser the smaller y and z\n"
    "  ...,share=one[,rank=R]    all within the part of one rank\n"
    "  ...,seed=S                where they lie within that (default: 1)\n"
    "Exit status: 0 finished, 1 values that are not those of the formula, 2 bad usage or input, 3 the run\n"
    "failed, 4 stopped in good order.";

const run::CaseSchema schema = run::make_schema("rehearse", {quantity}, keys());

}  // namespace

const run::ProgramInfo program_info{
    .simulation = "rehearse",
    .purpose =
        "Rehearses the output of a simulation without its physics: a cube whose values follow a formula",
    .schema = &schema,
    .footer = footer_text};

}  // namespace tailrace::rehearse
