# In one guest, after device.sh: messages between two processes by its device. Each line `figure: WHO WHAT BYTES NS` is one
# measurement, in nanoseconds of one message.

echo 'root:x:0:0::/tmp:/bin/sh' > /etc/passwd
hostname node
printf '127.0.0.1 localhost\n%s node\n' "$address" > /etc/hosts
echo 'hosts: files' > /etc/nsswitch.conf
export PATH=/usr/bin:$PATH
export HOME=/tmp OXMPI_TRANSPORTS=^tcp,sm

# lines WHO: the lines of our benchmarks as figures.
lines() {
    sed -n "s/.*\"kernel\":\"\([a-z]*\)\".*\"bytes\":\([0-9]*\).*\"median_ns\":\([0-9.]*\).*\"right\":true.*/figure: $1 \1 \2 \3/p" \
        /tmp/said
}

# perftest COMMAND: starts both sides of a program of perftest, and leaves what the client says in /tmp/said.
perftest() {
    timeout 240 $1 > /tmp/server 2>&1 &
    server=$!
    soon listens
    timeout 240 $1 "$address" > /tmp/said 2>&1
    status=$?
    wait "$server"
    return "$status"
}

ours() { timeout 240 "$oxmpi" run -n 2 --oversubscribe "$@"; }
open_mpi() {
    # There is no ssh here, and no other node to start on.
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 240 orterun --mca plm isolated -n 2 --oversubscribe "$@"
}
# By libfabric: Debian's openib has no rdmacm, without which it connects no RoCE, and UCX connects by datagrams, which end in
# a timeout between two processes of one soft-RoCE device. The completion queue for more processes is too long for it.
ofi() {
    open_mpi --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' -x FI_VERBS_IFACE=eth0 \
        -x FI_UNIVERSE_SIZE=2 "$@"
}

# measure WHO COMMAND...: runs one of our benchmarks.
measure() {
    who=$1
    shift
    "$@" > /tmp/said 2>&1
    status=$?
    lines "$who"
    if [ "$status" != 0 ]; then
        echo "$who failed with status $status"
        tail -n 10 /tmp/said
    fi
}

common="-d rxe0 -x $gid -F -p 18515"
round=0
while [ "$round" -lt "$rounds" ]; do
    perftest "ib_write_lat $common -s 8 -n 1000"
    awk '$1 == 8 && NF > 5 { print "figure: perftest pingpong 8", $5 * 1000 }' /tmp/said
    measure ours ours ./ours_pingpong 8 1024 65536 1048576
    measure ofi ofi ./theirs_pingpong 8 1024 65536 1048576
    perftest "ib_write_bw $common -s 1048576 -t 16 -n 200"
    awk '$1 == 1048576 { print "figure: perftest rate 1048576", 1e9 / $4 }' /tmp/said
    measure ours ours ./ours_rate 1048576
    round=$((round + 1))
done
