// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "vec.hpp"

namespace tailrace::molecules {

/// x, y, z of one thing (Number = double) or of as many as a vector has lanes.
template <class Number>
struct Triple {
  Number x{}, y{}, z{};

  Triple& operator+=(const Triple& other) noexcept {
    x += other.x;
    y += other.y;
    z += other.z;
    return *this;
  }
  Triple& operator-=(const Triple& other) noexcept {
    x -= other.x;
    y -= other.y;
    z -= other.z;
    return *this;
  }
};

inline Triple<double> triple(const Vec3& v) noexcept {
  return {v[0], v[1], v[2]};
}
inline Vec3 vec3(const Triple<double>& v) noexcept {
  return {v.x, v.y, v.z};
}

/// The same in all lanes.
template <class Number>
inline Triple<Number> spread(const Triple<double>& v) noexcept {
  constexpr Number zero{};
  return {zero + v.x, zero + v.y, zero + v.z};
}

template <class A, class B>
inline auto operator+(const Triple<A>& a, const Triple<B>& b) noexcept {
  return Triple<decltype(a.x + b.x)>{a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class A, class B>
inline auto operator-(const Triple<A>& a, const Triple<B>& b) noexcept {
  return Triple<decltype(a.x - b.x)>{a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class A, class B>
inline auto operator*(const A& factor, const Triple<B>& a) noexcept {
  return Triple<decltype(factor * a.x)>{factor * a.x, factor * a.y, factor * a.z};
}
template <class A, class B>
inline auto dot(const Triple<A>& a, const Triple<B>& b) noexcept {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class A, class B>
inline auto cross(const Triple<A>& a, const Triple<B>& b) noexcept {
  return Triple<decltype(a.x * b.x)>{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Quaternion w, x, y, z of an orientation, from the frame of the body to that of space.
template <class Number>
struct Turn {
  Number w, x, y, z;
};

/// A rotation matrix by rows; not divided by the length of the quaternion, which is therefore kept at 1.
template <class Number>
struct Rotation {
  Triple<Number> rows[3];

  explicit Rotation(const Turn<Number>& q) noexcept
      : rows{{q.w * q.w + q.x * q.x - q.y * q.y - q.z * q.z, 2.0 * (q.x * q.y - q.w * q.z),
              2.0 * (q.x * q.z + q.w * q.y)},
             {2.0 * (q.x * q.y + q.w * q.z), q.w * q.w - q.x * q.x + q.y * q.y - q.z * q.z,
              2.0 * (q.y * q.z - q.w * q.x)},
             {2.0 * (q.x * q.z - q.w * q.y), 2.0 * (q.y * q.z + q.w * q.x),
              q.w * q.w - q.x * q.x - q.y * q.y + q.z * q.z}} {}

  template <class Other>
  [[nodiscard]] Triple<Number> to_space(const Triple<Other>& v) const noexcept {
    return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)};
  }
  [[nodiscard]] Triple<Number> to_body(const Triple<Number>& v) const noexcept {
    return v.x * rows[0] + (v.y * rows[1] + v.z * rows[2]);
  }
};

}  // namespace tailrace::molecules
