"""A process with two SQLites: ours in the agent, and Python's own, which opens, reads, writes and closes the same file."""

import ctypes
import os
import sqlite3
import sys
import threading

library, path, name, override = sys.argv[1:]
agent = ctypes.CDLL(library).durability_agent
arguments = (path.encode(), name.encode(), override == "on")
threading.Thread(target=agent, args=arguments, daemon=True).start()


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


number = 0
while True:
    number += 1
    try:
        connection = sqlite3.connect(path, timeout=5)
        if number % 3:
            connection.execute("SELECT count(*), max(head) FROM run").fetchone()
            connection.execute("SELECT data FROM event ORDER BY id DESC LIMIT 50").fetchall()
        else:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY)")
            connection.execute("INSERT INTO note VALUES (?)", (f"{name}-{number}",))
            connection.commit()
            say(f"note {name}-{number}")
        connection.close()
    except sqlite3.OperationalError as error:
        # Before the agent has made the tables, and while others write.
        if "no such table: " in str(error) or "locked" in str(error):
            continue
        say(f"error in the foreign SQLite: {error}")
    except sqlite3.DatabaseError as error:
        say(f"error in the foreign SQLite: {error}")
