# In two guests, after joined.sh: what jobs over both need. Node 0 goes on, and starts them; the other one serves it until
# it is done.

hostname "node$node"
setsid remote_exec serve 98 &
if [ "$node" -gt 0 ]; then
    until [ -e /tmp/done ]; do usleep 200000; done
    exit "$failures"
fi

# there COMMAND...: runs a command in the other guest.
there() { timeout 60 remote_exec 10.9.0.11:98 "$@"; }
soon there true
wrap="remote_exec 10.9.0.1{node}:98"
# over N PROGRAM...: runs N ranks, by turns on both guests.
over() {
    count=$1
    shift
    timeout 240 "$oxmpi" run -n "$count" --oversubscribe -ppn 1 -hosts 0,1 --wrap "$wrap" "$@"
}
"$oxmpi" explain transports > /tmp/said
grep -q '^verbs *yes' /tmp/said
verdict "explain transports says that verbs is used" $?
cat /tmp/said
