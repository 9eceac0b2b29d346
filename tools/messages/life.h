// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// After MPI has begun: counts from here, if this library was built with the MPI that the program has.
void life_begin(void);

// Before MPI ends: writes what was counted.
void life_end(void);
