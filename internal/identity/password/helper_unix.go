//go:build linux || darwin || freebsd

package password

import (
	"os"
	"os/exec"
	"syscall"
)

// niceness of helpers: under load they get about a tenth of what a server's thread gets, so that people can sign in
// while calls of the API come first.
const niceness = 10

// apart gives the helper a process group of its own: a terminal's interrupt is the server's, which lets helpers go when
// it is done.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// yield makes the process, with its threads, come after others. One that cannot works as fast as they do.
func yield(p *os.Process) { _ = syscall.Setpriority(syscall.PRIO_PGRP, p.Pid, niceness) }
