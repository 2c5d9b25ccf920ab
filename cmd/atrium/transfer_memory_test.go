package main_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/require"
)

// mostOfImport limits the memory of an import, in MiB: an executable of some 100, twice the 128 of the passphrase, and ten times the
// longest line.
const mostOfImport = 700

// A small file does not make an import large, whatever its author has put into it.
func TestImportMemory(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	n := p.serve()
	first := p.firstRun()
	o := n.offering(p.token(first.Company.ID, first.Owner.Email), "Report an incident")
	n.call(n.client(), 201, "POST", "/v1/requests", first.LiveKey, encode(t, map[string]any{
		"serviceId": o.service, "offeringId": o.id, "title": "Cold", "description": "DESCRIPTION", "fields": map[string]any{"affected": 3},
	}))
	require.Zero(t, n.stop())
	words, file := filepath.Join(t.TempDir(), "passphrase"), filepath.Join(t.TempDir(), "company")
	require.NoError(t, os.WriteFile(words, []byte("a towel, always\n"), 0o600))
	p.ok("company", "export", "--company", first.Company.ID, "--to", file, "--passphrase-file", words)
	lines := strings.SplitAfter(openedFile(t, file), "\n")
	filed := regexp.MustCompile(`(?m)^\["requests".*DESCRIPTION.*\n`).FindString(strings.Join(lines, ""))
	require.NotEmpty(t, filed)
	long := func(at int) string {
		return strings.Replace(strings.Replace(filed, "DESCRIPTION", strings.Repeat("x", 30<<20), 1), `"req_0`, `"req_`+string(rune('a'+at)), 1)
	}
	var rows strings.Builder
	for at := range 12 {
		rows.WriteString(long(at))
	}
	for name, c := range map[string]struct {
		lines  string
		factor string
	}{
		"the passphrase's cost": {lines[0], "22"},
		"long rows":             {strings.Replace(strings.Join(lines, ""), filed, rows.String(), 1), "10"},
		"a line of commas":      {lines[0] + `["users"` + strings.Repeat(",0", 15<<20) + "]\n", "10"},
		"a header of commas":    {`{"former":[""` + strings.Repeat(`,""`, 10<<20) + "]}\n", "10"},
	} {
		forged := filepath.Join(t.TempDir(), "forged")
		require.NoError(t, os.WriteFile(forged, sealedFile(t, c.lines, c.factor), 0o600))
		size, err := os.Stat(forged)
		require.NoError(t, err)
		peak, out := peakOf(t, onSQLite(t).command("company", "import", "--from", forged, "--passphrase-file", words))
		t.Logf("%s: %d KiB take %d MiB: %s", name, size.Size()>>10, peak, out)
		require.NotEmpty(t, out, "it is refused")
		require.Less(t, peak, mostOfImport, name)
	}
}

// peakOf runs a command, and returns the most memory that it had, in MiB, and what it said. The kernel's own figure at the end counts
// the process that started it, too.
func peakOf(t *testing.T, cmd *exec.Cmd) (peak int, said string) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stderr = &out
	require.NoError(t, cmd.Start())
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			require.Error(t, err)
			return peak, out.String()
		case <-time.After(5 * time.Millisecond):
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // gone with the process
		for line := range strings.Lines(string(status)) {
			var kib int
			if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
				peak = max(peak, kib/1024)
			}
		}
	}
}

// openedFile returns the lines of an export.
func openedFile(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	id, err := age.NewScryptIdentity("a towel, always")
	require.NoError(t, err)
	plain, err := age.Decrypt(bytes.NewReader(raw), id)
	require.NoError(t, err)
	z, err := gzip.NewReader(plain)
	require.NoError(t, err)
	lines, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(lines)
}

// sealedFile is the reverse of openedFile. The file says that its passphrase has the cost 2^factor.
func sealedFile(t *testing.T, lines, factor string) []byte {
	t.Helper()
	recipient, err := age.NewScryptRecipient("a towel, always")
	require.NoError(t, err)
	recipient.SetWorkFactor(10)
	var file bytes.Buffer
	to, err := age.Encrypt(&file, recipient)
	require.NoError(t, err)
	z := gzip.NewWriter(to)
	_, err = io.WriteString(z, lines)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, to.Close())
	return regexp.MustCompile(`(?m)^(-> scrypt \S+) 10$`).ReplaceAll(file.Bytes(), []byte("$1 "+factor))
}
