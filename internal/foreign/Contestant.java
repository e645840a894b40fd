import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Apache Curator as a contestant: each member is one client with its own session. Every hold is
 * marked in a folder that all languages see, and appended to the common log.
 *
 * <p>usage: Contestant SERVERS PATH RECIPE LOG MARKS NAME MEMBERS ROUNDS PERMITS PACE
 *
 * <p>With PACE "paced" each hold lasts until a byte is read, and every other member of a read/write
 * lock begins as a reader.
 */
public class Contestant {
  static FileOutputStream log;
  static Path marks;
  static int permits;
  static boolean paced;
  static final Semaphore pace = new Semaphore(0);

  static void line(String verb, String who, String mode, String node, String text) throws Exception {
    String s = verb + "\t" + who + "\t" + mode + "\t" + node + "\t0\t0x0\t" + text + "\n";
    log.write(s.getBytes(StandardCharsets.UTF_8));
  }

  static String name(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** Marks a hold, looks for marks that exclude it, and takes the mark away. */
  static void hold(String who, String mode, String node) throws Exception {
    line("enter", who, mode, node, "-");
    Path mark = marks.resolve(mode + "-" + who);
    Files.createFile(mark); // fails if it is there: nobody holds twice
    look(who, mode);
    if (paced) pace.acquire();
    Files.delete(mark);
    line("leave", who, mode, node, "-");
  }

  static void look(String who, String mode) throws Exception {
    int leases = 0;
    String[] all;
    try (Stream<Path> s = Files.list(marks)) {
      all = s.map(p -> p.getFileName().toString()).toArray(String[]::new);
    }
    for (String m : all) {
      if (m.startsWith("L-")) leases++;
      if (m.endsWith("-" + who)) continue;
      if (mode.equals("X") || (mode.equals("R") && m.startsWith("X-"))) line("saw", who, mode, "-", m);
    }
    if (leases > permits) line("saw", who, mode, "-", leases + " leases");
  }

  /** Gives the tests the node of a lock that they hold. */
  static class Mutex extends InterProcessMutex {
    Mutex(CuratorFramework c, String path) {
      super(c, path);
    }

    String node() {
      return name(getLockPath());
    }
  }

  static class Write extends InterProcessReadWriteLock.WriteLock {
    Write(CuratorFramework c, String path) {
      super(c, path, null);
    }

    String node() {
      return name(getLockPath());
    }
  }

  static class Read extends InterProcessReadWriteLock.ReadLock {
    Read(CuratorFramework c, String path, Write w) {
      super(c, path, null, w);
    }

    String node() {
      return name(getLockPath());
    }
  }

  interface Round {
    void run(int i) throws Exception;
  }

  static Round mutex(CuratorFramework c, String path, String who) {
    Mutex m = new Mutex(c, path);
    return i -> {
      line("ask", who, "X", "-", "-");
      m.acquire();
      hold(who, "X", m.node());
      m.release();
      line("left", who, "X", "-", "-");
    };
  }

  /**
   * Every other round writes, the others read. With downgrade, every other write goes on as a
   * reader.
   */
  static Round readWrite(CuratorFramework c, String path, String who, boolean downgrade) {
    Write w = new Write(c, path);
    Read r = new Read(c, path, w);
    return i -> {
      if (i % 2 == 0) {
        line("ask", who, "X", "-", "-");
        w.acquire();
        if (downgrade && i % 4 == 0) {
          downgrade(who, w, r);
          return;
        }
        hold(who, "X", w.node());
        w.release();
        line("left", who, "X", "-", "-");
        return;
      }
      line("ask", who, "R", "-", "-");
      r.acquire();
      hold(who, "R", r.node());
      r.release();
      line("left", who, "R", "-", "-");
    };
  }

  /** The write hold ends after the read hold began, so that nobody may slip in between. */
  static void downgrade(String who, Write w, Read r) throws Exception {
    String node = w.node();
    line("enter", who, "X", node, "-");
    Path mark = marks.resolve("X-" + who);
    Files.createFile(mark);
    look(who, "X");
    line("ask", who, "R", "-", "-");
    r.acquire();
    line("enter", who, "R", r.node(), "downgraded");
    Path read = marks.resolve("R-" + who);
    Files.createFile(read);
    Files.delete(mark);
    line("leave", who, "X", node, "-");
    w.release();
    line("left", who, "X", node, "-");
    Thread.sleep(2); // whoever may slip in has the time to do it
    look(who, "R");
    Files.delete(read);
    line("leave", who, "R", "-", "-");
    r.release();
    line("left", who, "R", "-", "-");
  }

  static Round semaphore(CuratorFramework c, String path, String who) {
    InterProcessSemaphoreV2 s = new InterProcessSemaphoreV2(c, path, permits);
    return i -> {
      line("ask", who, "L", "-", "-");
      Lease lease = s.acquire();
      hold(who, "L", lease.getNodeName());
      s.returnLease(lease);
      line("left", who, "L", "-", "-");
    };
  }

  static Round round(String recipe, CuratorFramework c, String path, String who) {
    switch (recipe) {
      case "mutex":
        return mutex(c, path, who);
      case "readwrite":
        return readWrite(c, path, who, false);
      case "downgrade":
        return readWrite(c, path, who, true);
      case "semaphore":
        return semaphore(c, path, who);
      default:
        throw new IllegalArgumentException("recipe " + recipe);
    }
  }

  /** Passes on what the test says. Its end is ours, whatever the members wait for. */
  static void listen() {
    try {
      while (System.in.read() >= 0) pace.release();
    } catch (java.io.IOException e) {
      e.printStackTrace();
    }
    Runtime.getRuntime().halt(2);
  }

  public static void main(String[] a) throws Exception {
    Thread listener = new Thread(Contestant::listen);
    listener.setDaemon(true);
    listener.start();
    String servers = a[0], path = a[1], recipe = a[2], name = a[5];
    log = new FileOutputStream(a[3], true);
    marks = Path.of(a[4]);
    int members = Integer.parseInt(a[6]), rounds = Integer.parseInt(a[7]);
    permits = Integer.parseInt(a[8]);
    paced = a[9].equals("paced");
    CountDownLatch ready = new CountDownLatch(members), go = new CountDownLatch(1), done = new CountDownLatch(members);
    AtomicBoolean failed = new AtomicBoolean();
    for (int m = 0; m < members; m++) {
      String who = name + m;
      int first = paced ? m : 0;
      new Thread(() -> {
        try (CuratorFramework c = CuratorFrameworkFactory.newClient(servers, 10000, 10000, new ExponentialBackoffRetry(100, 3))) {
          c.start();
          c.blockUntilConnected();
          Round r = round(recipe, c, path, who);
          ready.countDown();
          go.await();
          for (int i = 0; i < rounds; i++) r.run(first + i);
        } catch (Throwable t) {
          t.printStackTrace();
          failed.set(true);
        }
        ready.countDown();
        done.countDown();
      }).start();
    }
    ready.await();
    System.out.println("ready");
    pace.acquire();
    go.countDown();
    done.await();
    System.exit(failed.get() ? 1 : 0);
  }
}
