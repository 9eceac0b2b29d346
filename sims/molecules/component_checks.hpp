// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "model.hpp"
#include "tailrace/error.hpp"

/// What is wrong with components, or unlikely to be meant, whichever file states them.
namespace tailrace::molecules {

/// Says where components are stated.
struct ModelSource {
  std::string file;  ///< one of the reference's formats; empty: the case
  /// A component as messages name it: "component[0]", or "FILE: component 1".
  [[nodiscard]] std::string name(std::size_t component) const;
};

/// Notes numbers of components and of their mixing that none may have. @local
void check_numbers(const Model& model, const ModelSource& source, Problems& problems);
/// Notes components whose sites are not about their centre of mass, or not in their principal axes. Those of
/// the reference's files, which computes with them as they are, and those whose moments of inertia are given
/// become warnings. @local
void check_frames(const Model& model, const ModelSource& source, Problems& problems,
                  std::vector<std::string>& warnings);
/// Warns of molecules that never turn although they are not the same from all sides, and of those that are
/// not neutral. @local
void warn_of_components(const Model& model, const ModelSource& source, std::vector<std::string>& warnings);

}  // namespace tailrace::molecules
