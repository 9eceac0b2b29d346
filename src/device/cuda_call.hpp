// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

namespace tailrace::device {

/// Throws what a call of CUDA's runtime answered, unless it succeeded. Errors (resource). @local
/// @param doing  what the call is for, as "allocating 3 MB"
void check_cuda(cudaError_t answer, const char* doing);

}  // namespace tailrace::device
