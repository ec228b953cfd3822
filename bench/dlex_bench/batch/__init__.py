# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many jobs: run one at a time, kept as they end, gone on with after any interruption, united from several machines."""
