// A stand-in for Ryuk, testcontainers' reaper, for machines that reach no image
// registry. It speaks Ryuk's protocol and honours its two times: clients connect to
// port 8080 and send a line of labels; when no client is left for a while, what has
// those labels is removed.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"

	"github.com/moby/moby/client"
)

const sweepLimit = 30 * time.Second

func main() {
	api, err := client.New(client.FromEnv)
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", ":8080")
	if err != nil {
		log.Fatal(err)
	}
	came, left, labels := make(chan bool), make(chan bool), make(chan []string)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				log.Fatal(err)
			}
			came <- true
			go serve(c, labels, left)
		}
	}()
	fmt.Println("Started") // the library waits for this word
	clients, doomed := 0, map[string][]string{}
	alone := time.NewTimer(duration("RYUK_CONNECTION_TIMEOUT", time.Minute))
	for {
		select {
		case <-came:
			clients++
			alone.Stop()
		case <-left:
			if clients--; clients == 0 {
				alone.Reset(duration("RYUK_RECONNECTION_TIMEOUT", 10*time.Second))
			}
		case set := <-labels:
			doomed[strings.Join(set, "&")] = set
		case <-alone.C:
			for _, set := range doomed {
				if err := sweep(api, set); err != nil {
					log.Print(err)
				}
			}
			return
		}
	}
}

func duration(name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(os.Getenv(name)); err == nil {
		return d
	}
	return otherwise
}

// serve takes lines of labels from one client until it goes.
func serve(c net.Conn, labels chan<- []string, left chan<- bool) {
	defer func() { c.Close(); left <- true }()
	for lines := bufio.NewScanner(c); lines.Scan(); {
		var set []string
		for _, part := range strings.Split(lines.Text(), "&") {
			if label, ok := strings.CutPrefix(part, "label="); ok {
				set = append(set, label)
			}
		}
		if len(set) == 0 {
			return // an empty filter would be everybody's
		}
		labels <- set
		fmt.Fprint(c, "ACK\n")
	}
}

// sweep removes the containers that have all the labels, then the networks.
func sweep(api *client.Client, labels []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
	defer cancel()
	those := make(client.Filters).Add("label", labels...)
	containers, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: those})
	if err != nil {
		return err
	}
	for _, c := range containers.Items {
		if _, err := api.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
			return err
		}
	}
	networks, err := api.NetworkList(ctx, client.NetworkListOptions{Filters: those})
	if err != nil {
		return err
	}
	for _, n := range networks.Items {
		if _, err := api.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{}); err != nil {
			return err
		}
	}
	return nil
}
