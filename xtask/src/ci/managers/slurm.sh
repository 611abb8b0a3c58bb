# Starts munged, slurmctld and two slurmd, which end with this shell.
# Arguments: the root of Debian's packages, the folder for everything that is written.
set -eu
mount -t overlay overlay -o "lowerdir=$1/usr:/usr" /usr
cd "$2"
mkdir -p state spool-n0 spool-n1 tmp-n0 tmp-n1
dd if=/dev/urandom of=munge.key bs=64 count=1 status=none
chmod 600 munge.key
munged --foreground --force --num-threads=2 --key-file="$2/munge.key" --socket="$2/munge.socket" \
    --pid-file="$2/munge.pid" --log-file="$2/munge.log" --seed-file="$2/munge.seed" &
until [ -S munge.socket ]; do sleep 0.05; done
slurmctld-wlm -D -c &
for node in n0 n1; do
    slurmd-wlm -D -N $node -d /usr/sbin/slurmstepd-wlm &
done
wait
