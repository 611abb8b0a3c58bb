# In two guests, after over_both.sh, on node 0: jobs of real ranks. No rank shares memory with another one, and TCP carries
# no message: a job whose ranks are not connected by verbs fails. `groups` are the tests to run.

packets() { cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts; }

export OXMPI_TRANSPORTS=^tcp,sm OXMPI_VERBS_RAILS=1
export OXMPI_TEST_HOSTS="2 $wrap" OXMPI_TEST_WATCHDOG=1200 OXMPI_TEST_MOST_RANKS=$most_ranks
before=$(packets)
timeout "$limit" ranks --test-threads=1 $groups --skip collectives::kill
verdict "tests of real ranks over verbs, their status" $?
after=$(packets)
echo "packets of the device during the tests: $((after - before))"
[ "$((after - before))" -gt 1000 ]
verdict "the messages have taken the device" $?

over 2 "$oxmpi" bench PingPong -check -iter 4 -iter_policy off -msglog 0:22 > /tmp/said 2>&1
verdict "PingPong of 0 B to 4 MiB with data check" $?
grep -v '^#' /tmp/said | tail -n 30
grep '# Data' /tmp/said

OXMPI_VERBS_CONNECTION=rdmacm over 2 "$oxmpi" bench PingPong -check -iter 4 -iter_policy off -msglog 0:16 > /tmp/said 2>&1
verdict "PingPong of 0 B to 64 KiB, connected by rdmacm, with data check" $?
[ "$failures" = 0 ] || tail -n 30 /tmp/said

# Two rails, to which the peers of a rank are dealt in turn. One fails while both carry messages.
sent() { cat "/sys/class/net/$1/statistics/tx_bytes"; }
carries() { [ "$(sent "$1")" -gt "$2" ]; }
[ "$(sent eth1)" -lt 50000 ]
verdict "jobs of one rail leave the second one alone" $?
export OXMPI_VERBS_RAILS=2
until=$(($(sent eth0) + 2000000))
also=$(($(sent eth1) + 2000000))
over 2 "$oxmpi" bench PingPong -check -iter 4 -iter_policy off -msglog 22:22 > /tmp/said 2>&1
verdict "PingPong of 4 MiB by two devices with data check" $?
tail -n 5 /tmp/said
carries eth0 "$until" && carries eth1 "$also"
verdict "both devices carry a long message" $?
until=$(($(sent eth0) + 100000))
also=$(($(sent eth1) + 100000))
over 4 "$oxmpi" bench Alltoall -check -iter 100 -iter_policy off -msglog 10:14 > /tmp/said 2>&1 &
job=$!
soon carries eth0 "$until" && soon carries eth1 "$also"
verdict "both rails carry messages" $?
there ip link set eth1 down
kill -0 "$job"
verdict "a rail fails while messages are in flight" $?
before=$(sent eth0)
wait "$job"
verdict "Alltoall of 4 ranks with data check, one of whose rails has failed" $?
carries eth0 $((before + 300000))
verdict "the messages have taken the other rail" $?
tail -n 25 /tmp/said
