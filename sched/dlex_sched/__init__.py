# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of `dlex sched`. They use the laboratory's parser, errors and tables (bench/dlex_bench)."""
