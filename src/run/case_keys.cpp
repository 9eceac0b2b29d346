// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "checkpoint/save.hpp"
#include "output/registry/options.hpp"
#include "tailrace/run/case_schema.hpp"

namespace tailrace::run {

namespace {

using enum KeyType;

constexpr double max_steps = static_cast<double>(std::int64_t{1} << 40);

std::vector<Key> case_keys(const std::string& simulation) {
  return {{.name = "case.simulation",
           .meaning = "which program computes it",
           .words = {simulation},
           .fix = "simulation = \"" + simulation + "\"",
           .required = true},
          {.name = "case.title", .meaning = "text for reports", .otherwise = "name of the case file"}};
}

std::vector<Key> output_keys(const std::vector<std::string>& quantities) {
  const auto lists = [](const char* name, const char* meaning) {
    return Key{.name = name, .type = integer_lists, .meaning = meaning};
  };
  const auto plane = [](const char* name, const char* meaning) {
    return Key{.name = name, .type = integer, .meaning = meaning, .limits = {.least = 0}};
  };
  return {
      {.name = "output[].name",
       .meaning = "name of the group: letters, digits, `_` and `-`; not one that the file holds already",
       .fix = "name = \"snap\", the group in the output file",
       .required = true},
      {.name = "output[].quantity",
       .meaning = "what is sampled",
       .words = quantities,
       .fix = fmt::format("one of {}", fmt::join(quantities, ", ")),
       .required = true},
      {.name = "output[].select",
       .type = any,
       .meaning = "`\"whole\"`, or one of the three below",
       .otherwise = "`\"whole\"`",
       .fix = "select = {plane = {z = 12}}"},
      lists("output[].select.box", "two corners, inclusive: `select = {box = [[0, 0, 0], [9, 19, 29]]}`"),
      lists("output[].select.points",
            "points, in the order wanted: `select = {points = [[1, 2, 3], [4, 5, 6]]}`"),
      plane("output[].select.plane.x", "one plane across an axis: `select = {plane = {x = 12}}`"),
      plane("output[].select.plane.y", "the same across y"),
      plane("output[].select.plane.z", "the same across z"),
      {.name = "output[].every",
       .type = integer,
       .meaning = "samples at steps k, 2k, ...",
       .otherwise = "required for `reduce = \"none\"` without `at`; else 1",
       .limits = {.least = 1},
       .fix = "every = 10, every_s = 0.01, or at = [100, 250]"},
      {.name = "output[].every_s",
       .type = real,
       .meaning =
           "instead of `every`: samples at the first step at or after each multiple of so many seconds, "
           "at most one a step",
       .limits = {.least = 0}},
      {.name = "output[].first",
       .type = integer,
       .meaning = "of the multiples of `every`, those from this step on",
       .otherwise = "1",
       .limits = {.least = 1}},
      {.name = "output[].last",
       .type = integer,
       .meaning = "... and up to this step",
       .otherwise = "the last step",
       .limits = {.least = 1}},
      {.name = "output[].on_failure",
       .meaning =
           "what becomes of samples that cannot be written: `\"stop\"` ends the run; `\"retry\"` tries for a "
           "minute, then ends the run; `\"drop\"` leaves them out and continues, and the file says so from "
           "which "
           "step on ([row](../formats/commit_mark.md)); `\"switch\"` leaves a directory of "
           "`write.directories` "
           "(2 to 24) that is full or broken, and continues in the next one "
           "([how](../explain/output.md#leaving-a-directory)); all but `\"stop\"` need `--sink hdf5`",
       .fallback = "stop",
       .words = {"stop", "retry", "drop", "switch"}},
      {.name = "output[].initial",
       .type = boolean,
       .meaning = "`true` adds step 0, the state before the first step",
       .fallback = "false"},
      {.name = "output[].at",
       .type = integers,
       .meaning = "a list of ascending steps instead: `at = [100, 250]`"},
      {.name = "output[].samples",
       .meaning =
           "`\"open\"`: nobody knows how many samples come, the datasets [grow](../formats/growing.md) with "
           "the "
           "run; needs `--sink hdf5-chunked`, and does not go with `at`, `last`, `every_s` and `reduce`",
       .fallback = "planned",
       .words = {"planned", "open"}},
      {.name = "output[].reduce",
       .meaning = "`\"none\"` keeps all samples; `\"min\"`, `\"max\"`, `\"rms\"`, `\"mean\"` leave one value "
                  "per point "
                  "over the samples; `\"final\"` the state after the last step",
       .fallback = "none",
       .words = {"none", "min", "max", "rms", "mean", "final"}},
      {.name = "output[].type",
       .meaning = "of the values in the file",
       .fallback = "float32",
       .words = {"float32", "float64"}}};
}

std::vector<Key> write_keys() {
  return {
      {.name = "write.strategy",
       .meaning =
           "who writes: `\"auto\"` (measured and [chosen](../explain/planner.md)), `\"threads\"`, "
           "`\"blocking\"`, `\"leaders\"`, `\"uring\"`, `\"ranks:N\"`, `\"spawn:N\"`, `\"spawn-each:N\"`",
       .fallback = "auto"},
      {.name = "write.buffers",
       .type = integer,
       .meaning =
           "buffers per rank of `threads`, `leaders` and `uring`, unless the strategy names them; `auto` "
           "begins with them",
       .fallback = "2",
       .limits = {1, output::max_buffers}},
      {.name = "write.sink",
       .meaning = "what the file is: `\"hdf5\"`, `\"hdf5-chunked\"` or, with a level of compression, "
                  "`\"hdf5-chunked:4\"`; [`\"rsf\"`](../formats/rsf.md); `\"mpiio\"`, `\"hdf5-parallel\"`, "
                  "`\"pnetcdf\"`, each with hints for MPI-IO, `\"mpiio:striping_factor=8,cb_nodes=4\"`; "
                  "`\"adios2\"`, with parameters of its engine, `\"adios2:NumAggregators=4\"`",
       .fallback = "hdf5"},
      {.name = "write.directories",
       .type = files,
       .meaning =
           "directories, on several disks, whose files take the samples' values one after the other "
           "([how](../explain/output.md#several-directories)); they exist already, relative ones are taken "
           "from the case's directory; with the sink `hdf5`",
       .otherwise = "none: all in `output.h5`"},
      {.name = "write.stripe",
       .meaning =
           "how much of a dataset goes into one of these directories before the next one, from `\"64KiB\"` "
           "on, in multiples of it",
       .otherwise = "`\"4MiB\"`"},
      {.name = "write.lustre_count",
       .type = integer,
       .meaning = "over how many targets of a Lustre file system the output file is spread "
                  "([how](../explain/output.md#files-on-lustre))",
       .otherwise = "as its directory has it",
       .limits = {1, output::max_lustre_stripes}},
      {.name = "write.lustre_size",
       .meaning =
           "how much of it goes to one target before the next one, `\"64KiB\"` to `\"4095MiB\"` in multiples "
           "of 64 KiB",
       .otherwise = "as its directory has it"},
      {.name = "write.flush",
       .meaning = "`\"none\"`, or `\"sample\"`: each sample reaches the device at once",
       .fallback = "none"}};
}

std::vector<Key> checkpoint_keys() {
  constexpr double longest_s = 1e9;
  const auto buffers = std::to_string(checkpoint::Packing().buffer_bytes >> 20) + "MiB";
  return {
      {.name = "checkpoint.every",
       .type = integer,
       .meaning = "a [checkpoint](../howto/checkpoints.md) after every so many steps",
       .otherwise = "none by steps",
       .limits = {1, max_steps}},
      {.name = "checkpoint.every_s",
       .type = real,
       .meaning = "one after so many seconds since the last",
       .otherwise = "none by the clock",
       .limits = {1e-3, longest_s}},
      {.name = "checkpoint.mtbf_s",
       .type = real,
       .meaning = "mean time between failures of the machine, in seconds: the interval is the one that loses "
                  "least, from what checkpoints cost as measured (Daly 2006)",
       .otherwise = "none",
       .limits = {1, longest_s}},
      {.name = "checkpoint.keep",
       .type = integer,
       .meaning = "how many complete ones are kept, the newest",
       .fallback = "2",
       .limits = {1, 1000}},
      {.name = "checkpoint.buffers",
       .meaning =
           "memory per rank for state that is on its way to the disk; what does not fit is written before "
           "the computation continues",
       .fallback = buffers},
      {.name = "checkpoint.compress",
       .meaning = "`\"none\"`, or `\"zstd\"` or `\"zstd:LEVEL\"`, 1 (fast, as `\"zstd\"`) to 19 (small): "
                  "each cell is "
                  "compressed ([how](../howto/checkpoints.md#smaller-ones))",
       .fallback = "none"},
      {.name = "checkpoint.local",
       .meaning =
           "directory on a device of each node, an absolute path: checkpoints are written there first, and "
           "copied asynchronously ([two levels](../howto/checkpoints.md#two-levels))",
       .otherwise = "none"},
      {.name = "checkpoint.partner",
       .type = boolean,
       .meaning = "with `local`: each node keeps copies for another one, so that one lost node loses nothing",
       .otherwise = "false"},
      {.name = "checkpoint.copy_every",
       .type = integer,
       .meaning = "with `local`: each so many checkpoints, one is copied into the run directory",
       .otherwise = "1",
       .limits = {1, 1000000}},
      {.name = "checkpoint.on_failure",
       .meaning =
           "what becomes of the run if one cannot be written: `\"warn\"` continues, the older ones stay; "
           "`\"stop\"` ends it",
       .fallback = "warn",
       .words = {"warn", "stop"}},
      {.name = "trace.mode",
       .meaning = "`\"on\"`, `\"off\"`, or `\"papi\"` with hardware counters, where the program was built "
                  "with PAPI: "
                  "what every thread does and when ([format](../formats/trace.md))",
       .fallback = "on"}};
}

}  // namespace

CaseSchema make_schema(const std::string& simulation, const std::vector<std::string>& quantities,
                       std::vector<Key> own) {
  CaseSchema schema{.simulation = simulation, .keys = {}};
  for (auto& keys : {case_keys(simulation), own, output_keys(quantities), write_keys(), checkpoint_keys()})
    schema.keys.insert(schema.keys.end(), keys.begin(), keys.end());
  // The keys of a table are together, wherever they come from.
  const auto table = [](const Key& key) { return key.name.substr(0, key.name.find('.')); };
  for (std::size_t i = 1; i < schema.keys.size(); ++i) {
    const auto same = [&](const Key& key) { return table(key) == table(schema.keys[i]); };
    const auto end = schema.keys.begin() + static_cast<std::ptrdiff_t>(i);
    auto last = end;
    for (auto at = schema.keys.begin(); at != end; ++at)
      if (same(*at)) last = at;
    if (last != end) std::rotate(last + 1, end, end + 1);
  }
  return schema;
}

}  // namespace tailrace::run
