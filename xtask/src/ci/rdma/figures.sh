# In one guest, after device.sh: messages between two processes by its device. Each line `figure: WHO WHAT BYTES NS` is one
# measurement, in nanoseconds of one message.

echo 'root:x:0:0::/tmp:/bin/sh' > /etc/passwd
hostname node
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
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 240 orterun -n 2 --oversubscribe "$@"
}
openib() {
    open_mpi --mca pml ob1 --mca btl openib,self --mca btl_openib_allow_ib 1 --mca btl_openib_if_include rxe0 "$@"
}
ucx() { open_mpi --mca pml ucx -x UCX_TLS=rc_verbs,self -x UCX_NET_DEVICES=rxe0:1 "$@"; }

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
    measure openib openib ./theirs_pingpong 8 1024 65536 1048576
    measure ucx ucx ./theirs_pingpong 8 1024 65536 1048576
    perftest "ib_write_bw $common -s 1048576 -t 16 -n 200"
    awk '$1 == 1048576 { print "figure: perftest rate 1048576", 1e9 / $4 }' /tmp/said
    measure ours ours ./ours_rate 1048576
    round=$((round + 1))
done
