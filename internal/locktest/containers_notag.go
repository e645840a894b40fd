//go:build !docker

package locktest

const canContain = false
