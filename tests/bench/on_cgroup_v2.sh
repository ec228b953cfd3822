#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a command in this tree on another Debian in a virtual machine, where systemd has mounted only version 2 of the
# control groups. Use it if your own machine has version 1. It is not part of the test suite: it takes minutes to make the
# virtual machine (once), and minutes to start it without KVM.
#
#   on_cgroup_v2.sh [-r RELEASE] [-k] [-n CPUS] [COMMAND [ARG ...]]     as root
#     -r  Debian's release (default bookworm)     -k  with KVM (default: emulated, which works everywhere)
#     -n  how many CPUs (default 2)               COMMAND: default the tests of bench/dlex_bench/machine
# It needs debootstrap, e2fsprogs and qemu-system-x86. Exit status: the command's; 70 if the command did not finish.
set -euo pipefail

release=bookworm accel=(-accel tcg -cpu Nehalem) cpus=2
while getopts r:kn: option; do
    case $option in
        r) release=$OPTARG ;;
        k) accel=(-accel kvm -cpu host) ;;
        n) cpus=$OPTARG ;;
        *) exit 64 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- env PYTHONPATH=bench PYTHONDONTWRITEBYTECODE=1 python3 tests/bench/test_bench_machine.py -v

tree=$(cd "$(dirname "$0")/../.." && pwd)
root=$tree
. "$tree/patches/cache.sh"
machine=$cache/cgroup-v2-$release
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT

# The virtual machine shares two folders: the tree, read-only, and the folder with the command, which receives its status.
write_services() {
    local root=$1 unit
    cat >"$root/root/run" <<'RUN'
mkdir -p /project /command
mount -t 9p -o trans=virtio,version=9p2000.L,ro project /project
mount -t 9p -o trans=virtio,version=9p2000.L command /command
cd /project && bash /command/line >/dev/ttyS0 2>&1 </dev/null
echo $? >/command/status
systemctl poweroff --force
RUN
    printf '[Service]\nExecStart=/bin/bash /root/run\n[Install]\nWantedBy=multi-user.target\n' \
        >"$root/etc/systemd/system/run.service"
    ln -s ../run.service "$root/etc/systemd/system/multi-user.target.wants/run.service"
    # Under emulation, the search for hardware that is not needed takes a minute. A login would hang up our terminal.
    for unit in serial-getty@ttyS0 systemd-udev-trigger; do
        ln -s /dev/null "$root/etc/systemd/system/$unit.service"
    done
}

make_machine() {
    local root=$scratch/root
    mkdir -p "$root" "$cache"
    [ -d "$machine" ] || { mkdir "$machine" && mark "$machine"; }
    debootstrap --variant=minbase --include=linux-image-amd64,systemd-sysv,udev,dbus,python3 "$release" "$root" \
        >"$machine/debootstrap.log"
    : >"$root/etc/fstab"
    write_services "$root"
    cp "$root"/boot/vmlinuz-* "$machine/kernel"
    cp "$root"/boot/initrd.img-* "$machine/initrd"
    truncate -s 3G "$machine/disk.new"
    mke2fs -q -t ext4 -d "$root" "$machine/disk.new"
    mv "$machine/disk.new" "$machine/disk"
}

[ -s "$machine/disk" ] || make_machine
mkdir "$scratch/command"
printf '%q ' "$@" >"$scratch/command/line"
qemu-system-x86_64 "${accel[@]}" -M q35 -smp "$cpus" -m 2G -display none -nodefaults -no-reboot -serial stdio </dev/null \
    -kernel "$machine/kernel" -initrd "$machine/initrd" \
    -append "root=/dev/vda rw console=ttyS0 quiet loglevel=3 systemd.show_status=0" \
    -drive "file=$machine/disk,if=virtio,format=raw,snapshot=on" \
    -virtfs "local,path=$tree,mount_tag=project,security_model=none,readonly=on" \
    -virtfs "local,path=$scratch/command,mount_tag=command,security_model=none"
exit "$(cat "$scratch/command/status" || echo 70)"
