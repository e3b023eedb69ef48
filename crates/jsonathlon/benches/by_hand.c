/*
 * What a user would write by hand to load a file into an embedded engine: open, run the statements that
 * come first, then time the last one until the data is on disk. The loading benchmark holds the harness
 * against it. Nothing here is part of jsonathlon.
 *
 *   by_hand duckdb LIBRARY FOLDER STATEMENT...     the last statement is timed
 *   by_hand chdb   LIBRARY FOLDER STATEMENT...
 *   by_hand sqlite -       FOLDER STATEMENT... FILE  the last statement is prepared and run once a line
 *
 * Prints the seconds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_SQLITE
#include "sqlite3.h"
#endif

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why ? why : "failed");
    exit(1);
}

static void sync_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0 || syncfs(fd) != 0) die("syncfs", folder);
    close(fd);
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) die("dlsym", name);
    return found;
}

static void duckdb(void *library, const char *folder, int count, char **statements) {
    typedef struct { uint64_t words[8]; } result_t;
    int (*open_db)(const char *, void **) = symbol(library, "duckdb_open");
    int (*connect)(void *, void **) = symbol(library, "duckdb_connect");
    int (*query)(void *, const char *, result_t *) = symbol(library, "duckdb_query");
    const char *(*error)(result_t *) = symbol(library, "duckdb_result_error");
    void (*destroy)(result_t *) = symbol(library, "duckdb_destroy_result");
    char path[4096];
    snprintf(path, sizeof path, "%s/data.duckdb", folder);
    void *db = NULL, *connection = NULL;
    if (open_db(path, &db) || connect(db, &connection)) die("duckdb", "cannot open");
    for (int i = 0; i < count; i++) {
        result_t result;
        memset(&result, 0, sizeof result);
        double start = now();
        if (query(connection, statements[i], &result)) die(statements[i], error(&result));
        if (i == count - 1) {
            sync_folder(folder);
            printf("%.9f\n", now() - start);
        }
        destroy(&result);
    }
    fflush(stdout);
    /* The process ends here: closing is in neither side's time. */
    _exit(0);
}

static void chdb(void *library, const char *folder, int count, char **statements) {
    void (*signals)(int) = symbol(library, "chdb_set_signal_handlers_enabled");
    void **(*connect)(int, char **) = symbol(library, "chdb_connect");
    void *(*query)(void *, const char *, size_t, const char *, size_t) = symbol(library, "chdb_query_n");
    const char *(*error)(void *) = symbol(library, "chdb_result_error");
    void (*destroy)(void *) = symbol(library, "chdb_destroy_query_result");
    char path[4096];
    snprintf(path, sizeof path, "--path=%s", folder);
    char *arguments[] = {"clickhouse", path};
    signals(0);
    void **connection = connect(2, arguments);
    if (!connection || !*connection) die("chdb", "cannot connect");
    for (int i = 0; i < count; i++) {
        double start = now();
        void *result = query(*connection, statements[i], strlen(statements[i]), "Null", 4);
        if (!result || error(result)) die(statements[i], result ? error(result) : NULL);
        if (i == count - 1) {
            sync_folder(folder);
            printf("%.9f\n", now() - start);
        }
        destroy(result);
    }
    fflush(stdout);
    _exit(0);
}

#ifdef WITH_SQLITE
static void sqlite(const char *folder, int count, char **statements, const char *file) {
    char path[4096];
    snprintf(path, sizeof path, "%s/data.sqlite", folder);
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK) die("sqlite", sqlite3_errmsg(db));
    for (int i = 0; i < count - 1; i++) {
        char *message = NULL;
        if (sqlite3_exec(db, statements[i], NULL, NULL, &message) != SQLITE_OK) die(statements[i], message);
    }
    double start = now();
    sqlite3_stmt *insert = NULL;
    if (sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) die("begin", sqlite3_errmsg(db));
    if (sqlite3_prepare_v2(db, statements[count - 1], -1, &insert, NULL) != SQLITE_OK)
        die(statements[count - 1], sqlite3_errmsg(db));
    FILE *lines = fopen(file, "r");
    if (!lines) die("fopen", file);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, lines)) > 0) {
        if (line[length - 1] == '\n') length--;
        sqlite3_bind_text(insert, 1, line, (int)length, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE) die("insert", sqlite3_errmsg(db));
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) die("commit", sqlite3_errmsg(db));
    sync_folder(folder);
    printf("%.9f\n", now() - start);
    fflush(stdout);
    _exit(0);
}
#endif

int main(int argc, char **argv) {
    if (argc < 5) die("usage", "by_hand ENGINE LIBRARY FOLDER STATEMENT...");
    const char *engine = argv[1], *folder = argv[3];
#ifdef WITH_SQLITE
    if (strcmp(engine, "sqlite") == 0) sqlite(folder, argc - 5, argv + 4, argv[argc - 1]);
#endif
    void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!library) die("dlopen", dlerror());
    if (strcmp(engine, "duckdb") == 0) duckdb(library, folder, argc - 4, argv + 4);
    if (strcmp(engine, "chdb") == 0) chdb(library, folder, argc - 4, argv + 4);
    die("unknown engine", engine);
}
