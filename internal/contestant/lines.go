package contestant

import (
	"bufio"
	"errors"
	"io"
)

// eachLine calls on for each line of r, without its end, until r ends. A line of
// more than MaxLine bytes is skipped, and on gets nil for it. An unfinished last
// line is dropped: its writer died over it.
func eachLine(r io.Reader, on func(line []byte)) error {
	in := bufio.NewReaderSize(r, MaxLine)
	skipping := false
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			skipping = true
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case skipping:
			skipping = false
			on(nil)
		default:
			on(line[:len(line)-1])
		}
	}
}
