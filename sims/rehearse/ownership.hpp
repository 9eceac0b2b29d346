// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tailrace/box.hpp"

namespace tailrace::rehearse {

/// Who owns which part of the domain.
struct Ownership {
  enum class Kind {
    slabs,      ///< equal parts along z
    pencils,    ///< equal parts along y and z
    uneven,     ///< along z, rank r in proportion to r + 1
    one_owner,  ///< one rank owns all
  };
  Kind kind = Kind::slabs;
  int owner = 0;  ///< refers to `one_owner`

  /// The part of a rank; it may be empty. @local
  [[nodiscard]] Box box(Index3 cells, int ranks, int rank) const;
};

inline constexpr const char* ownership_forms = "slabs, pencils, uneven, one-owner[:RANK]";

/// Reads "slabs" and the like. Errors (usage).
Ownership parse_ownership(const std::string& text);

}  // namespace tailrace::rehearse
