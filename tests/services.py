"""python -m tests.services: print DATABASE_URL and REDIS_URL of a PostgreSQL and a Redis that answer, or say why not.

What the environment names is used; else the standard local ports are asked. Exit code 1 when either is missing.
"""

import os
import sys

import psycopg
import redis

DATABASE_URLS = (
    "postgres://callboard:callboard@127.0.0.1:5432/callboard",
    "postgres://postgres@127.0.0.1:5432/callboard",
)
REDIS_URLS = ("redis://127.0.0.1:6379/1",)


def main() -> int:
    """Print what answers, ready for ``env``."""
    database, database_problem = _database()
    broker, broker_problem = _broker()
    if database and broker:
        print(f"DATABASE_URL={database} REDIS_URL={broker}")
        return 0
    print("LEFT OUT: the half of the suite that runs on PostgreSQL and Redis.", file=sys.stderr)
    for problem in filter(None, (database_problem, broker_problem)):
        print(f"  {problem}", file=sys.stderr)
    print(
        "  To run it: make test-services DATABASE_URL=postgres://user:password@host/name REDIS_URL=redis://host/1",
        file=sys.stderr,
    )
    return 1


def _database() -> tuple[str, str]:
    urls = (os.environ["DATABASE_URL"],) if os.environ.get("DATABASE_URL") else DATABASE_URLS
    for url in urls:
        # The tests make their own database beside the named one, which need not exist.
        server = url.rsplit("/", 1)[0] + "/postgres"
        try:
            psycopg.connect(server, connect_timeout=30).close()
        except psycopg.Error as error:
            problem = f"PostgreSQL at {url.rsplit('@', 1)[-1]}: {str(error).splitlines()[0]}"
        else:
            return url, ""
    return "", problem


def _broker() -> tuple[str, str]:
    urls = (os.environ["REDIS_URL"],) if os.environ.get("REDIS_URL") else REDIS_URLS
    for url in urls:
        try:
            redis.Redis.from_url(url, socket_connect_timeout=30).ping()
        except redis.RedisError as error:
            problem = f"Redis at {url.rsplit('@', 1)[-1]}: {error}"
        else:
            return url, ""
    return "", problem


if __name__ == "__main__":
    sys.exit(main())
