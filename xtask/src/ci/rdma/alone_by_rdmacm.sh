# In one guest, after device.sh: our tests on a device whose connections rdmacm makes.

OXMPI_TEST_RDMA="${kind}0 $gid" timeout "$limit" verbs --test-threads=1 conformance::by_rdmacm
verdict "tests on $kind by rdmacm, their status" $?
exit "$failures"
