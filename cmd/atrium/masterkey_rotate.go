package main

import (
	"errors"

	"atrium/internal/platform/seal"
)

type masterKeyRotateCmd struct {
	dataFlags
	jsonFlag
}

// Run puts a new key into the key file. It opens no database, because the old keys stay in the file and open what was sealed
// before.
func (m *masterKeyRotateCmd) Run() error {
	src := m.masterKey()
	switch {
	case src.KMS != "":
		return errors.New("the master key is in a KMS, which rotates it itself")
	case src.Base64 != "":
		return errors.New("the master key is in $" + masterKeyVariable + ": put a new key (openssl rand -base64 32) in front of it, separated " +
			"by a comma, or rotate the key file that it encodes (--master-key-file); then restart every node")
	case !fileExists(src.File):
		return errNoMasterKey(src.File)
	}
	if err := seal.Rotate(src.File); err != nil {
		return err
	}
	return m.print(map[string]any{"masterKey": map[string]string{"file": src.File}},
		"rotated "+src.File+"; the keys before stay in it, for what they sealed",
		"Copy the file to every node, then restart the nodes: each seals with the new key from its next start.")
}
