// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <utility>

#include "tailrace/error.hpp"

/// The orders of polynomials that are compiled, and the way from one that a case names to its code.
namespace tailrace::heat {

inline constexpr int lowest_order = 2, highest_order = 8;
inline constexpr int npb_order = 4;

/// In the source of a template, compiles it for each order: `each(order)` is a definition.
#define TAILRACE_FOR_EACH_ORDER(each) each(2) each(3) each(4) each(5) each(6) each(7) each(8)

/// Returns `body(std::integral_constant<int, order>)`. @local
template <int first = lowest_order, class Body>
decltype(auto) with_order(int order, Body&& body) {
  if constexpr (first < highest_order)
    if (order > first) return with_order<first + 1>(order, std::forward<Body>(body));
  if (order != first) throw Error(ErrorKind::internal, "no polynomials of this order are compiled");
  return std::forward<Body>(body)(std::integral_constant<int, first>{});
}

}  // namespace tailrace::heat
