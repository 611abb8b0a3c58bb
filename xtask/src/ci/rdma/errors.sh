# In two guests, after ranks.sh, on node 0: jobs that verbs cannot connect.

# Each rank says why, and the job ends, if no other transport is allowed.
export OXMPI_TRANSPORTS=^tcp,sm
OXMPI_VERBS_GID_INDEX=200 over 2 "$oxmpi" bench PingPong > /tmp/said 2>&1
[ $? != 0 ] && grep -q 'no address (GID) 200, which verbs_gid_index names' /tmp/said
verdict "a GID index that no port has is an error" $?
[ "$failures" = 0 ] || tail -n 20 /tmp/said

# Where a node has no device, its ranks use TCP, and say so, as verbs was asked for.
there rdma link del rxe0
export OXMPI_TRANSPORTS=verbs
over 2 "$oxmpi" bench PingPong -check -iter 5 -iter_policy off -msglog 0:14 > /tmp/said 2>&1
verdict "PingPong with a node that has no device" $?
grep -q 'verbs does not reach rank 1 on node1' /tmp/said
verdict "a warning names the node without a device" $?
[ "$failures" = 0 ] || tail -n 40 /tmp/said
OXMPI_TRANSPORTS=^tcp,sm over 2 "$oxmpi" bench PingPong > /tmp/said 2>&1
[ $? != 0 ]
verdict "a job that excludes tcp needs a device on each node" $?
grep -m 2 'RDMA\|transport' /tmp/said

there touch /tmp/done
exit "$failures"
