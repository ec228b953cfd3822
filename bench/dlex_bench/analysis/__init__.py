# SPDX-License-Identifier: LGPL-2.1-or-later
"""Interprets a folder of results: figures with intervals, ratios, points that dominate others, the paper's findings."""
