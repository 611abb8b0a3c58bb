# Runs in a guest, where any failure ends it; `few` names a folder of its cgroups. Writes what oxmpi and
# hwloc print about the machine to /out/NAME.oxmpi and /out/NAME.hwloc.

# picture NAME [OPTION]: the picture that each of the two prints.
picture() {
    name=$1
    shift
    oxmpi topo --source linux "$@" > "/out/$name.oxmpi"
    # hwloc also prints memory modules, which it reads from the firmware.
    lstopo-no-graphics --filter misc:none "$@" > "/out/$name.hwloc"
}

picture whole
picture distances --distances

oxmpi topo --source cpuid > /out/cpuid.oxmpi
HWLOC_COMPONENTS=x86,stop lstopo-no-graphics > /out/cpuid.hwloc
for source in linux cpuid; do
    oxmpi topo --source $source --format json > "/out/$source.json"
done

mkdir "$few"
echo 2-4,6-9 > "$few/cpuset.cpus"
echo 0-1 > "$few/cpuset.mems"
(
    echo 0 > "$few/cgroup.procs"
    picture few
    picture disallowed --disallowed
)

# Files that describe the machine, shown by both.
oxmpi topo --source linux --format xml > /out/whole.xml
lstopo-no-graphics --input /out/whole.xml > /out/xml.oxmpi
oxmpi topo --record /out/record
oxmpi topo --input /out/record > /out/record.oxmpi
