package zkserver

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// talker answers four-letter words as it is told, with nothing for other words.
func talker(t *testing.T, answers map[string]string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			word := make([]byte, 4)
			if _, err := io.ReadFull(c, word); err == nil {
				_, _ = io.WriteString(c, answers[string(word)])
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}

// TestReady_whoseServer: only a server that names another folder is somebody else's.
// One that does not serve at the moment of the second or third question is not.
func TestReady_whoseServer(t *testing.T) {
	const (
		srvr       = "Zookeeper version: 3.8.0\nMode: leader\n"
		notServing = "This ZooKeeper instance is not currently serving requests\n"
		noWord     = "conf is not executed because it is not in the whitelist.\n"
		ours       = "dataDir=/tmp/house/server-1/data/version-2\n"
		foreign    = "dataDir=/var/lib/zookeeper/version-2\n"
		adminOurs  = `{"data_dir":"/tmp/house/server-1/data/version-2","command":"configuration"}`
		adminOther = `{"data_dir":"/var/lib/zookeeper/version-2","command":"configuration"}`
		adminBusy  = `{"command":"configuration","error":"This ZooKeeper instance is not currently serving requests"}`
	)
	for name, c := range map[string]struct {
		srvr, conf, admin string
		ready, taken      bool
	}{
		"ours":                      {srvr, ours, adminOurs, true, false},
		"ours_onlySrvrAllowed":      {srvr, noWord, adminOurs, true, false},
		"notServing":                {notServing, "", "", false, false},
		"stopsServing_beforeConf":   {srvr, notServing, "", false, false},
		"closed_beforeConf":         {srvr, "", "", false, false},
		"leaderNotYetAtAdminServer": {srvr, ours, adminBusy, false, false},
		"adminServerEmpty":          {srvr, ours, "", false, false},
		"foreign":                   {srvr, foreign, adminOurs, false, true},
		"foreignAdminServer":        {srvr, ours, adminOther, false, true},
		"folderOfALikeName":         {srvr, "dataDir=/tmp/house/server-10/data\n", adminOurs, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.admin) }))
			defer admin.Close()
			s := &javaServer{dir: "/tmp/house/server-1", addr: talker(t, map[string]string{"srvr": c.srvr, "conf": c.conf}),
				adminAddr: strings.TrimPrefix(admin.URL, "http://")}
			err := s.ready(t.Context(), askTimeout)
			if (err == nil) != c.ready || errors.Is(err, errPortTaken) != c.taken {
				t.Errorf("error is %v; want ready %v, taken %v", err, c.ready, c.taken)
			}
		})
	}
}
