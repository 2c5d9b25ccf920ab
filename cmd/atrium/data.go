package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"atrium/internal/platform/files"
)

// dataFlags say where the database and the keys are. Every command has them.
type dataFlags struct {
	Data          string `default:"./data" help:"Folder of the SQLite file, the certificate and the master key." type:"path"`
	DatabaseURL   string `help:"PostgreSQL 15 or later, as postgres://…; without it, SQLite in the data folder."`
	MasterKeyFile string `help:"File of the key that secrets are sealed under (default: master.key in the data folder). $ATRIUM_MASTER_KEY may hold the key itself, in base64, instead of a file." type:"path"`
	MasterKeyURI  string `help:"Key in a KMS (hcvault://…, aws-kms://…) in place of a file."`
	PolicyDir     string `help:"Folder of the operator's own policies: *.rego in the package atrium.operator. They are read again when they change." type:"path"`
	FilesDir      string `help:"Folder of attached files (default: files in the data folder); several nodes need one that they share, or --files-url." type:"path"`
	FilesURL      string `help:"S3-compatible bucket of attached files in place of a folder: s3://BUCKET/PREFIX?endpoint=URL&region=NAME, with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."`
	LogLevel      string `default:"info" enum:"debug,info,warn,error" help:"Least level that is logged."`

	writeTime time.Duration // time limit of one transaction on PostgreSQL; 0 means the default
	lockTime  time.Duration // time limit of waiting for another process on SQLite; 0 means the default
	readURL   string        // database URL of a replica for reads; empty for none
}

// mustExist returns an error when the flags name no existing SQLite file: a command with a wrong --data must not create a
// database.
func (f dataFlags) mustExist() error {
	if f.DatabaseURL == "" && !fileExists(f.sqliteFile()) {
		return fmt.Errorf("there is no database in %s: check --data; `atrium serve` or `atrium migrate` makes one", f.Data)
	}
	return nil
}

// prepare creates the data folder and, with SQLite, the database file, readable only by its owner. SQLite gives the files that it
// puts beside it the same mode.
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

// sqliteFile is the path of the SQLite database.
func (f dataFlags) sqliteFile() string { return filepath.Join(f.Data, "atrium.db") }

// files returns the store of attached files: the bucket, once it has answered, or the folder.
func (f dataFlags) files(ctx context.Context) (files.Store, error) {
	if f.FilesURL == "" {
		return files.NewFolder(cmp.Or(f.FilesDir, filepath.Join(f.Data, "files"))), nil
	}
	if f.FilesDir != "" {
		return nil, errors.New("--files-dir and --files-url: give one of them")
	}
	b, err := files.NewBucket(f.FilesURL)
	if err == nil {
		err = b.Check(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("--files-url: %w", err)
	}
	return b, nil
}

// spoolDir is the folder of files that are being sent.
func (f dataFlags) spoolDir() string { return filepath.Join(f.Data, "uploads") }

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
