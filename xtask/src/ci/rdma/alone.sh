# In one guest: two processes play ping-pong over its device, ours and rdma-core's by turns; then our tests, but those
# that `skipped` says.

# pair NAME COMMAND: runs two processes that talk to each other.
pair() {
    timeout 240 $2 > /tmp/server 2>&1 &
    server=$!
    soon listens
    timeout 240 $2 "$address" > /tmp/client 2>&1
    verdict "$1, the client" $?
    wait "$server"
    verdict "$1, the server" $?
    tail -n 2 /tmp/client
    [ "$failures" = 0 ] || cat /tmp/server
}

for round in 1 2 3; do
    pair "verbs_pingpong $round" "$ours"
    pair "ibv_rc_pingpong $round" "$theirs"
done
OXMPI_TEST_RDMA="rxe0 $gid" timeout 1000 verbs --test-threads=1 device:: $skipped
verdict "tests on the device, their status" $?
# Root may lock all memory, and another user what its limit says.
ulimit -l 256
OXMPI_TEST_RDMA="rxe0 $gid" OXMPI_TEST_MEMLOCK=1 timeout 240 ./setpriv --reuid 65534 --regid 65534 --clear-groups \
    verbs --test-threads=1 beyond_the_limit
verdict "a test under a limit of locked memory, its status" $?
exit "$failures"
