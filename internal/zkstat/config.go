package zkstat

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// config is what the package needs of a server's configuration.
type config struct {
	Reading
	tick time.Duration
}

func parseConf(b []byte) (c config, err error) {
	err = eachLine(b, func(line string) error {
		if value, ok := strings.CutPrefix(line, "tickTime="); ok {
			ms, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return badLine("not a tick time", line)
			}
			c.tick = time.Duration(ms) * time.Millisecond
		}
		return nil
	})
	return c, c.check(b, err)
}

func parseConfigJSON(b []byte) (c config, err error) {
	var answer struct {
		Tick int32 `json:"tick_time"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return c, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	c.tick = time.Duration(answer.Tick) * time.Millisecond
	return c, c.check(b, nil)
}

func (c config) check(b []byte, err error) error {
	if err == nil && c.tick <= 0 {
		return badLine("no tick time in", string(b))
	}
	return err
}
