# In two guests, after over_both.sh, on node 0: jobs whose messages are forced on each path.

export OXMPI_TRANSPORTS=^tcp,sm OXMPI_VERBS_RAILS=1

# path NAME SETTING...: two ranks exchange messages of 0 B to 1 MiB, both at a time, with these settings.
path() {
    name=$1
    shift
    (
        export "$@"
        over 2 "$oxmpi" bench Sendrecv -check -iter 8 -iter_policy off -msglog 0:20
    ) > /tmp/said 2>&1
    verdict "messages with data check by $name" $?
    grep '# Data' /tmp/said || tail -n 20 /tmp/said
}

path "receive queues, nothing inline" OXMPI_VERBS_INLINE=0 OXMPI_VERBS_RINGS=off
path "receive queues, inline" OXMPI_VERBS_INLINE=256 OXMPI_VERBS_RINGS=off
path "queues of each peer" OXMPI_VERBS_RECEIVE_QUEUES=P,128,8,4,2,4:P,65536,8,4,2,4 OXMPI_VERBS_RINGS=off
path "queues of all peers" OXMPI_VERBS_RECEIVE_QUEUES=S,128,64,32,8:S,65536,64,32,8 OXMPI_VERBS_RINGS=off
path "eager rings" OXMPI_VERBS_RINGS=on OXMPI_VERBS_RING_THRESHOLD=1
path "eager rings, nothing inline" OXMPI_VERBS_RINGS=on OXMPI_VERBS_RING_THRESHOLD=1 OXMPI_VERBS_INLINE=0
path "frames alone" OXMPI_VERBS_TRANSFERS=send
path "reads" OXMPI_VERBS_TRANSFERS=get OXMPI_VERBS_MIN_RDMA=0
path "writes" OXMPI_VERBS_TRANSFERS=put OXMPI_VERBS_MIN_RDMA=0
path "writes of parts" OXMPI_VERBS_TRANSFERS=put OXMPI_VERBS_MIN_RDMA=0 OXMPI_VERBS_FRAGMENT=16KiB
path "pieces that are released" OXMPI_VERBS_LEAVE_PINNED=0 OXMPI_VERBS_FRAGMENT=64KiB OXMPI_VERBS_PIPELINE_LAST=4KiB
path "pieces that stay registered" OXMPI_VERBS_LEAVE_PINNED_PIPELINE=1 OXMPI_VERBS_FRAGMENT=64KiB \
    OXMPI_VERBS_PIPELINE_LAST=4KiB
