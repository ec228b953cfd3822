# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the laxity of a program that calls the scheduler itself, as in seed 004, section 5."""
