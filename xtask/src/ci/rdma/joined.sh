# In two guests: a process in each plays ping-pong with the other one, ours and rdma-core's.

for program in "$ours" "$theirs"; do
    name=${program%% *}
    if [ "$node" = 0 ]; then
        timeout 100 $program > /tmp/said 2>&1 &
        server=$!
        soon listens
        # Answers the other guest, which waits for this program.
        timeout 100 nc -l -p 99 < /dev/null > /dev/null
        wait "$server"
    else
        soon nc -w 1 10.9.0.10 99
        timeout 60 $program 10.9.0.10 > /tmp/said 2>&1
    fi
    verdict "$name between two guests, node $node" $?
    tail -n 2 /tmp/said
done
