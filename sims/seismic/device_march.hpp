// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/launch_blocks.hpp"
#include "kernel.hpp"

/// The kernel of a time step on a device. A block has a tile of columns, with those around it that
/// derivatives read, and marches along z: each thread keeps the values of a column around the plane in its
/// registers, and has the next one fetched a plane ahead; what others need of a plane is in the memory of the
/// block.
namespace tailrace::seismic {

/// A coefficient as `Coefficient`.
template <class Real>
struct DeviceCoefficient {
  const Real* first;
  std::int64_t stride_y, stride_z;

  TAILRACE_KERNEL Real at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return first[z * stride_z + y * stride_y + x];
  }
};

/// As `StepArrays`, in plain arrays, which kernels can read.
template <class Real>
struct DeviceArrays {
  const Real* now[2];  // p, q
  Real* other[2];
  std::int64_t stride_y, stride_z;
  DeviceCoefficient<Real> speed, across, moveout, shear, axis[3];
  Real first[3][reach], second[3][reach + 1];  // weights
  const Real* damping[3];
};

/// The box that is computed, from the low corner of the rank's, and its tiles.
struct MarchBox {
  std::int64_t x0, y0, z0, x1, y1, z1;
  std::int64_t tiles_x, tiles_y;
  static constexpr std::int64_t planes = 64;  ///< of a block

  TAILRACE_KERNEL std::int64_t first_plane(std::int64_t block) const {
    return z0 + block / (tiles_x * tiles_y) * planes;
  }
};

/// Points of a tile. Larger ones leave a thread too few registers.
template <class Real>
struct TileSize {
  static constexpr int width = 32, height = sizeof(Real) == 8 ? 8 : 16;
};

template <class Real, Equations equations, bool damped>
struct March {
  using Tile = TileSize<Real>;
  static constexpr int halo = static_cast<int>(reach);
  static constexpr int fields = equations == Equations::isotropic ? 1 : 2;
  static constexpr bool tilted = equations == Equations::tti;
  static constexpr int wide = Tile::width + 2 * halo, high = Tile::height + 2 * halo;
  static constexpr int threads = wide * high, points = Tile::width * Tile::height;
  static constexpr int window = 2 * halo + 1;

  /// What a plane's points need of each other, of one field.
  struct Plane {
    Real f[high][wide];
    Real z_second[Tile::height][Tile::width];
  };
  struct TiltedPlane : Plane {
    Real z_first[high][wide];
    Real y_first[Tile::height][wide];
    Real y_second[Tile::height][Tile::width];
  };
  struct Shared {
    std::conditional_t<tilted, TiltedPlane, Plane> of[fields];
  };
  struct Thread {
    Real column[fields][window];
    Real next[fields];  // behind the column
  };
  /// Second derivatives along and across the axis.
  struct AlongAcross {
    Real along, across;
  };

  DeviceArrays<Real> a;
  MarchBox box;

  template <class Block>
  TAILRACE_KERNEL void operator()(Block& block) const {
    const std::int64_t tile = block.number() % (box.tiles_x * box.tiles_y);
    const std::int64_t x0 = box.x0 + tile % box.tiles_x * Tile::width,
                       y0 = box.y0 + tile / box.tiles_x * Tile::height, z0 = box.first_plane(block.number());
    const std::int64_t z1 = z0 + MarchBox::planes < box.z1 ? z0 + MarchBox::planes : box.z1;
    block.each([&](int t, Thread& own) { begin(t, own, x0, y0, z0); });
    for (std::int64_t z = z0; z < z1; ++z) {
      auto& shared = block.shared();
      block.each([&](int t, Thread& own) { enter_plane(shared, t, own, x0, y0, z); });
      if constexpr (tilted) block.each([&](int t, Thread&) { derive_along_y(shared, t); });
      block.each([&](int t, Thread&) { finish_point(shared, t, x0, y0, z); });
    }
  }

 private:
  /// The value of a field at a column's plane z; 0 where no point of the box needs it.
  TAILRACE_KERNEL Real value(int field, int t, std::int64_t x0, std::int64_t y0, std::int64_t z) const {
    const std::int64_t x = x0 + t % wide - halo, y = y0 + t / wide - halo;
    const bool needed = x < box.x1 + halo && y < box.y1 + halo && z < box.z1 + halo;
    return needed ? a.now[field][z * a.stride_z + y * a.stride_y + x] : Real(0);
  }

  /// Fetches a column but for its last value, which comes with the first plane.
  TAILRACE_KERNEL void begin(int t, Thread& own, std::int64_t x0, std::int64_t y0, std::int64_t z0) const {
    for (int f = 0; f < fields; ++f) {
      for (int k = 0; k + 1 < window; ++k) own.column[f][k + 1] = value(f, t, x0, y0, z0 + k - halo);
      own.next[f] = value(f, t, x0, y0, z0 + halo);
    }
  }

  TAILRACE_KERNEL void enter_plane(Shared& shared, int t, Thread& own, std::int64_t x0, std::int64_t y0,
                                   std::int64_t z) const {
    const int tx = t % wide, ty = t / wide;
    const bool inner = tx >= halo && tx < halo + Tile::width && ty >= halo && ty < halo + Tile::height;
    for (int f = 0; f < fields; ++f) {
      auto& column = own.column[f];
      for (int k = 0; k + 1 < window; ++k) column[k] = column[k + 1];
      column[window - 1] = own.next[f];
      own.next[f] = value(f, t, x0, y0, z + halo + 1);
      auto& plane = shared.of[f];
      plane.f[ty][tx] = column[halo];
      if constexpr (tilted) plane.z_first[ty][tx] = first(column + halo, 1, a.first[2]);
      if (inner) plane.z_second[ty - halo][tx - halo] = second(column + halo, 1, a.second[2]);
    }
  }

  TAILRACE_KERNEL void derive_along_y(Shared& shared, int t) const {
    if (t >= wide * Tile::height) return;
    const int tx = t % wide, ty = t / wide;
    for (int f = 0; f < fields; ++f) {
      auto& plane = shared.of[f];
      const Real* const here = &plane.f[ty + halo][tx];
      plane.y_first[ty][tx] = first(here, wide, a.first[1]);
      if (tx >= halo && tx < halo + Tile::width)
        plane.y_second[ty][tx - halo] = second(here, wide, a.second[1]);
    }
  }

  TAILRACE_KERNEL void finish_point(Shared& shared, int t, std::int64_t x0, std::int64_t y0,
                                    std::int64_t z) const {
    const int tx = t % Tile::width, ty = t / Tile::width;
    const std::int64_t x = x0 + tx, y = y0 + ty;
    if (t >= points || x >= box.x1 || y >= box.y1) return;
    const Real speed = a.speed.at(x, y, z);
    const auto& p = shared.of[0];
    if constexpr (equations == Equations::isotropic) {
      leap(0, p.f[ty + halo][tx + halo], speed * laplacian(p, tx, ty), x, y, z);
    } else {
      const auto& q = shared.of[1];
      const Real across = a.across.at(x, y, z), moveout = a.moveout.at(x, y, z), shear = a.shear.at(x, y, z);
      const Real n[3] = {axis(0, x, y, z), axis(1, x, y, z), axis(2, x, y, z)};
      const AlongAcross of_p = rotate(p, tx, ty, n), of_q = rotate(q, tx, ty, n);
      leap(0, p.f[ty + halo][tx + halo],
           speed * (across * of_p.across + of_q.along + shear * (of_p.along - of_q.along)), x, y, z);
      leap(1, q.f[ty + halo][tx + halo],
           speed * (moveout * of_p.across + of_q.along - shear * (of_p.across - of_q.across)), x, y, z);
    }
  }

  TAILRACE_KERNEL Real axis(int component, std::int64_t x, std::int64_t y, std::int64_t z) const {
    return tilted ? a.axis[component].at(x, y, z) : Real(0);
  }

  TAILRACE_KERNEL Real laplacian(const Plane& plane, int tx, int ty) const {
    const Real* const here = &plane.f[ty + halo][tx + halo];
    return second(here, 1, a.second[0]) + second(here, wide, a.second[1]) + plane.z_second[ty][tx];
  }

  /// Along z and across it.
  TAILRACE_KERNEL AlongAcross rotate(const Plane& plane, int tx, int ty, const Real*) const {
    const Real* const here = &plane.f[ty + halo][tx + halo];
    return {plane.z_second[ty][tx], second(here, 1, a.second[0]) + second(here, wide, a.second[1])};
  }
  /// Along and across an axis with the components n.
  TAILRACE_KERNEL AlongAcross rotate(const TiltedPlane& plane, int tx, int ty, const Real* n) const {
    const Real two = 2;
    const Real* const z_first = &plane.z_first[ty + halo][tx + halo];
    const Real xx = second(&plane.f[ty + halo][tx + halo], 1, a.second[0]), yy = plane.y_second[ty][tx],
               zz = plane.z_second[ty][tx];
    const Real xy = first(&plane.y_first[ty][tx + halo], 1, a.first[0]), xz = first(z_first, 1, a.first[0]),
               yz = first(z_first, wide, a.first[1]);
    const Real along = n[0] * (n[0] * xx + two * (n[1] * xy + n[2] * xz)) +
                       n[1] * (n[1] * yy + two * (n[2] * yz)) + n[2] * (n[2] * zz);
    return {along, xx + yy + zz - along};
  }

  TAILRACE_KERNEL static Real first(const Real* f, int distance, const Real (&w)[reach]) {
    Real sum = w[0] * (f[distance] - f[-distance]);
    for (int k = 2; k <= halo; ++k) sum += w[k - 1] * (f[k * distance] - f[-k * distance]);
    return sum;
  }
  TAILRACE_KERNEL static Real second(const Real* f, int distance, const Real (&w)[reach + 1]) {
    Real sum = w[0] * f[0];
    for (int k = 1; k <= halo; ++k) sum += w[k] * (f[k * distance] + f[-k * distance]);
    return sum;
  }

  /// The leapfrog: with damping d, (1 + d) next = 2 now - (1 - d) before + change.
  TAILRACE_KERNEL void leap(int field, Real now, Real change, std::int64_t x, std::int64_t y,
                            std::int64_t z) const {
    Real& other = a.other[field][z * a.stride_z + y * a.stride_y + x];
    if constexpr (damped) {
      const Real damping = a.damping[0][x] + (a.damping[1][y] + a.damping[2][z]);
      other = (Real(2) * now - (Real(1) - damping) * other + change) / (Real(1) + damping);
    } else {
      other = Real(2) * now - other + change;
    }
  }
};

}  // namespace tailrace::seismic
