#!/bin/busybox sh
# Process 1 of a guest: runs /job/run, then sends its status and the content of /out through the second
# serial port, as a compressed tar, and ends the guest. The status is last, so its arrival proves that all
# arrived.
export PATH=/job:/bin
/bin/busybox mount -t devtmpfs dev /dev 2>/dev/null
exec </dev/null >/dev/console 2>&1
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
# The job's files with absolute paths lie in this folder.
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
# With panic=-1 and QEMU's -no-reboot, a restart is the fastest way to end.
reboot -f
