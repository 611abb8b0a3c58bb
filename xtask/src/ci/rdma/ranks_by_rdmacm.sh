# In several guests, after device.sh: jobs of real ranks over all, which node 0 starts and rdmacm connects. No rank
# shares memory with another one, and TCP carries no message. `groups` are the tests to run.

hostname "node$node"
setsid remote_exec serve 98 &
if [ "$node" -gt 0 ]; then
    until [ -e /tmp/done ]; do usleep 200000; done
    exit "$failures"
fi

wrap="remote_exec 10.9.0.1{node}:98"
hosts=0
other=1
while [ "$other" -lt "$nodes" ]; do
    soon timeout 60 remote_exec "10.9.0.1$other:98" true
    hosts=$hosts,$other
    other=$((other + 1))
done
export OXMPI_TEST_HOSTS="$nodes $wrap" OXMPI_TEST_WATCHDOG=1200
export OXMPI_TRANSPORTS=^tcp,sm OXMPI_VERBS_CONNECTION=rdmacm
timeout 240 "$oxmpi" run -n "$nodes" -ppn 1 -hosts "$hosts" --wrap "$wrap" \
    "$oxmpi" bench Allreduce -check -iter 4 -iter_policy off -msglog 0:20 > /tmp/said 2>&1
verdict "Allreduce of up to 1 MiB over $nodes guests with $kind, with data check" $?
tail -n 30 /tmp/said
timeout 240 "$oxmpi" run -n 2 -ppn 1 -hosts 0,1 --wrap "$wrap" \
    "$oxmpi" bench PingPong -check -iter 4 -iter_policy off -msglog 0:22 > /tmp/said 2>&1
verdict "PingPong of 0 B to 4 MiB with $kind, with data check" $?
tail -n 30 /tmp/said
timeout "$limit" ranks --test-threads=1 $groups --skip collectives::kill
verdict "tests of real ranks over $nodes guests with $kind, their status" $?

other=1
while [ "$other" -lt "$nodes" ]; do
    timeout 60 remote_exec "10.9.0.1$other:98" touch /tmp/done
    other=$((other + 1))
done
exit "$failures"
