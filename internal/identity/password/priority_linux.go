package password

import "syscall"

// niceness of the threads that hash: under load, each gets about a tenth of the CPU time of another thread.
const niceness = 10

// lowerPriority lowers the priority of the calling thread. If that fails, the thread runs at normal priority.
func lowerPriority() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness) }
