// Package process runs the child processes of tests: each in its own process group, with its output in a file, and
// killed by the kernel when the program that started it dies (on Linux).
package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Spec says what to run.
type Spec struct {
	// Name is how messages call the process. Default: the base name of Path.
	Name string
	// Path of the executable.
	Path string
	// Args without the name of the program.
	Args []string
	// Env is added to the environment of this program ("KEY=value"); a later value of a key wins.
	Env []string
	// Dir is the working directory. Default: that of this program.
	Dir string
	// LogFile gets what the process writes to stdout and stderr; it is appended to, so that a process that is started
	// again keeps the log of its earlier lives.
	LogFile string
}

// Process is a child process that was started.
type Process struct {
	spec Spec
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait; read after done is closed
}

// Start starts the process. It is not stopped by a context: a caller decides by Stop or Kill how it ends.
func Start(spec Spec) (*Process, error) {
	if spec.Name == "" {
		spec.Name = filepath.Base(spec.Path)
	}
	p := &Process{spec: spec, done: make(chan struct{})}
	started := make(chan error)
	go p.live(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	return p, nil
}

// live starts the process and waits for its end on one locked thread: the kernel sends the parent-death signal when
// the thread that started a child ends, not when the process does.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.done)
}

func (p *Process) start() error {
	log, err := openLog(p.spec.LogFile)
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own descriptor
	p.cmd = exec.Command(p.spec.Path, p.spec.Args...)
	p.cmd.Env = append(os.Environ(), p.spec.Env...)
	p.cmd.Dir = p.spec.Dir
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = ownGroup()
	return p.cmd.Start()
}

func openLog(path string) (*os.File, error) {
	if path == "" {
		path = os.DevNull
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// Name is how messages call the process.
func (p *Process) Name() string { return p.spec.Name }

// Pid of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exited says whether the process has ended.
func (p *Process) Exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Err says, with the end of its log, that the process has ended; nil while it runs. A test or a supervisor for which
// the end is unexpected reports it.
func (p *Process) Err() error {
	if !p.Exited() {
		return nil
	}
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s has ended (%s); the end of its log %s:\n%s", p.spec.Name, how, p.spec.LogFile, p.LogTail(20))
}

// LogTail returns the last lines of the log, indented.
func (p *Process) LogTail(lines int) string {
	tail, err := tailOf(p.spec.LogFile, lines)
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	return tail
}

// Log returns all that the process has written.
func (p *Process) Log() (string, error) {
	content, err := os.ReadFile(p.spec.LogFile)
	return string(content), err
}

// Stop asks the process to end (SIGTERM) and kills it when it has not after grace. It returns when the process has
// ended; an error says that it had to be killed. A process that has ended is left alone.
func (p *Process) Stop(grace time.Duration) error {
	if p.Exited() {
		return nil
	}
	signalGroup(p.Pid(), syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		signalGroup(p.Pid(), syscall.SIGKILL) // what it may have left in its group
		return nil
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("%s did not end within %s and was killed", p.spec.Name, grace)
	}
}

// Kill kills the process and its group (SIGKILL) and returns when the process has ended.
func (p *Process) Kill() {
	if !p.Exited() {
		signalGroup(p.Pid(), syscall.SIGKILL)
	}
	<-p.done
}

// tailBytes bounds what LogTail reads of a log.
const tailBytes = 16 << 10

// tailOf returns the last lines of a file, each indented by two blanks and cut at 300 bytes.
func tailOf(path string, lines int) (string, error) {
	if path == "" {
		return "", errors.New("no log is kept")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-tailBytes)
	content, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return "", err
	}
	return lastLines(content, lines), nil
}

func lastLines(content []byte, n int) string {
	const widest = 300
	all := strings.Split(string(bytes.TrimRight(content, "\n")), "\n")
	all = all[max(0, len(all)-n):]
	for i, line := range all {
		if len(line) > widest {
			line = line[:widest] + " …"
		}
		all[i] = "  " + line
	}
	return strings.Join(all, "\n")
}
