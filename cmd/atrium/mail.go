package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"atrium/internal/desk/attachment"
	"atrium/internal/notify/inmail"
	"atrium/internal/notify/mailbox"
	"atrium/internal/platform/ratelimit"
)

type mailDeliverCmd struct {
	dataFlags
	jsonFlag
	File  string   `arg:"" help:"The message (.eml)." type:"existingfile"`
	To    []string `help:"Addresses that it is delivered to (default: those in the message)."`
	Vouch bool     `help:"Its sender is who it says: nothing is checked."`
}

// Run keeps the message, which a running server then works.
func (m *mailDeliverCmd) Run(ctx context.Context) (err error) {
	file, err := os.Open(m.File)
	if err != nil {
		return fmt.Errorf("open the message: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(file, inmail.MaxSize+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	c, err := m.openExisting(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	stored, err := m.files(ctx)
	if err != nil {
		return err
	}
	depot := attachment.NewDepot(attachment.Depot{Engine: c.engine, Files: stored, Spool: m.spoolDir(), Log: c.log})
	post := mailbox.NewPost(mailbox.Post{Depot: depot, Queue: c.queue, Bytes: ratelimit.NewBytes(ratelimit.NewMemory())})
	ids, err := post.DeliverFile(ctx, raw, m.To, m.Vouch)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return errors.New("the message is written to no mailbox; name one by --to")
	}
	return m.print(map[string]any{"ids": ids}, "kept as "+strings.Join(ids, ", "))
}
