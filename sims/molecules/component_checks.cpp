// SPDX-License-Identifier: BSD-3-Clause
#include "component_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace tailrace::molecules {

namespace {

constexpr double most = 1e30;  // as in the keys of a case

bool is_number(double value) noexcept {
  return std::abs(value) <= most;
}

bool is_size(double value) noexcept {
  return value >= 0 && value <= most;
}

/// Calls `visit(kind, number, site)` for all sites of a component.
template <class Visit>
void for_each_site(const Component& component, const Visit& visit) {
  const auto each = [&](const char* kind, const auto& sites) {
    for (std::size_t i = 0; i < sites.size(); ++i) visit(kind, i + 1, sites[i]);
  };
  each("Lennard-Jones centre", component.lennard_jones);
  each("charge", component.charges);
  each("dipole", component.dipoles);
  each("quadrupole", component.quadrupoles);
}

/// Checks the numbers of one component.
class NumberChecks {
 public:
  NumberChecks(std::string name, Problems& problems) : name_(std::move(name)), problems_(problems) {}

  void check(const Component& component) {
    for_each_site(component, [&](const char* kind, std::size_t number, const auto& site) {
      site_ = fmt::format("{} {}", kind, number);
      for (const double coordinate : site.place) want(is_number(coordinate), "a coordinate", coordinate);
      check_site(site);
    });
    check_centres(component);
    if (!(component.mass() > 0))
      problems_.add(fmt::format("{} has no mass", name_), "a site with a mass above 0");
    for (const double moment : component.inertia_override)
      if (!is_number(moment))
        problems_.add(fmt::format("{}: a moment of inertia is {:g}", name_, moment), "a number");
  }

 private:
  void want(bool good, const char* what, double value) {
    if (!good)
      problems_.add(fmt::format("{}, {}: {} of {:g} is not accepted", name_, site_, what, value),
                    fmt::format("a number up to {:g}", most));
  }
  void want_size(const char* what, double value) {
    if (!is_size(value))
      problems_.add(fmt::format("{}, {}: {} = {:g} is not accepted", name_, site_, what, value),
                    fmt::format("0 to {:g}", most));
  }
  void check_site(const LennardJones& site) {
    want_size("mass", site.mass);
    want_size("epsilon", site.epsilon);
    want_size("sigma", site.sigma);
  }
  void check_site(const Charge& site) {
    want_size("mass", site.mass);
    want(is_number(site.charge), "a charge", site.charge);
  }
  template <class Pole>
  void check_site(const Pole& site) {
    want(is_number(site.moment), "a moment", site.moment);
  }

  /// Centres that attract and repel each other without being of any size give no force that is a number.
  void check_centres(const Component& component) {
    for (const auto& site : component.lennard_jones) {
      if (site.sigma != 0 || site.epsilon == 0) continue;
      return problems_.add(fmt::format("{}: a Lennard-Jones centre has sigma = {:g} and epsilon = {:g}",
                                       name_, site.sigma, site.epsilon),
                           "sigma above 0, or epsilon = 0 for a centre without forces");
    }
  }

  std::string name_, site_;
  Problems& problems_;
};

/// Describes how the masses of a component lie in its frame.
struct Masses {
  Vec3 centre{}, products{};  ///< of inertia: yz, xz, xy
  double extent = 0;          ///< of the farthest mass from the origin
  double sum = 0;             ///< of mass times the square of the distance
};

Masses masses_of(const Component& component) {
  Masses all;
  const auto add = [&](const auto& site) {
    if (!(site.mass > 0)) return;
    const auto& [x, y, z] = site.place;
    all.centre = all.centre + site.mass * site.place;
    all.products = all.products + site.mass * Vec3{y * z, x * z, x * y};
    all.extent = std::max(all.extent, std::sqrt(dot(site.place, site.place)));
    all.sum += site.mass * dot(site.place, site.place);
  };
  for (const auto& site : component.lennard_jones) add(site);
  for (const auto& site : component.charges) add(site);
  all.centre = 1 / component.mass() * all.centre;
  return all;
}

std::string point_text(const Vec3& v) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", v[0], v[1], v[2]);
}

/// Something that is not as it should be, with what to do about it.
struct Finding {
  std::string what, fix;
};

/// What of a frame is more than rounding of three digits.
std::optional<Finding> odd_frame(const Component& component) {
  constexpr double rounding = 1e-3;
  const auto masses = masses_of(component);
  if (std::sqrt(dot(masses.centre, masses.centre)) > rounding * masses.extent)
    return Finding{
        fmt::format("its centre of mass is at {} of its frame", point_text(masses.centre)),
        fmt::format("subtract {} from the place of each of its sites: the origin is the centre of mass",
                    point_text(masses.centre))};
  const auto [yz, xz, xy] = masses.products;
  if (std::max({std::abs(yz), std::abs(xz), std::abs(xy)}) > rounding * masses.sum)
    return Finding{
        fmt::format("its frame is not that of its principal axes: sums of m x y = {:.6g}, m x z = {:.6g}, "
                    "m y z = {:.6g}",
                    xy, xz, yz),
        "turn its sites until these sums are 0: the axes of the frame are the principal ones"};
  return {};
}

bool is_given(const Vec3& moments) noexcept {
  return std::any_of(moments.begin(), moments.end(), [](double moment) { return moment > 0; });
}

/// Returns whether a component is another one when it has turned about an axis through its origin.
bool differs_about(std::size_t axis, const Component& component) {
  constexpr double rounding = 1e-9;
  const auto off_axis = [&](Vec3 v) {
    const double all = dot(v, v);
    v[axis] = 0;
    return all > 0 && dot(v, v) > rounding * all;
  };
  bool differs = false;
  for_each_site(component, [&](const char*, std::size_t, const auto& site) {
    differs = differs || off_axis(site.place);
    if constexpr (requires { site.direction; }) differs = differs || off_axis(site.direction);
  });
  return differs;
}

void warn_of_stiffness(const Component& component, const std::string& name,
                       std::vector<std::string>& warnings) {
  constexpr std::array axes{"x", "y", "z"};
  const auto moments = component.inertia();
  std::vector<std::string> held;
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    if (!(moments[axis] > 0) && differs_about(axis, component)) held.emplace_back(axes[axis]);
  if (held.empty()) return;
  warnings.push_back(fmt::format(
      "{} has no moment of inertia about {} and never turns there, whatever acts on its sites. Fix: "
      "inertia, the moments about x, y and z",
      name, fmt::join(held, ", ")));
}

void warn_of_charge(const Component& component, const std::string& name, std::vector<std::string>& warnings) {
  constexpr double rounding = 1e-6;
  double net = 0, all = 0;
  for (const auto& site : component.charges) {
    net += site.charge;
    all += std::abs(site.charge);
  }
  if (std::abs(net) <= rounding * all) return;
  warnings.push_back(
      fmt::format("{} has a net charge of {:g}: what lies beyond the cutoff is left out, which is right of "
                  "neutral molecules only",
                  name, net));
}

}  // namespace

std::string ModelSource::name(std::size_t component) const {
  return file.empty() ? fmt::format("component[{}]", component)
                      : fmt::format("{}: component {}", file, component + 1);
}

void check_numbers(const Model& model, const ModelSource& source, Problems& problems) {
  for (std::size_t i = 0; i < model.components.size(); ++i)
    NumberChecks(source.name(i), problems).check(model.components[i]);
  for (const auto& pair : model.mixing)
    if (!is_size(pair.xi) || !is_size(pair.eta))
      problems.add(fmt::format("{}: mixing with xi = {:g} and eta = {:g} is not accepted",
                               source.file.empty() ? "mixing" : source.file, pair.xi, pair.eta),
                   fmt::format("0 to {:g}", most));
}

void check_frames(const Model& model, const ModelSource& source, Problems& problems,
                  std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < model.components.size(); ++i) {
    const auto found = odd_frame(model.components[i]);
    if (!found) continue;
    const auto what = fmt::format("{}: {}", source.name(i), found->what);
    if (source.file.empty() && !is_given(model.components[i].inertia_override))
      problems.add(what, found->fix);
    else
      warnings.push_back(
          fmt::format("{}; it is computed as it is, as ls1 mardyn does. Fix: {}", what, found->fix));
  }
}

void warn_of_components(const Model& model, const ModelSource& source, std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < model.components.size(); ++i) {
    warn_of_stiffness(model.components[i], source.name(i), warnings);
    warn_of_charge(model.components[i], source.name(i), warnings);
  }
}

}  // namespace tailrace::molecules
