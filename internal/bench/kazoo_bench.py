"""Takes one measurement of kazoo's Lock and prints the nanoseconds it took, how
many acquisitions there were, and how often two were inside at once.

usage: kazoo_bench.py SERVERS PATH uncontended|drain|hold CLIENTS COUNT HOLD_MS TIMEOUT_MS
"""
import sys
import threading
import time

from kazoo.client import KazooClient

servers, path, workload = sys.argv[1:4]
clients, count, hold, timeout = map(int, sys.argv[4:8])
inside, overlap = [], []


def client():
    c = KazooClient(hosts=servers, timeout=timeout / 1000)
    c.start()
    return c


def take(lock, count, hold):
    for _ in range(count):
        lock.acquire()
        inside.append(1)
        if len(inside) != 1:
            overlap.append(1)
        if hold:
            time.sleep(hold / 1000)
        inside.pop()
        lock.release()


def spread(locks, count, hold):
    line = [threading.Thread(target=take, args=(l, count, hold)) for l in locks]
    for t in line:
        t.start()
    return line


conns = [client() for _ in range(clients)]
locks = [c.Lock(path) for c in conns]
acquired = clients * count
if workload == "uncontended":
    take(locks[0], count // 4, 0)
    began = time.monotonic_ns()
    take(locks[0], count, 0)
    acquired = count
elif workload == "drain":
    locks[0].acquire()
    line = spread(locks[1:], 1, 0)
    while len(conns[0].get_children(path)) < clients:
        time.sleep(0.05)
    time.sleep(1)  # their watches are set by then
    began = time.monotonic_ns()
    locks[0].release()
    for t in line:
        t.join()
    acquired = clients - 1
else:
    began = time.monotonic_ns()
    for t in spread(locks, count, hold):
        t.join()
print(time.monotonic_ns() - began, acquired, len(overlap), flush=True)
for c in conns:
    c.stop()
    c.close()
