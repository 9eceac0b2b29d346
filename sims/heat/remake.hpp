// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tailrace::heat {

/// Makes an array one of `count` zeros; frees what is too small before it takes more.
template <class Vector>
void remake(Vector& values, std::size_t count) {
  if (values.capacity() < count) Vector().swap(values);
  values.assign(count, typename Vector::value_type{});
}

}  // namespace tailrace::heat
