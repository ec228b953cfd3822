# SPDX-License-Identifier: LGPL-2.1-or-later
"""What runs beside the player: rt-app's tasks (seed 000, section 8) or stress's (section 7)."""
