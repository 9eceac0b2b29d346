// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

/// Descriptions in JSON that carry the checksum of their own text.
namespace tailrace::checkpoint {

/// Represent the checksum until the text is sealed: the value of the last key, "xxh3".
inline constexpr const char* no_digest = "0000000000000000";

/// The text of a description, the digest of itself put in.
std::string sealed(const nlohmann::ordered_json& description);
/// Reads one of a file. Errors (input): it is missing, not of this format, damaged, or of a version that is
/// newer than `newest`.
nlohmann::ordered_json read_sealed(const std::string& path, const std::string& format, int newest);
/// The same of its text; `path` is in messages.
nlohmann::ordered_json parse_sealed(const std::string& path, const std::string& text,
                                    const std::string& format, int newest);

/// A number in 16 hexadecimal digits, as `hex` writes it. Errors: std::invalid_argument.
std::uint64_t number_of(const std::string& digits);

}  // namespace tailrace::checkpoint
