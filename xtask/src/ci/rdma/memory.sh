# In two guests, after over_both.sh, on node 0: the memory that each of 16 ranks registers, beside what `explain memory` foretells.

export OXMPI_TRANSPORTS=^tcp,sm OXMPI_VERBS_RAILS=1

# pinned: the most bytes that the device has of one process here.
pinned() { sed -n 's/^VmPin:[^0-9]*\([0-9]*\) kB/\1/p' /proc/[0-9]*/status 2> /dev/null | sort -n | tail -n 1; }

"$oxmpi" explain memory -n 16 > /tmp/foretold
# The sum without queues of completions, which are the kernel's with this device.
bytes=$(awk '/^(shared r|r)eceive queues|^eager rings/ { sub(/^[a-z ]*  +/, ""); sum += $1 } END { print sum }' /tmp/foretold)
over 16 "$oxmpi" bench Alltoall -npmin 16 -iter 50 -iter_policy off -msglog 0:8 > /tmp/said 2>&1 &
job=$!
most=0
while kill -0 "$job" 2> /dev/null; do
    now=$(pinned)
    [ "$((${now:-0} * 1024))" -le "$most" ] || most=$((now * 1024))
    usleep 200000
done
wait "$job"
verdict "16 ranks that all exchange messages" $?
echo "a rank registers $most bytes, $bytes are foretold"
[ "$((most * 100))" -ge "$((bytes * 95))" ] && [ "$((most * 100))" -le "$((bytes * 105))" ]
verdict "a rank registers what is foretold, within 5%" $?
[ "$failures" = 0 ] || tail -n 20 /tmp/said /tmp/foretold
