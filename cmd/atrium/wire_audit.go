package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/egress"
)

// addAuditLog adds the sealer, which puts audit entries into the logs, and the keeper of checkpoints if the operator wants them.
func (s *server) addAuditLog(ctx context.Context, key *merkle.Key) error {
	sealer := merkle.NewSealer(s.store, s.log)
	if s.AuditCheckpoints != "" {
		roots, err := egress.Roots(s.EgressCA)
		if err != nil {
			return fmt.Errorf("--egress-ca: %w", err)
		}
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute}
		keeper := &merkle.CheckpointWriter{
			Store: s.store, Key: key, Sealer: sealer, To: s.AuditCheckpoints, Log: s.log, HTTP: &http.Client{Transport: transport, Timeout: 10 * time.Second},
		}
		if err := keeper.Open(ctx); err != nil {
			return fmt.Errorf("--audit-checkpoints: %w", err)
		}
		s.add("audit checkpoints", keeper.Run)
	}
	s.add("audit log", sealer.Run)
	return nil
}
