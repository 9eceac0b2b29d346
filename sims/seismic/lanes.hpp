#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

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

/// The lanes of two neighbouring vectors from lane `first` of the lower one on.
template <class Real, int first, int... lane>
inline Vector<Real> joined(const Vector<Real>& low, const Vector<Real>& high,
                           std::integer_sequence<int, lane...> /*lanes*/) noexcept {
  return __builtin_shufflevector(low, high, (first + lane)...);
}

/// A vector that moves along a row, and its neighbours to both sides. Each value of the row is loaded once:
/// what lies between two vectors is put together from both.
template <class Real>
class Sliding {
 public:
  explicit Sliding(const Real* start) noexcept
      : at_(start),
        before_(load(start - lanes<Real>)),
        here_(load(start)),
        after_(load(start + lanes<Real>)) {}

  void advance() noexcept {
    at_ += lanes<Real>;
    before_ = here_;
    here_ = after_;
    after_ = load(at_ + lanes<Real>);
  }
  /// The values that are `distance` points further.
  template <int distance>
  [[nodiscard]] Vector<Real> at() const noexcept {
    constexpr std::make_integer_sequence<int, lanes<Real>> all{};
    if constexpr (distance == 0)
      return here_;
    else if constexpr (distance > lanes<Real> || -distance > lanes<Real>)
      return load(at_ + distance);
    else if constexpr (distance > 0)
      return joined<Real, distance>(here_, after_, all);
    else
      return joined<Real, lanes<Real> + distance>(before_, here_, all);
  }

 private:
  const Real* at_;
  Vector<Real> before_, here_, after_;
};

}  // namespace tailrace::seismic
