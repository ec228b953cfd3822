# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well the picture rates of real players are found, as in seed 003, section V."""
