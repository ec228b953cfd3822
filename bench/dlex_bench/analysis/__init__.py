# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a result directory means: figures with intervals, ratios, points that dominate others, the paper's findings."""
