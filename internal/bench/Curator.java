import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Takes one measurement of Apache Curator's InterProcessMutex and prints the nanoseconds it took,
 * how many acquisitions there were, and how often two were inside at once.
 *
 * <p>usage: Curator SERVERS PATH uncontended|drain|hold CLIENTS COUNT HOLD_MS TIMEOUT_MS
 */
public class Curator {
  static final AtomicInteger inside = new AtomicInteger();
  static final AtomicInteger overlap = new AtomicInteger();
  static ExecutorService threads;

  public static void main(String[] a) throws Exception {
    String path = a[1];
    String workload = a[2];
    int clients = Integer.parseInt(a[3]);
    int count = Integer.parseInt(a[4]);
    int hold = Integer.parseInt(a[5]);
    threads = Executors.newFixedThreadPool(clients);
    List<CuratorFramework> all = new ArrayList<>();
    List<InterProcessMutex> locks = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      CuratorFramework c =
          CuratorFrameworkFactory.newClient(
              a[0], Integer.parseInt(a[6]), 15000, new ExponentialBackoffRetry(100, 3));
      c.start();
      all.add(c);
      locks.add(new InterProcessMutex(c, path));
      if (i >= 32) all.get(i - 32).blockUntilConnected(); // so many connect at a time
    }
    for (CuratorFramework c : all) c.blockUntilConnected();
    long began;
    int acquired = clients * count;
    switch (workload) {
      case "uncontended":
        take(locks.get(0), count, 0); // the virtual machine compiles what it runs often
        began = System.nanoTime();
        take(locks.get(0), count, 0);
        acquired = count;
        break;
      case "drain":
        InterProcessMutex first = locks.get(0);
        first.acquire();
        List<Future<?>> line = spread(locks.subList(1, clients), 1, 0);
        while (all.get(0).getChildren().forPath(path).size() < clients) Thread.sleep(50);
        Thread.sleep(1000); // their watches are set by then
        began = System.nanoTime();
        first.release();
        for (Future<?> f : line) f.get();
        acquired = clients - 1;
        break;
      default:
        began = System.nanoTime();
        for (Future<?> f : spread(locks, count, hold)) f.get();
    }
    System.out.println((System.nanoTime() - began) + " " + acquired + " " + overlap.get());
    List<Future<?>> closing = new ArrayList<>();
    for (CuratorFramework c : all) closing.add(threads.submit(c::close));
    for (Future<?> f : closing) f.get();
    System.exit(0);
  }

  static List<Future<?>> spread(List<InterProcessMutex> locks, int count, int hold) {
    List<Future<?>> all = new ArrayList<>();
    for (InterProcessMutex m : locks) {
      all.add(
          threads.submit(
              () -> {
                take(m, count, hold);
                return null;
              }));
    }
    return all;
  }

  static void take(InterProcessMutex m, int count, int hold) throws Exception {
    for (int i = 0; i < count; i++) {
      m.acquire();
      if (inside.incrementAndGet() != 1) overlap.incrementAndGet();
      if (hold > 0) Thread.sleep(hold);
      inside.decrementAndGet();
      m.release();
    }
  }
}
