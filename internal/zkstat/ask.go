package zkstat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// word asks a four-letter word and reads the answer with parse.
func (r *Reader) word(ctx context.Context, word string, at *Reading, parse func([]byte) error) error {
	ctx, cancel := bound(ctx)
	defer cancel()
	start := r.now()
	b, err := askWord(ctx, r.dial, r.addr, word)
	r.count(len(word) + len(b))
	if err != nil {
		return err
	}
	*at = Reading{At: r.now(), From: word}
	at.Took = at.At.Sub(start)
	if err := parse(b); err != nil {
		return fmt.Errorf("%s of %s: %w", word, r.addr, err)
	}
	return nil
}

// bound gives ctx a deadline if it has none.
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, defaultTimeout)
}

func askWord(ctx context.Context, dial func(context.Context, string, string) (net.Conn, error), addr, word string) ([]byte, error) {
	fail := func(err error) error {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("zkstat: %s does not answer %s: %w", addr, word, err)
	}
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, fail(err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(conn, word); err != nil {
		return nil, fail(err)
	}
	b, err := readAll(conn)
	if err != nil {
		return nil, fail(err)
	}
	return b, refusal(b, addr, word)
}

// refusal finds the two answers that are none.
func refusal(b []byte, addr, word string) error {
	head := string(b[:min(len(b), 200)])
	switch {
	case strings.HasPrefix(head, word+" is not executed because it is not in the whitelist"):
		return &NotAllowedError{Addr: addr, Word: word}
	case strings.HasPrefix(head, notServing):
		return fmt.Errorf("%w: %s", ErrNotServing, addr)
	case len(b) == 0:
		return fmt.Errorf("%w: %s closes the connection without an answer to %s", ErrFormat, addr, word)
	}
	return nil
}

const notServing = "This ZooKeeper instance is not currently serving requests"

func readAll(from io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(from, MaxAnswer+1))
	if err == nil && len(b) > MaxAnswer {
		err = ErrTooLong
	}
	return b, err
}

// command asks the AdminServer and reads the answer with parse. Connections are not kept: a
// Reader has nothing to close.
func (r *Reader) command(ctx context.Context, command string, at *Reading, parse func([]byte) error) error {
	ctx, cancel := bound(ctx)
	defer cancel()
	start := r.now()
	b, err := askAdmin(ctx, r.admin, command)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("zkstat: the AdminServer at %s does not answer %s: %w", r.admin, command, err)
	}
	*at = Reading{At: r.now(), From: "/" + command}
	at.Took = at.At.Sub(start)
	if err := adminError(b); err != nil {
		return fmt.Errorf("%s of the AdminServer at %s: %w", command, r.admin, err)
	}
	if err := parse(b); err != nil {
		return fmt.Errorf("%s of the AdminServer at %s: %w", command, r.admin, err)
	}
	return nil
}

func askAdmin(ctx context.Context, admin, command string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/commands/"+command, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := readAll(resp.Body)
	if err == nil && !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		err = fmt.Errorf("%w: status %s and no JSON", ErrFormat, resp.Status)
	}
	return b, err
}

// adminError reads the field in which the AdminServer tells that a command failed.
func adminError(b []byte) error {
	var answer struct {
		Error *string `json:"error"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	switch {
	case answer.Error == nil:
		return nil
	case strings.HasPrefix(*answer.Error, notServing):
		return ErrNotServing
	}
	return errors.New(*answer.Error)
}
