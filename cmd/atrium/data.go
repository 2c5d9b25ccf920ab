package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// dataFlags say where rows and keys are; every command takes them.
type dataFlags struct {
	Data          string `default:"./data" help:"Folder of the SQLite file, the certificate and the master key." type:"path"`
	DatabaseURL   string `help:"PostgreSQL 15 or later, as postgres://…; without it, SQLite in the data folder."`
	MasterKeyFile string `help:"File of the key that secrets are sealed under (default: master.key in the data folder). $ATRIUM_MASTER_KEY may hold the key itself, in base64, instead of a file." type:"path"`
	MasterKeyURI  string `help:"Key in a KMS (hcvault://…, aws-kms://…) in place of a file."`
	PolicyDir     string `help:"Folder of the operator's own policies: *.rego in the package atrium.operator. They are read again when they change." type:"path"`
	LogLevel      string `default:"info" enum:"debug,info,warn,error" help:"Least level that is logged."`

	writeTime time.Duration // of one transaction on PostgreSQL; 0 for the usual one
	readURL   string        // of a replica for reads; empty for none
}

// mustExist returns an error when there is no database where the flags say: a command that is pointed elsewhere by mistake
// must not make one.
func (f dataFlags) mustExist() error {
	if f.DatabaseURL == "" && !fileExists(f.sqliteFile()) {
		return fmt.Errorf("there is no database in %s: check --data; `atrium serve` or `atrium migrate` makes one", f.Data)
	}
	return nil
}

// prepare makes the data folder and, where rows live in it, the file that holds them: readable by nobody else, like
// the files that SQLite puts beside it.
func (f dataFlags) prepare() error {
	if err := os.MkdirAll(f.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if f.DatabaseURL != "" {
		return nil
	}
	file, err := os.OpenFile(f.sqliteFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return file.Close()
}

// sqliteFile is where the store keeps rows without a database URL.
func (f dataFlags) sqliteFile() string { return filepath.Join(f.Data, "atrium.db") }

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
