# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how long threads wait for the CPU after a wake-up (seed 001)."""
