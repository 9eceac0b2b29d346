#pragma once

#include <cstdint>
#include <cstring>

/// Vectors of numbers as the machine has them. Every point of a grid goes through the same instructions,
/// whole vectors also at the ends of rows, so that its value does not depend on where a row begins.
namespace tailrace::seismic {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

template <class Real>
inline constexpr int lanes = vector_bytes / static_cast<int>(sizeof(Real));

template <class Real>
struct VectorOf {
  using type [[gnu::vector_size(vector_bytes)]] = Real;
};
template <class Real>
using Vector = typename VectorOf<Real>::type;

template <class Real>
inline Vector<Real> load(const Real* from) noexcept {
  Vector<Real> vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

/// The first `count` values, zeros behind them.
template <class Real>
inline Vector<Real> load(const Real* from, std::int64_t count) noexcept {
  if (count >= lanes<Real>) return load(from);
  Vector<Real> vector{};
  std::memcpy(&vector, from, static_cast<std::size_t>(count) * sizeof(Real));
  return vector;
}

template <class Real>
inline void store(Real* to, const Vector<Real>& vector) noexcept {
  std::memcpy(to, &vector, sizeof(vector));
}

template <class Real>
inline void store(Real* to, const Vector<Real>& vector, std::int64_t count) noexcept {
  if (count >= lanes<Real>) return store(to, vector);
  std::memcpy(to, &vector, static_cast<std::size_t>(count) * sizeof(Real));
}

}  // namespace tailrace::seismic
