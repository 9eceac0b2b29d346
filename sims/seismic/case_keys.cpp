// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"
#include "tailrace/run/case_schema.hpp"

namespace tailrace::seismic {

namespace {

using enum run::KeyType;

constexpr double largest = 1e30, max_steps = static_cast<double>(std::int64_t{1} << 40);

std::vector<run::Key> domain_keys() {
  return {
      {.name = "input.file",
       .type = file,
       .meaning = "a file that `[model]` names and `input.script` makes",
       .otherwise = "none"},
      {.name = "input.script",
       .type = file,
       .meaning = "a Python program that `tailrace run` runs, with all that you may do, to make it if it is "
                  "missing; "
                  "it gets the path to write to. Read scripts of others first",
       .otherwise = "none"},
      {.name = "domain.cells",
       .type = integers,
       .meaning = "points along x, y, z",
       .fix = "cells = [120, 96, 80], points along x, y, z",
       .required = true},
      {.name = "domain.spacing_m",
       .type = reals,
       .meaning = "their distances along x, y, z",
       .limits = {0, largest},
       .fix = "spacing_m = [12.5, 12.5, 10.0], along x, y, z",
       .required = true},
      {.name = "time.dt_s",
       .type = real,
       .meaning = "time step; one above the largest stable one is refused, and the message names that one",
       .limits = {0, largest},
       .fix = "dt_s = 0.001",
       .required = true},
      {.name = "time.steps",
       .type = integer,
       .meaning = "number of steps",
       .otherwise = "this or `end_s` is required",
       .limits = {1, max_steps},
       .fix = "steps = 600"},
      {.name = "time.end_s",
       .type = real,
       .meaning = "the time after which to end",
       .otherwise = "this or `steps` is required",
       .limits = {0, largest}},
  };
}

run::Key property(const char* name, const char* meaning, const char* otherwise) {
  return {.name = name,
          .type = any,
          .meaning = meaning,
          .otherwise = otherwise,
          .fix = std::string(name).substr(std::string("model.").size()) + " = 0.0"};
}

std::vector<run::Key> model_keys() {
  return {
      {.name = "model.equations",
       .meaning = "`\"tti\"` (tilted axis of symmetry), `\"vti\"` (axis along z), `\"isotropic\"`",
       .words = {"tti", "vti", "isotropic"},
       .fix = "equations = \"tti\", \"vti\" or \"isotropic\"",
       .required = true},
      {.name = "model.precision",
       .meaning = "of the whole computation",
       .fallback = "float32",
       .words = {"float32", "float64"}},
      {.name = "model.vp_m_s",
       .type = any,
       .meaning =
           "speed of P waves along the axis: a number, or [a file](../howto/seismic.md#models-from-files), "
           "as all properties below",
       .fix = R"(vp_m_s = 3000.0, "model.h5:/dataset", "model.rsf" or "model.sgy")",
       .required = true},
      property("model.epsilon", "Thomsen's epsilon; not of isotropic media", "0"),
      property("model.delta", "Thomsen's delta; not of isotropic media", "0"),
      property("model.dip_rad", "the axis: its angle from z; of tilted media only", "0"),
      property("model.azimuth_rad", "the axis: its direction from x; of tilted media only", "0"),
      property("model.sigma",
               "makes the speed of SV waves along the axis vp sqrt(abs(epsilon - delta) / sigma); above 10 "
               "it is 0",
               "0.75"),
      property("model.vs_m_s", "that speed itself, instead of sigma", "")};
}

std::vector<run::Key> source_keys() {
  return {{.name = "boundary.kind",
           .meaning =
               "`\"zero\"`: the fields are 0 outside; `\"random\"`: a layer of random speeds scatters waves; "
               "`\"sponge\"`: a layer damps them",
           .fallback = "zero",
           .words = {"zero", "random", "sponge"}},
          {.name = "boundary.width",
           .type = integer,
           .meaning = "points of the layer on each side, around the domain",
           .otherwise = "16",
           .limits = {0, 1 << 16}},
          {.name = "boundary.seed",
           .type = integer,
           .meaning = "of the random speeds: the same number gives the same ones on any number of ranks",
           .otherwise = "1",
           .limits = {.least = 0}},
          {.name = "source.cell",
           .type = integers,
           .meaning = "where the source is: `[60, 48, 10]`",
           .otherwise = "this or `cells` is required",
           .fix = "cell = [60, 48, 10]"},
          {.name = "source.cells",
           .type = integer_lists,
           .meaning = "where several are: `[[60, 48, 10], [20, 48, 10]]`"},
          {.name = "source.wavelet",
           .meaning = "`\"ricker\"`, `\"samples\"`, or a dataset of one dimension, `\"wavelet.h5:/w\"`",
           .fallback = "ricker"},
          {.name = "source.fcut_hz",
           .type = real,
           .meaning = "cut-off frequency of the Ricker wavelet, three times its peak frequency",
           .otherwise = "40",
           .limits = {0, largest}},
          {.name = "source.samples",
           .type = reals,
           .meaning = "a list of values, one per step, for `wavelet = \"samples\"`"},
          {.name = "source.amplitudes",
           .type = reals,
           .meaning = "factors, one for each of `source.cells`",
           .otherwise = "1"},
          {.name = "source.delays_s",
           .type = reals,
           .meaning = "times by which Ricker wavelets start later, one for each",
           .otherwise = "0",
           .limits = {0, largest}},
          {.name = "receivers.segy",
           .type = texts,
           .meaning = "names of outputs at points that become SEG-Y files too: `[\"receivers\"]`",
           .otherwise = "none"}};
}

std::vector<run::Key> keys() {
  auto all = domain_keys();
  for (const auto& some : {model_keys(), source_keys()}) all.insert(all.end(), some.begin(), some.end());
  return all;
}

const run::CaseSchema schema = run::make_schema("seismic", {"p", "q"}, keys());

}  // namespace

const run::ProgramInfo program_info{.simulation = "seismic",
                                    .purpose = "Acoustic waves in tilted transversely isotropic media",
                                    .schema = &schema};

}  // namespace tailrace::seismic
