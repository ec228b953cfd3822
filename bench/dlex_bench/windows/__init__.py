# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays films under DWCS and under the kernel's own policies, as in seed 001, Figures 5 to 8."""
