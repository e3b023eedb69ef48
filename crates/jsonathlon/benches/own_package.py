"""Asks statements through an engine's own Python package; the other half of own_package.rs.

The plan comes on standard input as JSON. `check` answers with the package's version, or with why it cannot
be used; `ask` with the seconds of each ask of each statement.
"""

import json
import sys
import time


class Duckdb:
    def __init__(self, plan):
        import duckdb

        self.connection = duckdb.connect(plan["folder"] + "/data.duckdb", config=plan["settings"])

    def fetch(self, statement):
        return self.connection.execute(statement).fetchall()

    def close(self):
        self.connection.close()


class Chdb:
    def __init__(self, plan):
        import chdb

        if plan["settings"]:
            raise SystemExit("own_package.py knows no start settings of this engine")
        # One connection; its cursor is the package's own way to rows of Python objects.
        self.connection = chdb.connect(plan["folder"])
        self.cursor = self.connection.cursor()

    def fetch(self, statement):
        # The package takes one statement and no semicolon after it.
        self.cursor.execute(statement.strip().rstrip(";"))
        return self.cursor.fetchall()

    def close(self):
        self.cursor.close()
        self.connection.close()


class Sqlite:
    def __init__(self, plan):
        import sqlite3

        self.connection = sqlite3.connect(plan["folder"] + "/data.sqlite")
        for name, value in plan["settings"].items():
            self.connection.execute(f"PRAGMA {name} = {value}")

    def fetch(self, statement):
        return self.connection.execute(statement).fetchall()

    def close(self):
        self.connection.close()


PACKAGES = {"duckdb": Duckdb, "chdb": Chdb, "sqlite": Sqlite}


def check(protocol):
    if protocol == "sqlite":
        import sqlite3

        if sqlite3.sqlite_version_info < (3, 45, 0):
            return {"unusable": f"Python's SQLite is {sqlite3.sqlite_version}; jsonb() came with 3.45"}
        return {"version": sqlite3.sqlite_version}
    if protocol == "duckdb":
        import duckdb

        return {"version": duckdb.connect().execute("SELECT version()").fetchall()[0][0]}
    import chdb

    return {"version": str(chdb.query("SELECT version()", "TSV")).strip()}


def ask(plan):
    package = PACKAGES[plan["protocol"]](plan)
    for statement in plan["session"]:
        package.fetch(statement)
    answers = []
    for statement in plan["statements"]:
        for _ in range(plan["warm_up"]):
            package.fetch(statement)
        seconds = []
        for _ in range(plan["asks"]):
            begun = time.perf_counter()
            rows = package.fetch(statement)
            seconds.append(time.perf_counter() - begun)
        answers.append({"seconds": seconds, "rows": len(rows)})
    package.close()
    return answers


def main():
    plan = json.load(sys.stdin)
    print(json.dumps(check(plan["protocol"]) if plan["what"] == "check" else ask(plan)))


main()
