# SPDX-License-Identifier: LGPL-2.1-or-later
"""`./dlex demo`: the drop policies side by side on one busy CPU, without privileges."""
