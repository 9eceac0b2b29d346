// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

/// Describes what a dataset of an HDF5 file is, as plain values.
namespace tailrace::h5 {

/// Element types that Tailrace reads and writes.
enum class ElementType { float32, float64, int64, uint64, uint8, other };
std::size_t size_bytes(ElementType type) noexcept;
const char* to_string(ElementType type) noexcept;

template <class T>
constexpr ElementType element_type_of() noexcept {
  if constexpr (std::is_same_v<T, float>) return ElementType::float32;
  if constexpr (std::is_same_v<T, double>) return ElementType::float64;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::int64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return ElementType::uint64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::uint8;
  return ElementType::other;
}

/// Extents of a dataset, slowest first, as HDF5 counts them.
using Shape = std::vector<std::uint64_t>;
/// The product of the extents; the largest number there is where it does not fit.
std::uint64_t element_count(const Shape& shape) noexcept;
std::string to_string(const Shape& shape);

/// A named attribute: text or a number, or several of them side by side.
struct Attribute {
  std::string name;
  std::variant<std::string, double, std::int64_t, std::vector<std::string>, std::vector<std::int64_t>> value;
  /// For text: bytes reserved in the file, so that a longer value can replace it later; 0 takes the text's
  /// length.
  std::size_t reserved_bytes = 0;
};

/// A dataset to create.
struct DatasetSpec {
  std::string path;  ///< absolute, missing groups are made
  Shape shape;
  ElementType type = ElementType::float32;
  std::vector<Attribute> attributes;
};

}  // namespace tailrace::h5
