# SPDX-License-Identifier: LGPL-2.1-or-later
"""What surrounds a measurement: screen and sound server, the players, and the load beside them."""
