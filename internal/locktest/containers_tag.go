//go:build docker

package locktest

import _ "zklab/internal/zkserver/docker"

const canContain = true
