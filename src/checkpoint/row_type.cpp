// SPDX-License-Identifier: BSD-3-Clause
#include "row_type.hpp"

#include <nlohmann/json.hpp>

namespace tailrace::checkpoint {

std::int64_t padded_bytes(const RowType& type) noexcept {
  return (type.bytes + 7) / 8 * 8;
}

std::string numpy_name(h5::ElementType type) {
  if (type == h5::ElementType::float32) return "<f4";
  return type == h5::ElementType::float64 ? "<f8" : "<u8";
}

std::string to_json(const RowType& type) {
  auto members = nlohmann::ordered_json::array();
  for (const auto& member : type.members)
    members.push_back(
        {{"name", member.name}, {"type", member.type}, {"offset", member.offset}, {"count", member.count}});
  return nlohmann::ordered_json{{"bytes", type.bytes}, {"members", members}}.dump();
}

}  // namespace tailrace::checkpoint
