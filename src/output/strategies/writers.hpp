// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "output/core/writer.hpp"

namespace tailrace::output {

// The strategies; registry.cpp gives them their names.
std::unique_ptr<Writer> make_blocking_writer(const WriterContext& context);
std::unique_ptr<Writer> make_threads_writer(const WriterContext& context);
std::unique_ptr<Writer> make_ranks_writer(const WriterContext& context);
/// What is behind the name of the strategy `ranks`, with the colon.
std::string ranks_argument(const WriteOptions& options);
std::unique_ptr<Writer> make_spawn_writer(const WriterContext& context);
std::unique_ptr<Writer> make_leaders_writer(const WriterContext& context);
std::unique_ptr<Writer> make_uring_writer(const WriterContext& context);

}  // namespace tailrace::output
