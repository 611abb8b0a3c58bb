/* Memory of a rank after MPI_Init, before any message.
 *
 * One line from each rank, in bytes: RssAnon and RssShmem of /proc/self/status, and of /proc/self/maps
 * each mapping that is shared and may be written, as a file's device and number, with the first
 * byte and the one after the last.
 */
#include "blocks.h"
#include <string.h>

/* A value in kB of /proc/self/status, as bytes. */
static long long status(const char *name) {
    char line[256];
    long long kilobytes = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)))
            kilobytes = atoll(line + strlen(name) + 1);
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

/* Writes the shared mappings as a JSON list. */
static void shared(FILE *to) {
    char line[4096], permissions[8], device[16];
    unsigned long long from, behind, first, inode;
    const char *comma = "";
    FILE *file = fopen("/proc/self/maps", "r");
    fprintf(to, "[");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%llx-%llx %7s %llx %15s %llu", &from, &behind, permissions, &first, device,
                   &inode) == 6 &&
            permissions[3] == 's' && permissions[1] == 'w') {
            fprintf(to, "%s[\"%s %llu\",%llu,%llu]", comma, device, inode, first,
                    first + behind - from);
            comma = ",";
        }
    fprintf(to, "]");
    if (file)
        fclose(file);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    long long private = status("RssAnon"), touched = status("RssShmem");
    static char text[1 << 20]; /* one write, so that lines of several ranks do not mix */
    FILE *line = fmemopen(text, sizeof text, "w");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fprintf(line, "{\"kernel\":\"memory\",\"ranks\":%d,\"rank\":%d,\"private\":%lld,\"touched\":%lld,"
                  "\"shared\":", size, rank, private, touched);
    shared(line);
    fprintf(line, "}\n");
    fclose(line);
    fputs(text, stdout);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
