package transfer_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"atrium/internal/people/transfer"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// The file says how much memory its passphrase takes: 4 GiB at a factor of 22. No export has more than 17.
func TestTheFileDoesNotChooseTheMemory(t *testing.T) {
	t.Parallel()
	recipient, err := age.NewScryptRecipient(passphrase)
	require.NoError(t, err)
	recipient.SetWorkFactor(transfer.WorkFactor + 1)
	var file bytes.Buffer
	to, err := age.Encrypt(&file, recipient)
	require.NoError(t, err)
	z := gzip.NewWriter(to)
	_, err = io.WriteString(z, "{}\n")
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, to.Close())
	_, err = importer(testkit.SQLiteWorld(t)).Import(system(t), &file, passphrase)
	require.ErrorIs(t, err, transfer.ErrPassphrase)
}

// A small file can hold long lines. Those that no export has are refused, before they are made into lists.
func TestLongLines(t *testing.T) {
	t.Parallel()
	from, to := testkit.SQLiteWorld(t), testkit.SQLiteWorld(t)
	f := fileOf(t, from)
	header, _, _ := strings.Cut(f.lines[0], "\n")
	member := from.A.Users[principal.Member].ID
	for name, c := range map[string]struct {
		file, says string
		is         error
	}{
		"a line that is too long": {header + "\n[\"users\", \"" + strings.Repeat("x", transfer.MaxLine) + "\"]\n", "line 2 has more than 32 MiB", transfer.ErrRow},
		"nothing but commas":      {header + "\n[\"users\"" + strings.Repeat(",0", transfer.MaxLine/4) + "]\n", "", transfer.ErrCutOff},
		"a header of commas":      {strings.TrimSuffix(header, "}") + `,"former":[""` + strings.Repeat(`,""`, 1<<20) + "]}\n", "", transfer.ErrCutOff},
		"a list in a column":      {f.with("api_keys", "", "allowed_ips", "["+strings.Repeat(`"",`, 1<<20)+`""]`), "allowed_ips of api_keys must have at most 1048576 bytes", transfer.ErrRow},
		"a map in a column":       {f.with("users", member, "attributes", mapOf(t, 200_000)), "attributes of users must have at most 1048576 bytes", transfer.ErrRow},
		"a job":                   {strings.Join(f.lines[:len(f.lines)-2], "") + `["(jobs)",{"kind":"agent_intake","args":{"company":"` + strings.Repeat("x", 1<<20) + "\"}}]\n", "", transfer.ErrCutOff},
	} {
		_, err := importer(to).Import(system(t), sealed(t, c.file), passphrase)
		require.ErrorIs(t, err, c.is, name)
		require.Contains(t, err.Error(), c.says, name)
	}
}

func mapOf(t *testing.T, n int) string {
	t.Helper()
	m := map[int]string{}
	for i := range n {
		m[i] = ""
	}
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	return string(raw)
}
