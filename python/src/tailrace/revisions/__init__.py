# SPDX-License-Identifier: BSD-3-Clause
"""Whether a revision made something slower: builds revisions of any git repository, runs a test of each of
them in interleaved rounds, and compares its numbers.
"""
