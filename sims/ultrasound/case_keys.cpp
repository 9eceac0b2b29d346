// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "options.hpp"
#include "tailrace/run/case_schema.hpp"

namespace tailrace::ultrasound {

namespace {

using enum run::KeyType;

std::vector<run::Key> keys() {
  std::vector<run::Key> all{
      {.name = "input.file",
       .type = file,
       .meaning = "a k-Wave input file ([format](../formats/ultrasound_input.md))",
       .fix = "file = \"input.h5\", a k-Wave input file",
       .required = true},
      {.name = "input.script",
       .type = file,
       .meaning = "a Python program that `tailrace run` runs, with all that you may do, to make the input "
                  "file if it is missing. Read scripts of others first",
       .otherwise = "none"},
      {.name = "time.steps",
       .type = integer,
       .meaning = "number of steps",
       .otherwise = "as the input says",
       .limits = {.least = 1}},
      {.name = "model.precision",
       .meaning = "`\"float32\"` or `\"float64\"`, of the whole computation",
       .fallback = "float32"},
      {.name = "record.start",
       .type = integer,
       .meaning = "first recorded step, counted from 1 (k-Wave's `-s`)",
       .fallback = "1",
       .limits = {.least = 1}},
      {.name = "record.copy_sensor_mask",
       .type = boolean,
       .meaning = "`true` copies the sensor mask to the output",
       .fallback = "false"}};
  for (const auto& item : sensor_quantities) {
    const bool usual = std::string(item.name) == "p_raw";
    all.push_back(
        {.name = fmt::format("record.{}", item.name),
         .type = boolean,
         .meaning = item.help,
         .fallback = usual ? "" : "false",
         .otherwise =
             usual ? "`true` if nothing else is asked for, neither here nor by an `[[output]]`" : ""});
  }
  all.push_back({.name = "output[].pml",
                 .meaning = "`\"excluded\"` leaves the absorbing layers out of the whole, a box or a plane",
                 .fallback = "included",
                 .words = {"included", "excluded"}});
  return all;
}

std::vector<std::string> quantities() {
  std::vector<std::string> names;
  for (const auto& quantity : offered_quantities()) names.push_back(quantity.name);
  return names;
}

const run::CaseSchema schema = run::make_schema("ultrasound", quantities(), keys());

}  // namespace

const run::ProgramInfo program_info{
    .simulation = "ultrasound",
    .purpose =
        "Ultrasound in heterogeneous, absorbing, non-linear media: reads k-Wave input files, writes k-Wave "
        "output files",
    .schema = &schema,
    .footer =
        "With -i and -o the exit status is k-Wave's: 0 finished or saved to be resumed, 1 everything else. "
        "With "
        "--case:\n" +
        run::ProgramInfo().footer};

}  // namespace tailrace::ultrasound
