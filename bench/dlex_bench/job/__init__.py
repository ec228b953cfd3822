# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one job of a batch: the player under its policy and beside its load, observed from outside or by itself."""
