//go:build unix && !solaris && !aix

package jobs

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile opens a file and locks it. The lock ends when the file is closed, or when the process ends in any way. alone is false
// when another process holds the lock.
func lockFile(path string) (file *os.File, alone bool, err error) {
	if file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, false, fmt.Errorf("open: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return file, false, nil
	}
	if err != nil {
		return nil, false, errors.Join(fmt.Errorf("lock: %w", err), file.Close())
	}
	return file, true, nil
}
