# SPDX-License-Identifier: BSD-3-Clause
"""Who sends how many messages of which size to whom, as the message profiler counted it.

The profiler (`tools/messages`) is a library in front of MPI that leaves a file per process; here those files
become sizes, classes, shares and a matrix.
"""
