// SPDX-License-Identifier: BSD-3-Clause
#include "case_model.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tailrace::molecules {

namespace {

constexpr const char* place_form = "place = [0.0, 0.0, 0.4], in the frame of the molecule";

/// Reads the sites of one [[component]].
class ComponentReader {
 public:
  ComponentReader(run::CaseFile& file, std::string key) : file_(file), key_(std::move(key)) {}

  Component read() {
    Component component;
    component.name = file_.text(key_ + ".name").value_or("");
    each("lj", [&](const std::string& site) {
      component.lennard_jones.push_back({.place = place(site),
                                         .mass = number(site + ".mass"),
                                         .epsilon = number(site + ".epsilon"),
                                         .sigma = number(site + ".sigma"),
                                         .shifted = file_.boolean(site + ".shifted").value_or(false)});
    });
    each("charge", [&](const std::string& site) {
      const double mass = file_.has(site + ".mass") ? number(site + ".mass") : 0;
      component.charges.push_back({place(site), mass, number(site + ".charge")});
    });
    each("dipole", [&](const std::string& site) {
      component.dipoles.push_back({place(site), direction(site), number(site + ".moment")});
    });
    each("quadrupole", [&](const std::string& site) {
      component.quadrupoles.push_back({place(site), direction(site), number(site + ".moment")});
    });
    if (file_.has(key_ + ".inertia"))
      component.inertia_override =
          read_vec3(file_, key_ + ".inertia", "inertia = [0.1, 0.1, 0.0], of the principal axes")
              .value_or(Vec3{});
    if (!(component.mass() > 0))
      file_.add_problem(key_, "has no mass", "an lj or a charge site with mass > 0");
    return component;
  }

 private:
  template <class Read>
  void each(const char* kind, const Read& read) {
    const auto list = fmt::format("{}.{}", key_, kind);
    for (std::size_t i = 0; i < file_.tables(list); ++i) read(fmt::format("{}[{}]", list, i));
  }

  double number(const std::string& key) {
    const auto value = file_.real(key);
    if (!value && !file_.has(key)) file_.add_problem(key, "is missing", "a number, in reduced units");
    return value.value_or(1);
  }

  Vec3 place(const std::string& site) {
    if (!file_.has(site + ".place")) return {};
    return read_vec3(file_, site + ".place", place_form).value_or(Vec3{});
  }

  Vec3 direction(const std::string& site) {
    const auto key = site + ".direction";
    if (!file_.has(key)) return {0, 0, 1};
    const auto given = read_vec3(file_, key, "direction = [0, 0, 1], from - to +").value_or(Vec3{0, 0, 1});
    const double length = std::sqrt(dot(given, given));
    if (length > 0) return (1 / length) * given;
    file_.add_problem(key, "has no length", "direction = [0, 0, 1]");
    return {0, 0, 1};
  }

  run::CaseFile& file_;
  std::string key_;
};

/// Pairs of components that do not mix as most do.
void read_mixing(run::CaseFile& file, Model& model) {
  const auto count = static_cast<std::int64_t>(model.components.size());
  model.mixing.assign(static_cast<std::size_t>(count * (count - 1) / 2), {});
  for (std::size_t k = 0; k < file.tables("mixing"); ++k) {
    const auto key = fmt::format("mixing[{}]", k);
    const auto pair = file.integers(key + ".components").value_or(std::vector<std::int64_t>{});
    const Mixing mixing{.xi = file.real(key + ".xi").value_or(1), .eta = file.real(key + ".eta").value_or(1)};
    const bool good = pair.size() == 2 && pair[0] >= 0 && pair[0] < pair[1] && pair[1] < count;
    if (!good) {
      file.add_problem(key + ".components", "is no pair of components",
                       "components = [0, 1]: two of them by their numbers, which count from 0, ascending");
      continue;
    }
    const auto i = pair[0], j = pair[1];
    model.mixing[static_cast<std::size_t>(i * count - i * (i + 1) / 2 + (j - i - 1))] = mixing;
  }
}

}  // namespace

std::optional<Vec3> read_vec3(run::CaseFile& file, const std::string& key, const char* fix) {
  const auto numbers = file.reals(key);
  if (numbers && numbers->size() == 3) return Vec3{(*numbers)[0], (*numbers)[1], (*numbers)[2]};
  file.add_problem(key, numbers || !file.has(key) ? "is not three numbers" : "is wrong", fix);
  return {};
}

Model read_model(run::CaseFile& file) {
  Model model;
  for (std::size_t i = 0; i < file.tables("component"); ++i)
    model.components.push_back(ComponentReader(file, fmt::format("component[{}]", i)).read());
  read_mixing(file, model);
  model.cutoff = file.real("model.cutoff").value_or(1);
  model.lj_cutoff = file.real("model.lj_cutoff").value_or(model.cutoff);
  if (model.lj_cutoff > model.cutoff)
    file.add_problem("model.lj_cutoff", fmt::format("{:g} is more than the cutoff", model.lj_cutoff),
                     fmt::format("at most {:g}", model.cutoff));
  model.reaction_field_epsilon =
      file.real("model.reaction_field_epsilon").value_or(model.reaction_field_epsilon);
  model.long_range = file.choice("model.long_range") == 1 ? LongRange::none : LongRange::homogeneous;
  model.reference_charge_dipole_sign = file.choice("model.charge_dipole_sign") == 1;
  model.reference_shift = file.choice("model.shift") == 1;
  return model;
}

}  // namespace tailrace::molecules
