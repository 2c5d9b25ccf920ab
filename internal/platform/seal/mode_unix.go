//go:build unix

package seal

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether only the owner can access the file.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

// keepOwner gives f the owner of the file that it replaces, so that a rotation as root does not lock out the server's user.
func keepOwner(f *os.File, replaced fs.FileInfo) error {
	stat, ok := replaced.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	return f.Chown(int(stat.Uid), int(stat.Gid))
}
