# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measuring the player beside other load, and telling what came out."""
