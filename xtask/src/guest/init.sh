#!/bin/busybox sh
# Process 1 of a guest: runs /job/run, then sends its status and what it left in /out through the
# second serial port, as a compressed tar, and ends the guest. The status comes last: when it
# arrived, all arrived.
export PATH=/job:/bin
/bin/busybox mount -t devtmpfs dev /dev 2>/dev/null
exec </dev/null >/dev/console 2>&1
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
# What the job consists of may lie there: its files have the paths that they have on the host.
[ -n "$(ls -A /tmp)" ] || mount -t tmpfs tmpfs /tmp
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
stty -F /dev/console -onlcr
echo "guest: kernel $(uname -r), $(nproc) processors, up after $(cut -d' ' -f1 /proc/uptime) s"
cd /job
sh ./run
echo $? > /status
echo "guest: the job ended with status $(cat /status) after $(cut -d' ' -f1 /proc/uptime) s"
stty -F /dev/ttyS1 raw
tar -c -C / out status | gzip > /dev/ttyS1
# A kernel with panic=-1 and a QEMU with -no-reboot: restarting is the quickest way to the end.
reboot -f
