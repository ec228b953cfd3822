# SPDX-License-Identifier: LGPL-2.1-or-later
"""`./dlex bench latency`: how late violations are noticed."""
