# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how late violations are noticed (`./dlex bench latency`)."""
