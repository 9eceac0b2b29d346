#include "copy.hpp"

#include <cstring>

namespace tailrace::layout {

bool is_contiguous(Index3 extents, LocalLayout layout) noexcept {
  const bool rows_join = extents.y <= 1 || layout.stride_y == extents.x;
  const bool planes_join = extents.z <= 1 || layout.stride_z == extents.x * extents.y;
  return rows_join && planes_join;
}

void copy_box(Placed<std::byte> to, Placed<const std::byte> from, Index3 extents,
              std::size_t element_bytes) noexcept {
  constexpr std::size_t worth_threads_bytes =
      256 * 1024;  // below, starting the threads costs more than it saves
  const Index3 plane{extents.x, extents.y, 1};
  const bool whole_planes = is_contiguous(plane, to.layout) && is_contiguous(plane, from.layout);
  const std::int64_t rows = whole_planes ? 1 : extents.y;
  const std::size_t run_bytes =
      static_cast<std::size_t>(whole_planes ? extents.x * extents.y : extents.x) * element_bytes;
  const std::int64_t bytes = static_cast<std::int64_t>(element_bytes);
  [[maybe_unused]] const bool threads =
      static_cast<std::size_t>(extents.volume()) * element_bytes >= worth_threads_bytes;
#pragma omp parallel for collapse(2) schedule(static) if (threads)
  for (std::int64_t z = 0; z < extents.z; ++z)
    for (std::int64_t y = 0; y < rows; ++y)
      std::memcpy(to.first + (z * to.layout.stride_z + y * to.layout.stride_y) * bytes,
                  from.first + (z * from.layout.stride_z + y * from.layout.stride_y) * bytes, run_bytes);
}

}  // namespace tailrace::layout
