# Runs first in each guest: makes a device of the kind `kind`, rxe0 (soft-RoCE) or siw0 (soft-iWARP). `modules` names the
# kernel modules in load order; `node` is the number of this guest on a common network, and empty in a guest of its own. Each check prints a line,
# `passed: NAME` or `failed: NAME` with the reason.

set -u
for module in $modules; do
    insmod "$module.ko" || exit 1
done
# Busybox's shell has a command of its own by the name `ip`, which lacks what is needed here.
./ip link set lo up
if [ -z "$node" ]; then
    ./ip link add eth0 type veth peer name eth1
    ./ip link set eth1 mtu 4500 up
    address=10.9.0.1
else
    insmod e1000.ko || exit 1
    address=10.9.0.1$node
fi
# Without this the device waits for the check that its IPv6 address is no one else's.
echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad
# The longest packet of RoCE is 4096 bytes and its headers.
./ip link set eth0 mtu 4500 up
./ip addr add "$address/24" dev eth0
# soon COMMAND...: waits for what another program or the kernel does meanwhile, at most five minutes. A busy host makes a
# guest twenty times slower.
soon() {
    left=3000
    until "$@" > /dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 1
        usleep 100000
    done
}

# Soft-iWARP learns of the link before its device is made only.
soon grep -q 1 /sys/class/net/eth0/carrier
# It counts the limit for root, too.
[ "$kind" = rxe ] || ulimit -l unlimited
rdma link add "${kind}0" type "$kind" netdev eth0 || exit 1

# The GID that an IPv4 address gives, by which both sides find each other; soft-iWARP has none.
gid=1
if [ "$kind" = rxe ]; then
    soon grep -q ffff "/sys/class/infiniband/rxe0/ports/1/gids/$gid" || { echo "failed: a GID"; exit 1; }
fi
echo "the device is up after $(cut -d' ' -f1 /proc/uptime) s"

failures=0
# verdict NAME STATUS
verdict() {
    if [ "$2" = 0 ]; then
        echo "passed: $1 (after $(cut -d' ' -f1 /proc/uptime) s)"
    else
        echo "failed: $1 (status $2)"
        failures=$((failures + 1))
    fi
}

# Both ping-pong programs listen on this port: 18515.
listens() { grep -q ':4853 [0-9A-F:]* 0A' /proc/net/tcp /proc/net/tcp6; }

ours="verbs_pingpong rxe0 $gid"
theirs="ibv_rc_pingpong -d rxe0 -g $gid -s 4096 -n 200 -m 4096 -e"
