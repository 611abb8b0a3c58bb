# In one guest: two processes play ping-pong over its device, ours and rdma-core's by turns; then our tests.

# pair NAME COMMAND: runs two processes that talk to each other.
pair() {
    timeout 60 $2 > /tmp/server 2>&1 &
    server=$!
    soon listens
    timeout 60 $2 "$address" > /tmp/client 2>&1
    verdict "$1, the client" $?
    wait "$server"
    verdict "$1, the server" $?
    tail -n 2 /tmp/client
    [ "$failures" = 0 ] || cat /tmp/server
}

for round in 1 2 3; do
    pair "pingpong $round" "$ours"
    pair "ibv_rc_pingpong $round" "$theirs"
done
OXMPI_TEST_RDMA="rxe0 $gid" timeout 100 integration --test-threads=1 device::
verdict "tests on the device, their status" $?
exit "$failures"
