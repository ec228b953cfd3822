# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs many jobs one at a time, keeps each result as its job ends, resumes after any interruption, and merges the
results of several machines.
"""
