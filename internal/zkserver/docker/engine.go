package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/compose"
)

const (
	probeLimit = 3 * time.Second  // for an engine to answer at all
	callLimit  = 20 * time.Second // for one request to it
	makeLimit  = 30 * time.Second // for the network and the containers of one start
	clearLimit = 10 * time.Second // to remove them; what is left then is the guardian's
	pullLimit  = 5 * time.Minute

	officialImage = "zookeeper:3.9.5"
	standinImage  = "zklab-standin-zookeeper:latest"
	imageEnv      = "ZKLAB_ZOOKEEPER_IMAGE"
	hostEnv       = "DOCKER_HOST"
	ryukOffEnv    = "TESTCONTAINERS_RYUK_DISABLED"
	hubPrefixEnv  = "TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX"
	ryukHostEnv   = "TESTCONTAINERS_HOST_OVERRIDE"
)

// openEngine returns a client of an engine that answers. The error is one line.
func openEngine(ctx context.Context, host string) (*client.Client, error) {
	// Connections are not kept: whoever looks for what a test or a page leaves behind
	// would find them. A new one costs little on a local socket.
	once := client.WithHTTPRequestHook(func(r *http.Request) error { r.Close = true; return nil })
	api, err := client.New(client.FromEnv, client.WithHost(host), once)
	if err != nil {
		return nil, fmt.Errorf("%s names no engine: %s", hostEnv, oneLine(err))
	}
	if !compose.Local(host) {
		api.Close()
		return nil, fmt.Errorf("the engine at %s is not on this machine, so its containers' ports cannot be reached on loopback here; unset %s, or name a running server: ZKLAB_SERVERS=host:port", host, hostEnv)
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	if _, err := api.Ping(ctx, client.PingOptions{}); err != nil {
		api.Close()
		return nil, errors.New(whyDead(host, err))
	}
	return api, nil
}

// whyDead says in one line why the engine at host cannot be used, and what to do.
func whyDead(host string, err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("the engine at %s does not answer within %v", host, probeLimit)
	case errors.Is(err, fs.ErrPermission), strings.Contains(err.Error(), "permission denied"):
		return fmt.Sprintf("this user may not use the engine at %s (permission denied); joining the group that owns its socket, usually docker, helps", host)
	case client.IsErrConnectionFailed(err), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("no engine listens at %s; starting it helps, usually with: sudo systemctl start docker", host)
	}
	return fmt.Sprintf("the engine at %s cannot be used: %s", host, oneLine(err))
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// chooseImage returns an image that is present, pulling it if it must and may.
func chooseImage(ctx context.Context, api *client.Client, o zkserver.Options, fetch bool) (string, error) {
	want := []string{officialImage, standinImage}
	if named := os.Getenv(imageEnv); named != "" {
		want = []string{named}
	}
	for _, image := range want {
		there, err := present(ctx, api, image)
		if err != nil {
			return "", err
		}
		if there {
			return image, nil
		}
	}
	image := want[0]
	if !fetch {
		return "", fmt.Errorf("the image %s is not present (docker pull %s, or name one that is: %s)", image, image, imageEnv)
	}
	o.Progress("pulling the image %s", image)
	ctx, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	pull, err := api.ImagePull(ctx, image, client.ImagePullOptions{})
	if err == nil {
		err = pull.Wait(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("the image %s is not present and cannot be pulled (%s); name one that is present: %s=…", image, oneLine(err), imageEnv)
	}
	return image, nil
}

// fullName is the image's name with its registry. The library replaces the registry
// of a name without one where the environment says so, and would then pull an
// image that we have chosen because it is present. It does so for docker.io too,
// and not for that registry's older name, which the engine takes for the same.
func fullName(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return image
	}
	full := reference.TagNameOnly(named).String()
	if path, ok := strings.CutPrefix(full, "docker.io/"); ok {
		return "index.docker.io/" + path
	}
	return full
}

func present(ctx context.Context, api *client.Client, image string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := api.ImageInspect(ctx, image)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("the engine does not tell whether the image %s is present: %s", image, oneLine(err))
	}
	return true, nil
}

var setUp sync.Once

// setUpTestcontainers keeps the library silent, and has it do without Ryuk where
// Ryuk's image is not present. It must run before the library reads its
// environment, which it does once.
func setUpTestcontainers(ctx context.Context, api *client.Client) {
	setUp.Do(func() {
		log.SetDefault(log.NewNoopLogger())
		if os.Getenv(ryukOffEnv) != "" {
			return
		}
		//lint:ignore SA1019 nothing else tells which image would be pulled
		image := testcontainers.ReaperDefaultImage
		if prefix := os.Getenv(hubPrefixEnv); prefix != "" {
			image = strings.TrimSuffix(prefix, "/") + "/" + image
		}
		if there, err := present(ctx, api, image); err != nil || !there {
			os.Setenv(ryukOffEnv, "true")
			return
		}
		// Our servers' ports are published on loopback, so Ryuk's is reached there too.
		// The library would take a machine that looks like a container for one, and
		// wait for Ryuk at its gateway until the start fails.
		if os.Getenv(ryukHostEnv) == "" {
			os.Setenv(ryukHostEnv, "127.0.0.1")
		}
	})
}
