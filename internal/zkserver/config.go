package zkserver

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// peer is one private server's place: its folder and its ports.
type peer struct {
	id                              int
	client, admin, quorum, election int
	dir                             string
}

func (p peer) dataDir() string { return filepath.Join(p.dir, "data") }
func (p peer) confDir() string { return filepath.Join(p.dir, "conf") }
func (p peer) confFile() string {
	return filepath.Join(p.confDir(), "zoo.cfg")
}
func (p peer) logback() string { return filepath.Join(p.confDir(), "logback.xml") }
func (p peer) log4j() string   { return filepath.Join(p.confDir(), "log4j.properties") }

// write makes the server's folder.
func (p peer) write(o Options, in *installation, peers []peer, between *links) error {
	for _, d := range []string{p.dataDir(), p.confDir()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	for path, text := range map[string]string{
		p.confFile():                       p.zooCfg(o, in, peers, between),
		filepath.Join(p.dataDir(), "myid"): strconv.Itoa(p.id) + "\n",
		p.logback():                        logbackXML,
		p.log4j():                          log4jProperties,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (p peer) zooCfg(o Options, in *installation, peers []peer, between *links) string {
	shortest, longest := o.SessionBounds()
	set := map[string]string{
		"tickTime":               strconv.FormatInt(o.Tick.Milliseconds(), 10),
		"minSessionTimeout":      strconv.FormatInt(shortest.Milliseconds(), 10),
		"maxSessionTimeout":      strconv.FormatInt(longest.Milliseconds(), 10),
		"initLimit":              strconv.Itoa(o.InitLimit()),
		"syncLimit":              strconv.Itoa(syncLimitTicks),
		"dataDir":                p.dataDir(),
		"clientPort":             strconv.Itoa(p.client),
		"clientPortAddress":      "127.0.0.1",
		"maxClientCnxns":         "0",
		"4lw.commands.whitelist": "*",
		"admin.enableServer":     strconv.FormatBool(in.admin),
		"admin.serverAddress":    "127.0.0.1",
		"admin.serverPort":       strconv.Itoa(p.admin),
	}
	if len(peers) > 1 {
		for _, q := range peers {
			spec := fmt.Sprintf("127.0.0.1:%d:%d", q.quorum, q.election)
			if q.id != p.id {
				spec = between.spec(p.id, q.id)
			}
			set[fmt.Sprintf("server.%d", q.id)] = spec
		}
	}
	maps.Copy(set, o.Extra)
	return properties(set)
}

// properties is a file of settings as Java reads it: Latin-1, with a backslash as the
// beginning of something else.
func properties(set map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(set)) {
		fmt.Fprintf(&b, "%s=%s\n", k, escaped(set[k]))
	}
	return b.String()
}

func escaped(value string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(value)) {
		switch {
		case unit == '\\':
			b.WriteString(`\\`)
		case unit < ' ' || unit > '~':
			fmt.Fprintf(&b, `\u%04x`, unit)
		default:
			b.WriteByte(byte(unit))
		}
	}
	return b.String()
}

// commandLine runs the server; signals are Java's flags that say what ends it, see
// archive.flags. No performance data, which would leave a folder in /tmp, and no
// attaching of tools, for which -Xrs would have each server leave a socket there.
// No forced sync: data outlives kill -9 of the server, only not a power cut.
func commandLine(p peer, o Options, rt *javaRuntime, in *installation, signals []string) []string {
	args := append([]string{rt.bin}, signals...)
	args = append(args, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto",
		"-XX:-UsePerfData", "-XX:+DisableAttachMechanism", "-Xms16m", "-Xmx256m",
		"-XX:ErrorFile="+filepath.Join(p.dir, "hs_err.log"),
		"-Djava.io.tmpdir="+p.dir,
		"-Djava.awt.headless=true", "-Djava.net.preferIPv4Stack=true",
		"-Dzookeeper.forceSync=no", "-Dzookeeper.jmx.log4j.disable=true",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		// A line for each four-letter word would fill the log.
		"-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.command=warn",
		"-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.NIOServerCnxn=warn",
		// By name, for an archive of classes allows no folder among the jars.
		"-Dlogback.configurationFile="+p.logback(), "-Dlog4j.configuration="+(&url.URL{Scheme: "file", Path: p.log4j()}).String())
	args = append(args, o.JavaFlags...)
	return append(args, "-cp", strings.Join(in.classpath, string(os.PathListSeparator)), "org.apache.zookeeper.server.quorum.QuorumPeerMain", p.confFile())
}

// Set-ups for the two logging libraries that releases bring: everything from
// INFO on to the log file that the process's output goes to.
const (
	logbackXML = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <logger name="org.apache.zookeeper.server.command" level="WARN"/>
  <logger name="org.apache.zookeeper.server.NIOServerCnxn" level="WARN"/>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
`
	log4jProperties = `log4j.rootLogger=INFO, out
log4j.logger.org.apache.zookeeper.server.command=WARN
log4j.logger.org.apache.zookeeper.server.NIOServerCnxn=WARN
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{HH:mm:ss.SSS} %-5p %c{1} - %m%n
`
)
