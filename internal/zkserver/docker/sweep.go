package docker

import (
	"context"
	"errors"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// sweep removes the containers of an ensemble with their volumes, and then its
// networks. What is gone already is fine.
func sweep(ctx context.Context, api *client.Client, id string) error {
	mine := make(client.Filters).Add("label", ensembleLabel+"="+id)
	containers, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: mine})
	if err != nil {
		return err
	}
	errs := make([]error, len(containers.Items))
	var wg sync.WaitGroup
	for i, c := range containers.Items {
		wg.Go(func() {
			_, err := api.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			errs[i] = unlessGone(err)
		})
	}
	wg.Wait()
	networks, err := api.NetworkList(ctx, client.NetworkListOptions{Filters: mine})
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, n := range networks.Items {
		_, err := api.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
		errs = append(errs, unlessGone(err))
	}
	return errors.Join(errs...)
}

// unlessGone is nil when there was nothing to remove, or somebody else is at it.
func unlessGone(err error) error {
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return err
}
