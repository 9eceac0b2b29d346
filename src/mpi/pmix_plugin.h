// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Has the plug-in through which Open MPI 4 speaks to PMIx, if it is loaded, stay in memory to the end of the
/// process. MPI_Finalize unloads it while Open MPI's progress thread may still have an event for it to
/// handle, and calls code that is gone: about one in a thousand processes on a busy machine ends by a
/// segmentation fault then, whatever it has computed. @local
void tailrace_keep_pmix_plugin(void);

#ifdef __cplusplus
}
#endif
