// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.hpp"

/// SEG-Y revision 1: places of what is read and written here, and its numbers, big-endian all.
namespace tailrace::seismic::segy {

inline constexpr std::int64_t text_bytes = 3200, binary_bytes = 400, trace_bytes = 240;

/// Describes how samples are stored.
enum class Format : std::int16_t { ibm = 1, ieee = 5 };

/// Bytes of the binary header, counted from 1 at its beginning (the standard counts from 3201).
enum BinaryField : int {
  traces_per_ensemble = 13,
  interval_us = 17,
  samples = 21,
  format = 25,
  ensemble_fold = 27,
  sorting = 29,
  measurement = 55,  ///< 1 metres
  revision = 301,
  fixed_length = 303,
  extended_texts = 305,
};

/// Bytes of a trace header, counted from 1.
enum TraceField : int {
  line_sequence = 1,
  file_sequence = 5,
  field_record = 9,
  record_trace = 13,
  trace_kind = 29,  ///< 1 seismic data
  offset_m = 37,
  receiver_elevation = 41,
  source_depth = 49,
  elevation_scalar = 69,
  coordinate_scalar = 71,
  source_x = 73,
  source_y = 77,
  receiver_x = 81,
  receiver_y = 85,
  coordinate_unit = 89,  ///< 1 length
  delay_ms = 109,
  trace_samples = 115,
  trace_interval_us = 117,
  inline_number = 189,
  crossline_number = 193,
  time_scalar = 215,
};

/// A number of a header, by its first byte counted from 1.
template <class T>
T get(std::span<const std::byte> header, int field) noexcept {
  return big_endian(value_at<T>(header, static_cast<std::size_t>(field) - 1));
}
template <class T>
void put(std::span<std::byte> header, int field, T value) noexcept {
  put_at(header, static_cast<std::size_t>(field) - 1, big_endian(value));
}

/// A sample from its four bytes, taken as one number.
double from_ibm(std::uint32_t bits) noexcept;
inline float from_ieee(std::uint32_t bits) noexcept {
  return std::bit_cast<float>(bits);
}

}  // namespace tailrace::seismic::segy
