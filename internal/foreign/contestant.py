"""kazoo as a contestant: each member is one client with its own session.

Every hold is marked in a folder that all languages see, and appended to the
common log.

usage: contestant.py SERVERS PATH RECIPE LOG MARKS NAME MEMBERS ROUNDS PERMITS PACE

recipe mutex:  kazoo's lock under Curator's node name
recipe native: kazoo's lock under its own node name
pace paced:    each hold lasts until a byte is read
"""
import os
import sys
import threading
import traceback

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock


class CuratorNamedLock(Lock):
    """kazoo's lock with the node name of Curator, so that both queue together."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


LOCKS = {"mutex": CuratorNamedLock, "native": Lock}


def line(verb, who, node="-", text="-"):
    os.write(log, ("%s\t%s\tX\t%s\t0\t0x0\t%s\n" % (verb, who, node, text)).encode())


def hold(who, node):
    line("enter", who, node)
    mark = os.path.join(marks, "X-" + who)
    os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for other in os.listdir(marks):
        if not other.endswith("-" + who):
            line("saw", who, text=other)
    if paced:
        pace.acquire()
    os.unlink(mark)
    line("leave", who, node)


def listen():
    """Passes on what the test says. Its end is ours: kazoo tries for ever."""
    while os.read(0, 1):
        pace.release()
    os._exit(2)


def member(who):
    try:
        client = KazooClient(hosts=servers, timeout=10)
        client.start()
        lock = LOCKS[recipe](client, path)
        ready.release()
        go.wait()
        for _ in range(rounds):
            line("ask", who)
            lock.acquire()
            hold(who, lock.node)
            lock.release()
            line("left", who)
        client.stop()
        client.close()
    except BaseException:
        traceback.print_exc()
        failed.append(who)
    ready.release()


servers, path, recipe = sys.argv[1:4]
log = os.open(sys.argv[4], os.O_WRONLY | os.O_APPEND)
marks, name = sys.argv[5:7]
members, rounds, paced = int(sys.argv[7]), int(sys.argv[8]), sys.argv[10] == "paced"
ready, go, failed = threading.Semaphore(0), threading.Event(), []
pace = threading.Semaphore(0)
threading.Thread(target=listen, daemon=True).start()
threads = [threading.Thread(target=member, args=("%s%d" % (name, i),)) for i in range(members)]
for t in threads:
    t.start()
for _ in threads:
    ready.acquire()
print("ready", flush=True)
pace.acquire()
go.set()
for t in threads:
    t.join()
os._exit(1 if failed else 0)
