# Runs in a guest, which gets a soft-RoCE device, rxe0, on one end of a pair of virtual adapters. `modules` names
# the kernel modules in load order. Each check prints a line, `passed: NAME` or `failed: NAME` with the reason.

set -u
for module in $modules; do
    insmod "$module.ko" || exit 1
done
# Busybox's shell has commands of its own by the name `ip`, which cannot make such a pair.
./ip link set lo up
./ip link add eth0 type veth peer name eth1
for adapter in eth0 eth1; do
    # Without this the device waits for the check that its IPv6 address is no one else's.
    echo 0 > "/proc/sys/net/ipv6/conf/$adapter/accept_dad"
    # The longest packet of RoCE is 4096 bytes and its headers.
    ./ip link set "$adapter" mtu 4500 up
done
./ip addr add 10.9.0.1/24 dev eth0
rdma link add rxe0 type rxe netdev eth0 || exit 1

# soon COMMAND...: waits for what the kernel does meanwhile, at most 20 s.
soon() {
    left=200
    until "$@" > /dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 1
        usleep 100000
    done
}
# The GID that an IPv4 address gives, by which both sides find each other.
gid=1
soon grep -q ffff "/sys/class/infiniband/rxe0/ports/1/gids/$gid" || { echo "failed: a GID"; exit 1; }
echo "the device is up after $(cut -d' ' -f1 /proc/uptime) s"

failures=0
verdict() {
    if [ "$2" = 0 ]; then
        echo "passed: $1"
    else
        echo "failed: $1 (status $2)"
        failures=$((failures + 1))
    fi
}

# Both programs listen on this port: 18515.
listens() { grep -q ':4853 [0-9A-F:]* 0A' /proc/net/tcp /proc/net/tcp6; }

# pair NAME SERVER CLIENT: runs two processes that talk to each other.
pair() {
    timeout 60 sh -c "exec $2" > /tmp/server 2>&1 &
    server=$!
    soon listens
    timeout 60 sh -c "exec $3" > /tmp/client 2>&1
    verdict "$1, the client" $?
    wait "$server"
    verdict "$1, the server" $?
    tail -n 2 /tmp/client
    [ "$failures" = 0 ] || cat /tmp/server
}

for round in 1 2 3; do
    pair "pingpong $round" "pingpong rxe0 $gid" "pingpong rxe0 $gid 10.9.0.1"
    options="-d rxe0 -g $gid -s 4096 -n 200 -m 4096 -e"
    pair "ibv_rc_pingpong $round" "ibv_rc_pingpong $options" "ibv_rc_pingpong $options 10.9.0.1"
done
OXMPI_TEST_RDMA="rxe0 $gid" timeout 100 integration --test-threads=1 device::
verdict "tests on the device, their status" $?
exit "$failures"
