// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "output/core/sink.hpp"

namespace tailrace::output {

// The sinks; registry.cpp gives them their names. @collective{context.comm}
std::unique_ptr<Sink> create_hdf5_sink(const SinkContext& context);
/// As `create_hdf5_sink`, with each sample in a file of its own.
std::unique_ptr<Sink> create_split_sink(const SinkContext& context);
std::unique_ptr<Sink> create_hdf5_chunked_sink(const SinkContext& context);
std::unique_ptr<Sink> create_mpiio_sink(const SinkContext& context);
std::unique_ptr<Sink> create_hdf5_parallel_sink(const SinkContext& context);
std::unique_ptr<Sink> create_rsf_sink(const SinkContext& context);
std::unique_ptr<Sink> create_pnetcdf_sink(const SinkContext& context);
std::unique_ptr<Sink> create_adios_sink(const SinkContext& context);

}  // namespace tailrace::output
