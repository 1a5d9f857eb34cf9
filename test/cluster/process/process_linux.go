package process

import "syscall"

// ownGroup keeps a Ctrl-C of the terminal from the child, so that this program ends it in its own order, and has the
// kernel kill the child when this program dies without doing so.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// signalGroup sends a signal to a process group; a group that is gone is no error here.
func signalGroup(pgid int, sig syscall.Signal) { _ = syscall.Kill(-pgid, sig) }
