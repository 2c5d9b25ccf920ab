//go:build unix

package seal_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/seal"
)

// After a rotation by root the file still belongs to the server's user.
func TestRotateKeepsOwner(t *testing.T) {
	t.Parallel()
	path := keyFile(t)
	if os.Geteuid() == 0 { // only root can change the owner of a file
		require.NoError(t, os.Chown(path, 12345, 12345))
	}
	owner := func() (uint32, uint32) {
		info, err := os.Stat(path)
		require.NoError(t, err)
		stat := info.Sys().(*syscall.Stat_t)
		return stat.Uid, stat.Gid
	}
	uid, gid := owner()
	require.NoError(t, seal.Rotate(path))
	newUID, newGID := owner()
	require.Equal(t, []uint32{uid, gid}, []uint32{newUID, newGID})
}
