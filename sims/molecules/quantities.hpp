// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tailrace/run/case_output.hpp"

namespace tailrace::molecules {

/// Describes what [[output]] tables can ask for.
struct Quantity {
  enum class Kind {
    observable,    ///< one number of the whole system
    per_molecule,  ///< some numbers of each molecule, in the order of the ids
    binned,        ///< a number for each bin of a grid over the box
  };
  const char* name;
  Kind kind;
  std::int64_t components = 1;
};

/// The observables, in the order of `ObservableValues`.
struct Observable {
  enum Index : std::size_t {
    potential_energy,
    kinetic_energy,
    total_energy,
    temperature,
    pressure,
    virial,
    beta_trans,
    beta_rot,
    heat_capacity,
    mean_potential_energy,
    mean_kinetic_energy,
    mean_pressure,
    imbalance,
    count
  };
};
using ObservableValues = std::array<double, Observable::count>;

inline constexpr std::array quantities{
    Quantity{"potential_energy", Quantity::Kind::observable},
    Quantity{"kinetic_energy", Quantity::Kind::observable},
    Quantity{"total_energy", Quantity::Kind::observable},
    Quantity{"temperature", Quantity::Kind::observable},
    Quantity{"pressure", Quantity::Kind::observable},
    Quantity{"virial", Quantity::Kind::observable},
    Quantity{"beta_trans", Quantity::Kind::observable},
    Quantity{"beta_rot", Quantity::Kind::observable},
    Quantity{"heat_capacity", Quantity::Kind::observable},
    Quantity{"mean_potential_energy", Quantity::Kind::observable},
    Quantity{"mean_kinetic_energy", Quantity::Kind::observable},
    Quantity{"mean_pressure", Quantity::Kind::observable},
    Quantity{"imbalance", Quantity::Kind::observable},
    Quantity{"position", Quantity::Kind::per_molecule, 3},
    Quantity{"velocity", Quantity::Kind::per_molecule, 3},
    Quantity{"orientation", Quantity::Kind::per_molecule, 4},
    Quantity{"angular_momentum", Quantity::Kind::per_molecule, 3},
    Quantity{"density", Quantity::Kind::binned},
    Quantity{"bin_temperature", Quantity::Kind::binned},
};

/// All observables at once, each in a group of its own below that of the table.
inline constexpr const char* all_observables = "observables";

/// Returns what `run::read_output_tables` is to accept.
std::vector<run::OfferedQuantity> offered_quantities();
/// The quantity of this name, null for `all_observables`. @local
const Quantity* find_quantity(const std::string& name) noexcept;

}  // namespace tailrace::molecules
