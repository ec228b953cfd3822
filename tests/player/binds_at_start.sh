#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Looks whether dlex-play looks all functions up at its start. When it does so at the first call instead, a jump out of the gate
# can leave the dynamic loader in the middle.
set -eu
if ! readelf --dynamic "$1" | grep -Eq 'BIND_NOW|FLAGS.*NOW'; then
    echo "$1 binds lazily; link it with -z now"
    exit 1
fi
