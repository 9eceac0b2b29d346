// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "options.hpp"
#include "phase_space.hpp"
#include "quantities.hpp"
#include "row_choice.hpp"
#include "tailrace/run/case_schema.hpp"

namespace tailrace::molecules {

namespace {

using enum run::KeyType;
using run::Key;

constexpr double largest = 1e30, least = 1e-30, min_cutoff = 1e-6;
constexpr double max_steps = static_cast<double>(std::int64_t{1} << 40);

std::vector<Key> domain_keys() {
  return {{.name = "domain.length",
           .type = reals,
           .meaning = "edges of the periodic box along x, y, z, each at least twice the cutoff",
           .otherwise = "as the start file says",
           .limits = {-largest, largest},
           .fix = "length = [18.0, 18.0, 18.0], of the box along x, y, z"},
          {.name = "time.dt",
           .type = real,
           .meaning = "time step",
           .limits = {least, largest},
           .fix = "dt = 0.004, in reduced units",
           .required = true},
          {.name = "time.steps",
           .type = integer,
           .meaning = "number of steps",
           .otherwise = "this or `end` is required",
           .limits = {1, max_steps},
           .fix = "steps = 1000"},
          {.name = "time.end",
           .type = real,
           .meaning = "the time after which to end; step 0 has the time of the start file, or `start.time`",
           .otherwise = "this or `steps` is required",
           .limits = {least, largest}}};
}

/// The sites of one kind, with the numbers that each has.
std::vector<Key> site_keys(const std::string& kind, const std::string& meaning, const std::string& fix,
                           const std::vector<std::pair<std::string, double>>& numbers) {
  const auto list = "component[]." + kind;
  std::vector<Key> keys{
      {.name = list, .type = any, .meaning = meaning, .otherwise = "none", .fix = fix},
      {.name = list + "[].place",
       .type = reals,
       .meaning = "in the frame of the molecule: the origin is its centre of mass, the axes are its "
                  "principal axes",
       .otherwise = "`[0, 0, 0]`",
       .limits = {-largest, largest}}};
  for (const auto& [name, low] : numbers)
    keys.push_back({.name = list + "[]." + name,
                    .type = real,
                    .meaning = "in reduced units",
                    .limits = {low, largest},
                    .fix = "a number, in reduced units"});
  return keys;
}

std::vector<Key> component_keys() {
  std::vector<Key> keys{{.name = "component[].name",
                         .meaning = "one `[[component]]` table for each kind of molecule, numbered from 0",
                         .fix = "name = \"argon\""}};
  const auto add = [&](const std::vector<Key>& more) { keys.insert(keys.end(), more.begin(), more.end()); };
  const auto direction = [](const std::string& kind) {
    return Key{.name = "component[]." + kind + "[].direction",
               .type = reals,
               .meaning = "from - to + in a dipole",
               .otherwise = "`[0, 0, 1]`",
               .limits = {-largest, largest}};
  };
  add(site_keys(
      "lj",
      "list of Lennard-Jones centres: `{place = [0, 0, 0.4], mass = 1.0, epsilon = 1.0, sigma = 1.0, "
      "shifted = false}`",
      "lj = [{mass = 1.0, epsilon = 1.0, sigma = 1.0}]", {{"mass", 0}, {"epsilon", 0}, {"sigma", 0}}));
  keys.push_back(
      {.name = "component[].lj[].shifted",
       .type = boolean,
       .meaning = "`true` makes the energy 0 at the cutoff; between "
                  "[different components](../explain/molecules_forces.md#between-components) it always is",
       .otherwise = "`false`"});
  add(site_keys("charge", "point charges: `{place, charge, mass}`", "charge = [{charge = 1.0}]",
                {{"mass", 0}, {"charge", -largest}}));
  add(site_keys("dipole", "point dipoles: `{place, direction = [0, 0, 1], moment}`",
                "dipole = [{moment = 1.0}]", {{"moment", -largest}}));
  keys.push_back(direction("dipole"));
  add(site_keys("quadrupole", "linear quadrupoles, likewise", "quadrupole = [{moment = 1.0}]",
                {{"moment", -largest}}));
  keys.push_back(direction("quadrupole"));
  keys.push_back({.name = "component[].inertia",
                  .type = reals,
                  .meaning = "principal moments; those above 0 are instead of what the masses give",
                  .otherwise = "from the masses",
                  .limits = {-largest, largest},
                  .fix = "inertia = [0.1, 0.1, 0.0], of the principal axes"});
  keys.push_back({.name = "mixing[].components",
                  .type = integers,
                  .meaning = "a `[[mixing]]` table for a pair of components, `[0, 1]`",
                  .fix = "components = [0, 1]"});
  keys.push_back({.name = "mixing[].xi",
                  .type = real,
                  .meaning = "their epsilon is xi sqrt(eps_0 eps_1)",
                  .otherwise = "1",
                  .limits = {0, largest}});
  keys.push_back({.name = "mixing[].eta",
                  .type = real,
                  .meaning = "their sigma is eta (s_0 + s_1) / 2",
                  .otherwise = "1",
                  .limits = {0, largest}});
  return keys;
}

std::vector<Key> model_keys() {
  return {{.name = "model.cutoff",
           .type = real,
           .meaning = "between centres of mass",
           .limits = {min_cutoff, largest},
           .fix = "cutoff = 2.5, between centres of mass",
           .required = true},
          {.name = "model.lj_cutoff",
           .type = real,
           .meaning = "of Lennard-Jones centres, at most the cutoff",
           .otherwise = "the cutoff",
           .limits = {min_cutoff, largest}},
          {.name = "model.reaction_field_epsilon",
           .type = real,
           .meaning = "of the continuum around dipoles",
           .otherwise = "as the start file says, or 1e10",
           .limits = {1, largest}},
          {.name = "model.long_range",
           .meaning = "`\"homogeneous\"`: what lies beyond the cutoff is added to energy and pressure for "
                      "pairs that are not shifted (those of different components always are); `\"none\"`",
           .fallback = "homogeneous",
           .words = {"homogeneous", "none"}},
          {.name = "model.charge_dipole_sign",
           .meaning = "`\"physical\"`, or `\"reference\"`: as ls1 mardyn has it, the other way round",
           .fallback = "physical",
           .words = {"physical", "reference"}},
          {.name = "model.shift",
           .meaning = "of different centres of one kind: `\"mixed\"`, or `\"reference\"`: that of the first "
                      "centre, as ls1 "
                      "mardyn has it",
           .fallback = "mixed",
           .words = {"mixed", "reference"}},
          {.name = "model.cells_per_cutoff",
           .type = any,
           .meaning = fmt::format(
               "how finely space is divided to find neighbours, 1 to {}, or `\"auto\"`: [as crowded as "
               "it is](../explain/molecules_forces.md#where-it-is-crowded)",
               max_cells_per_cutoff),
           .otherwise = "`\"auto\"`",
           .limits = {1, max_cells_per_cutoff},
           .fix = "cells_per_cutoff = \"auto\""}};
}

std::vector<Key> start_keys() {
  const auto droplet = [](const char* name, const char* meaning, double low) {
    return Key{.name = name, .type = real, .meaning = meaning, .limits = {low, largest}};
  };
  return {
      {.name = "start.file",
       .type = file,
       .meaning = "the molecules of the start: a file in any [format of MarDyn](../formats/molecules.md); "
                  "components "
                  "that the case does not give are taken from there",
       .otherwise = "this or `kind` is required"},
      {.name = "start.keep_time",
       .type = boolean,
       .meaning = "whether the time that the file states is that of step 0",
       .otherwise = "`true`"},
      {.name = "start.time",
       .type = real,
       .meaning = "of step 0",
       .otherwise = "that of the file, or 0",
       .limits = {-largest, largest}},
      {.name = "start.kind",
       .meaning =
           "instead of a file: `\"lattice\"`, face-centred cubic, or `\"droplet\"`, the same in a ball; "
           "orientations and velocities are random and the same on any number of ranks",
       .otherwise = "this or `file` is required",
       .words = {"lattice", "droplet"}},
      {.name = "start.density",
       .type = real,
       .meaning = "molecules per volume, met as nearly as whole cells of the lattice allow",
       .otherwise = "required without a file",
       .limits = {least, largest},
       .fix = "density = 0.35, molecules per volume"},
      {.name = "start.temperature",
       .type = real,
       .meaning = "of the velocities; the momentum of the whole is 0",
       .fallback = "0",
       .limits = {0, largest}},
      {.name = "start.seed",
       .type = integer,
       .meaning = "of what is random",
       .fallback = "1",
       .limits = {.least = 0}},
      {.name = "start.fractions",
       .type = reals,
       .meaning = "of the components",
       .otherwise = "as many of each",
       .limits = {0, largest}},
      {.name = "start.centre",
       .type = reals,
       .meaning = "of a droplet",
       .otherwise = "required for one",
       .limits = {-largest, largest},
       .fix = "centre = [9.0, 9.0, 9.0]"},
      {.name = "start.radius",
       .type = real,
       .meaning = "of a droplet",
       .otherwise = "required for one",
       .limits = {least, largest},
       .fix = "radius = 5.0"},
      droplet("start.vapour_density", "of a thinner lattice around a droplet; 0: none", 0),
      {.name = "thermostat.kind",
       .meaning =
           "velocities are scaled towards the temperature in every step, by (T / T now)^0.4 as in ls1 mardyn",
       .otherwise = "`\"velocity_scaling\"` with a temperature",
       .words = {"velocity_scaling"}},
      {.name = "thermostat.temperature",
       .type = real,
       .meaning = "towards which the velocities are scaled",
       .otherwise = "no thermostat",
       .limits = {least, largest},
       .fix = "temperature = 1.8"},
      {.name = "thermostat.from_start",
       .type = boolean,
       .meaning = "`true`: towards the temperature that the start file says; 0 there: no thermostat",
       .otherwise = "`false`"}};
}

std::vector<Key> decomposition_keys() {
  return {{.name = "decomposition.kind",
           .meaning = "`\"regular\"`: equal cuboids; `\"kd\"`: a [k-d tree](../explain/molecules.md) by load",
           .fallback = "regular",
           .words = {"regular", "kd"}},
          {.name = "decomposition.grid",
           .type = integers,
           .meaning = "ranks along x, y, z, for `\"regular\"`",
           .otherwise = "the one with the least area",
           .fix = "grid = [2, 2, 1]"},
          {.name = "decomposition.every",
           .type = integer,
           .meaning = "steps between looks at the balance, for `\"kd\"` as all below",
           .fallback = "100",
           .limits = {1, max_steps}},
          {.name = "decomposition.limit",
           .type = real,
           .meaning = "largest load over the mean that is left as it is",
           .fallback = "1.1",
           .limits = {1, largest}},
          {.name = "decomposition.load",
           .meaning = "`\"counted\"` pairs, with which runs repeat bit for bit, or `\"measured\"` time",
           .fallback = "counted",
           .words = {"counted", "measured"}},
          {.name = "decomposition.least_cells",
           .type = integer,
           .meaning = "of the tree: cells of half a cutoff that a region has along each axis",
           .fallback = "2",
           .limits = {1, max_steps}},
          {.name = "decomposition.full_search_ranks",
           .type = integer,
           .meaning = "up to how many ranks several cuts are tried",
           .fallback = "8",
           .limits = {0, 64}},
          {.name = "decomposition.cuts",
           .meaning = "whether `\"any\"` axis is cut or the `\"longest\"`",
           .fallback = "any",
           .words = {"any", "longest"}}};
}

std::vector<Key> output_keys() {
  return {
      {.name = "output[].bins",
       .type = integers,
       .meaning = "how many bins along x, y, z a quantity in bins has: `[1, 1, 50]` are slabs along z",
       .fix = "bins = [1, 1, 50]"},
      {.name = "writer[].name",
       .meaning = "a `[[writer]]` table for each of [the reference's "
                  "writers](../howto/molecules.md#the-references-writers)",
       .fix = "name = \"ResultWriter\"",
       .required = true},
      {.name = "writer[].every",
       .type = integer,
       .meaning = "steps between its files",
       .fallback = "1",
       .limits = {1, max_steps}},
      {.name = "writer[].prefix",
       .meaning =
           "of their names, below the run directory; one that leads out of it needs `--allow-outside`; its "
           "directories are made",
       .fallback = "default"},
      {.name = "writer[].incremental",
       .type = boolean,
       .meaning = "whether the name gets a number",
       .fallback = "true"}};
}

std::vector<Key> keys() {
  std::vector<Key> all;
  for (const auto& some :
       {domain_keys(), component_keys(), model_keys(), start_keys(), decomposition_keys(), output_keys()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

std::vector<std::string> names_of_quantities() {
  std::vector<std::string> names;
  for (const auto& quantity : offered_quantities()) names.push_back(quantity.name);
  return names;
}

const run::CaseSchema schema = run::make_schema("molecules", names_of_quantities(), keys());

}  // namespace

const run::ProgramInfo program_info{
    .simulation = "molecules",
    .purpose = "Molecular dynamics of rigid molecules",
    .schema = &schema,
    .footer =
        "A case is a TOML file, or a configuration of MarDyn (.cfg, .xml).\n" + run::ProgramInfo().footer};

}  // namespace tailrace::molecules
