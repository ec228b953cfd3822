# SPDX-License-Identifier: LGPL-2.1-or-later
"""One job of a batch: the player under its policy, beside its load, seen from outside or by itself."""
