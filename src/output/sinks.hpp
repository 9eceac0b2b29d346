#pragma once

#include "tailrace/output/sink.hpp"

namespace tailrace::output {

// The sinks; registry.cpp gives them their names. @collective{context.comm}
std::unique_ptr<Sink> create_hdf5_sink(const SinkContext& context);
std::unique_ptr<Sink> create_hdf5_chunked_sink(const SinkContext& context);

}  // namespace tailrace::output
