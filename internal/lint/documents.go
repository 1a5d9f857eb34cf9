package lint

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxDocument is the size of a document, in bytes: what the API server takes in one request.
const maxDocument = 3 << 20

// document is one part of an input, between two separator lines.
type document struct {
	text []byte
	// line of the input at which the text starts, from 1.
	line int
	// tooLarge says that the text was more than maxDocument, and is not here.
	tooLarge bool
}

// documents cuts an input at its separator lines, as kubectl does, and calls yield with each part. However large the
// input is, no more than one document is held.
func documents(r io.Reader, yield func(document)) error {
	c := cutter{in: bufio.NewReaderSize(r, 64<<10), yield: yield, line: 1}
	c.doc.line = 1
	for {
		piece, err := c.in.ReadSlice('\n')
		c.take(piece)
		switch {
		case errors.Is(err, io.EOF):
			c.flush()
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

type cutter struct {
	in    *bufio.Reader
	yield func(document)
	doc   document
	// line is the number of the current line; inLine says that a part of it was taken already, and skip that the rest of it
	// belongs to a separator.
	line         int
	inLine, skip bool
}

// take adds a piece: a whole line, or a part of a long one.
func (c *cutter) take(piece []byte) {
	if len(piece) == 0 {
		return
	}
	if !c.inLine {
		c.skip = isSeparator(piece)
		if c.skip {
			c.flush()
		}
	}
	ends := piece[len(piece)-1] == '\n'
	if ends {
		c.line++
	}
	c.inLine = !ends
	switch {
	case c.skip:
		c.doc.line = c.line
	case len(c.doc.text)+len(piece) > maxDocument:
		c.doc.text, c.doc.tooLarge = nil, true
	case !c.doc.tooLarge:
		c.doc.text = append(c.doc.text, piece...)
	}
}

func (c *cutter) flush() {
	if c.doc.tooLarge || len(c.doc.text) > 0 {
		c.yield(c.doc)
	}
	c.doc = document{line: c.line}
}

// isSeparator says whether a line is --- and nothing else but a comment.
func isSeparator(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("---"))
	rest = bytes.TrimSpace(rest)
	return found && (len(rest) == 0 || rest[0] == '#')
}
