# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the player beside other load and reports the results."""
