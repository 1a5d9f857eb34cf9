//go:build !linux

package process

import "syscall"

// ownGroup keeps a Ctrl-C of the terminal from the child, so that this program ends it in its own order. There is no
// parent-death signal here: a child outlives this program when that is killed by SIGKILL.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to a process group; a group that is gone is no error here.
func signalGroup(pgid int, sig syscall.Signal) { _ = syscall.Kill(-pgid, sig) }
