// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/accumulator.hpp"

#include <cfloat>
#include <cmath>
#include <type_traits>

#include "base/check.hpp"
#include "output/core/visit.hpp"

namespace tailrace::output {

namespace {

/// Sums need double precision: a thousand squares in single precision lose three digits.
bool sums(Reduction reduction) noexcept {
  return reduction == Reduction::rms || reduction == Reduction::mean;
}

template <class T>
T initial_value(Reduction reduction) noexcept {
  // FLT_MAX for doubles too, as k-Wave starts: every file begins with the same values whatever its element
  // type.
  if (reduction == Reduction::max) return static_cast<T>(-FLT_MAX);
  if (reduction == Reduction::min) return static_cast<T>(FLT_MAX);
  return 0;
}

template <class F, class T, class Combine>
void combine_rows(const FieldView& field, const Share& share, const Box& own, T* values,
                  const Combine& combine) {
  visit<F>(field, share, own, 0, share.values, [&](const F* from, std::int64_t position, std::int64_t n) {
    T* const to = values + position;
    for (std::int64_t i = 0; i < n; ++i) to[i] = combine(to[i], static_cast<T>(from[i]));
  });
}

template <class F, class T>
void add_field(Reduction reduction, const FieldView& field, const Share& share, const Box& own, T* values) {
  switch (reduction) {
    case Reduction::min:
      return combine_rows<F>(field, share, own, values, [](T a, T b) { return b < a ? b : a; });
    case Reduction::max:
      return combine_rows<F>(field, share, own, values, [](T a, T b) { return b > a ? b : a; });
    case Reduction::rms:
      return combine_rows<F>(field, share, own, values, [](T a, T b) { return a + b * b; });
    case Reduction::mean:
      return combine_rows<F>(field, share, own, values, [](T a, T b) { return a + b; });
    case Reduction::none:
    case Reduction::final:
      break;
  }
  TAILRACE_CHECK(false, "this reduction has no accumulator");
}

template <class T, class Out>
void convert(const T* values, Reduction reduction, std::int64_t samples, std::int64_t count, Out* out) {
  const double weight = samples > 0 ? 1.0 / static_cast<double>(samples) : 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (reduction == Reduction::rms)
      out[i] = static_cast<Out>(std::sqrt(static_cast<double>(values[i]) * weight));
    else if (reduction == Reduction::mean)
      out[i] = static_cast<Out>(static_cast<double>(values[i]) * weight);
    else
      out[i] = static_cast<Out>(values[i]);
  }
}

}  // namespace

h5::ElementType Accumulator::state_type(const Share& share, Reduction reduction) noexcept {
  return sums(reduction) ? h5::ElementType::float64 : share.type;
}

std::int64_t Accumulator::bytes(const Share& share, Reduction reduction) noexcept {
  return share.values * static_cast<std::int64_t>(h5::size_bytes(state_type(share, reduction)));
}

Accumulator::Accumulator(const Share& share, Reduction reduction) : share_(&share), reduction_(reduction) {
  with_float_type(state_type(share, reduction), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    values_ = AlignedVector<T>(static_cast<std::size_t>(share.values), initial_value<T>(reduction));
  });
}

void Accumulator::add(const FieldView& field, const Box& own) {
  with_float_type(field.type, [&](auto* type) {
    using F = std::remove_pointer_t<decltype(type)>;
    std::visit([&](auto& values) { add_field<F>(reduction_, field, *share_, own, values.data()); }, values_);
  });
}

void Accumulator::result(std::int64_t samples, std::int64_t first, std::int64_t count,
                         std::span<std::byte> out) const {
  TAILRACE_CHECK(static_cast<std::size_t>(count) * h5::size_bytes(share_->type) == out.size(),
                 "room for the results");
  with_float_type(share_->type, [&](auto* type) {
    using Out = std::remove_pointer_t<decltype(type)>;
    std::visit(
        [&](const auto& values) {
          convert(values.data() + first, reduction_, samples, count, reinterpret_cast<Out*>(out.data()));
        },
        values_);
  });
}

void Accumulator::unfinished(std::int64_t first, std::int64_t count, std::span<std::byte> out) const {
  TAILRACE_CHECK(static_cast<std::size_t>(count) * h5::size_bytes(share_->type) == out.size(),
                 "room for the unfinished values");
  with_float_type(share_->type, [&](auto* type) {
    using Out = std::remove_pointer_t<decltype(type)>;
    Out* const to = reinterpret_cast<Out*>(out.data());
    std::visit(
        [&](const auto& values) {
          for (std::int64_t i = 0; i < count; ++i)
            to[i] = static_cast<Out>(values[static_cast<std::size_t>(first + i)]);
        },
        values_);
  });
}

std::span<std::byte> Accumulator::state() noexcept {
  return std::visit([](auto& values) { return std::as_writable_bytes(std::span(values)); }, values_);
}

}  // namespace tailrace::output
