package conformance_test

import (
	"testing"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/conformance"
	"zklab/internal/zkserver/zktest"
)

func TestJava(t *testing.T) {
	conformance.Run(t, func(t testing.TB, o zkserver.Options) *zkserver.Ensemble {
		o.Backend = zkserver.Java
		return zktest.Start(t, o)
	})
}
