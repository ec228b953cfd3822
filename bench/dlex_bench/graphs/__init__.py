# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures when the processes of a graph start, as in seed 002, Tables 4 and 5, and while one of them is changed."""
