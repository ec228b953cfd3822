# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines what is to be played: an agenda (YAML, in the form of ARM's Workload Automation) and its jobs."""
