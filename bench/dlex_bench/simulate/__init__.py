# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulates how each policy would play a film, from a recorded run, and compares it with a clairvoyant player."""
