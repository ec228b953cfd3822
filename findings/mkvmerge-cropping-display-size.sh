#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Matroska's DisplayWidth and DisplayHeight "apply to the video frame after cropping" (RFC 9559). mkvmerge --cropping writes the size
# of the picture before cropping there. A player that follows the specification stretches what is left: 80x50 of 160x90 samples are
# shown with an aspect of 160:90, so a circle becomes an ellipse.
# Needs Debian 12's ffmpeg, and fetches Debian 12's mkvtoolnix in the version below with the libraries that are missing into a
# temporary folder. Exits with 1 if the behaviour is another one.
set -eu

wanted=74.0.0-1+deb12u1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fetch() { apt-get -qq -o APT::Sandbox::User=root download "$1" && dpkg-deb -x "${1%%=*}"_*.deb root && rm "${1%%=*}"_*.deb; }
fetch "mkvtoolnix=$wanted"
for package in libboost-filesystem1.74.0 libdvdread8 libebml5 libflac12 libfmt9 libmatroska7 libogg0 libpugixml1v5 libqt5core5a \
    libvorbis0a libdouble-conversion3 libicu72 libpcre2-16-0; do
    fetch "$package"
done
LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so.*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
root/usr/bin/mkvmerge --version

ffmpeg -v error -f lavfi -i testsrc2=s=160x90:r=25:d=0.2 -c:v libx264 film.mkv
root/usr/bin/mkvmerge --quiet --cropping 0:40,20,40,20 -o cropped.mkv film.mkv

# element ID: prints the whole number in the first element with this ID (in hex), whose size is one byte
element() {
    python3 - "$1" <<'END'
import sys
file, name = open("cropped.mkv", "rb").read(), bytes.fromhex(sys.argv[1])
place = file.index(name, file.index(b"V_MPEG4")) + len(name)
print(int.from_bytes(file[place + 1 : place + 1 + (file[place] & 0x7F)], "big"))
END
}
crop=$(element 54cc),$(element 54bb),$(element 54dd),$(element 54aa)
display=$(element 54b0)x$(element 54ba)
echo "cropping (left, top, right, bottom): $crop; size of the display: $display"
[ "$crop $display" = "40,20,40,20 160x90" ]
