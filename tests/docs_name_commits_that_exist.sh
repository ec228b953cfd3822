#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each commit that the documents name (7 to 40 hexadecimal digits, at least one letter and one figure) exists in this repository.
# Skipped outside a clone with its whole history.
cd "$(dirname "$0")/.." || exit 1
[ "$(git -c safe.directory='*' rev-parse --is-shallow-repository 2>/dev/null)" = false ] || { echo 'no clone with all commits'; exit 77; }
failures=0
names=$(find . -name '*.md' -not -path './build/*' -not -path './subprojects/*' -exec grep -hoE '\b[0-9a-f]{7,40}\b' {} + |
    grep '[a-f]' | grep '[0-9]' | sort -u)
for name in $names; do
    git -c safe.directory='*' cat-file -e "$name^{commit}" 2>/dev/null && continue
    echo "there is no commit $name, which a document names:"
    grep -rn --include='*.md' "$name" docs ./*.md ./*/*.md
    failures=1
done
exit $failures
