/* Asserts the facts about PMIx's types on which crates/core/src/boot/pmix/library.rs relies. */
#include <stddef.h>
#include <pmix.h>

_Static_assert(sizeof(pmix_proc_t) == 260 && _Alignof(pmix_proc_t) == 4, "pmix_proc_t");
_Static_assert(offsetof(pmix_proc_t, nspace) == 0, "pmix_proc_t.nspace");
_Static_assert(offsetof(pmix_proc_t, rank) == 256, "pmix_proc_t.rank");
_Static_assert(sizeof(pmix_value_t) == 32 && _Alignof(pmix_value_t) == 8, "pmix_value_t");
_Static_assert(sizeof(pmix_data_type_t) == 2, "pmix_data_type_t");
_Static_assert(offsetof(pmix_value_t, type) == 0, "pmix_value_t.type");
_Static_assert(offsetof(pmix_value_t, data) == 8, "pmix_value_t.data");
_Static_assert(sizeof(pmix_info_t) == 552 && _Alignof(pmix_info_t) == 8, "pmix_info_t");
_Static_assert(offsetof(pmix_info_t, key) == 0 && sizeof(pmix_key_t) == 512, "pmix_info_t.key");
_Static_assert(offsetof(pmix_info_t, flags) == 512 && sizeof(pmix_info_directives_t) == 4,
               "pmix_info_t.flags");
_Static_assert(offsetof(pmix_info_t, value) == 520, "pmix_info_t.value");
_Static_assert(sizeof(PMIX_COLLECT_DATA) == sizeof("pmix.collect"), "PMIX_COLLECT_DATA");
_Static_assert(sizeof(pmix_scope_t) == 1 && PMIX_GLOBAL == 3, "pmix_scope_t");
_Static_assert(sizeof(pmix_status_t) == sizeof(int), "pmix_status_t");
_Static_assert(PMIX_BOOL == 1 && PMIX_STRING == 3 && PMIX_UINT32 == 14, "data types");
_Static_assert(PMIX_SUCCESS == 0 && PMIX_ERR_NOT_FOUND == -46, "statuses");
_Static_assert((PMIX_RANK_WILDCARD) == UINT32_MAX - 1, "PMIX_RANK_WILDCARD");

static pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t) = PMIx_Init;
static pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t,
                            pmix_value_t **) = PMIx_Get;
static pmix_status_t (*put)(pmix_scope_t, const char *, pmix_value_t *) = PMIx_Put;
static pmix_status_t (*commit)(void) = PMIx_Commit;
static pmix_status_t (*fence)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t) = PMIx_Fence;
static pmix_status_t (*finalize)(const pmix_info_t *, size_t) = PMIx_Finalize;
static pmix_status_t (*end)(int, const char *, pmix_proc_t *, size_t) = PMIx_Abort;
static const char *(*error)(pmix_status_t) = PMIx_Error_string;
