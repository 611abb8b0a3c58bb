# Runs in each of several guests, the nodes of a job: `node` is its number from 0 on, `nodes` their number.
# Messages take eth0, a network that loses and delays packets; over eth1, which does neither, node 0 starts
# programs on the others. `tests` is the command that node 0 then runs.

set -u
insmod e1000.ko
insmod sch_netem.ko
hostname "node$node"
ip link set lo up
for network in 0 1; do
    ip addr add "10.9.$network.1$node/24" dev "eth$network"
    ip link set "eth$network" up
done
./tc qdisc add dev eth0 root netem loss 1% delay 5ms || exit 1
setsid remote_exec serve 99 &

if [ "$node" -gt 0 ]; then
    while [ ! -e /tmp/done ]; do sleep 1; done
    exit 0
fi

for other in $(seq $((nodes - 1))); do
    until remote_exec "10.9.1.1$other:99" true 2>/dev/null; do sleep 1; done
done
echo "all nodes are up after $(cut -d' ' -f1 /proc/uptime) s"
export OXMPI_TCP_INCLUDE=eth0
export OXMPI_TEST_WATCHDOG=1200
export OXMPI_TEST_HOSTS="$nodes remote_exec 10.9.1.1{node}:99"
tests
status=$?
echo "the tests ended after $(cut -d' ' -f1 /proc/uptime) s"
./tc -s qdisc show dev eth0
for other in $(seq $((nodes - 1))); do
    remote_exec "10.9.1.1$other:99" touch /tmp/done
done
exit $status
