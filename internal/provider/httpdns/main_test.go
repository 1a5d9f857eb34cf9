package httpdns

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// processLog is what was written to the standard logger, where net/http reports what servers say out of turn.
var processLog syncBuffer

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestMain fails where a test left a goroutine behind, or where anything reached the standard logger.
func TestMain(m *testing.M) {
	log.SetOutput(&processLog)
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if text := processLog.String(); text != "" {
		fmt.Fprintln(os.Stderr, "written to the standard logger:", text)
		code = 1
	}
	os.Exit(code)
}
