# In two guests: a process in each plays ping-pong with the other one, ours and rdma-core's.

for program in "$ours" "$theirs"; do
    name=${program%% *}
    if [ "$node" = 0 ]; then
        timeout 300 $program > /tmp/said 2>&1 &
        server=$!
        soon listens
        # Answers the other guest, which waits for this program.
        timeout 300 nc -l -p 99 < /dev/null > /dev/null
        wait "$server"
    else
        soon nc -w 10 10.9.0.10 99
        timeout 240 $program 10.9.0.10 > /tmp/said 2>&1
    fi
    verdict "$name between two guests, node $node" $?
    tail -n 2 /tmp/said
done

# A second rail, for jobs that ask for it.
echo 0 > /proc/sys/net/ipv6/conf/eth1/accept_dad
./ip link set eth1 mtu 4500 up
./ip addr add "10.10.0.1$node/24" dev eth1
rdma link add rxe1 type rxe netdev eth1 || exit 1
soon grep -q ffff "/sys/class/infiniband/rxe1/ports/1/gids/$gid"
verdict "a second device, node $node" $?
