package password

import "syscall"

// niceness is that of threads that hash: under load each gets about a tenth of what another thread gets.
const niceness = 10

// lowerPriority makes the calling thread come after others. One that cannot works as fast as they do.
func lowerPriority() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness) }
