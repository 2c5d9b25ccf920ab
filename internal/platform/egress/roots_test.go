package egress_test

import (
	"crypto/x509"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the system has no CAs, as in the container image, Mozilla's are trusted. The test runs itself again without the system's,
// because a process reads them once.
func TestRootsWithoutTheSystems(t *testing.T) {
	t.Parallel()
	const variable = "ATRIUM_TEST_ROOTS"
	if os.Getenv(variable) == "" {
		none := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestRootsWithoutTheSystems$")
		cmd.Env = append(os.Environ(), variable+"=1", "SSL_CERT_DIR="+none, "SSL_CERT_FILE="+none+"/none")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	roots, err := x509.SystemCertPool()
	require.NoError(t, err)
	require.False(t, roots.Equal(x509.NewCertPool()))
}
