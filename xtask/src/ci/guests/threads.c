/* Prints where each thread of an OpenMP team may run: "thread LIST", one line each. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(void) {
#pragma omp parallel
    {
        static const char key[] = "Cpus_allowed_list:";
        char line[4096] = "";
        FILE *status = fopen("/proc/thread-self/status", "r");
        while (status && fgets(line, sizeof line, status) && strncmp(line, key, sizeof key - 1)) {
        }
        if (status) {
            fclose(status);
        }
#pragma omp critical
        printf("%d %s", omp_get_thread_num(), line + sizeof key);
    }
    return 0;
}
