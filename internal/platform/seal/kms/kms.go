package kms

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	vault "github.com/hashicorp/vault/api"
	"github.com/tink-crypto/tink-go-awskms/v3/integration/awskms"
	"github.com/tink-crypto/tink-go-hcvault/v2/integration/hcvault"
	"github.com/tink-crypto/tink-go/v2/core/registry"

	"atrium/internal/platform/seal"
)

// Connect returns the client for a URI of HashiCorp Vault (hcvault://…) or AWS (aws-kms://…), and a function that closes it.
func Connect(ctx context.Context, uri string) (client registry.KMSClient, closeClient func(), err error) {
	switch {
	case strings.HasPrefix(uri, "hcvault://"):
		return vaultClient(uri)
	case strings.HasPrefix(uri, "aws-kms://"):
		client, err = awskms.NewClientWithOptions(ctx, uri)
		return client, func() {}, err
	}
	return nil, nil, errors.New("the URI is not hcvault://… or aws-kms://…")
}

// vaultClient returns a client for Vault's transit engine, configured by Vault's own environment variables.
func vaultClient(uri string) (registry.KMSClient, func(), error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, nil, errors.New("the URI is malformed") // the error of package url contains the URI
	}
	config := vault.DefaultConfig()
	if config.Error != nil {
		return nil, nil, fmt.Errorf("reading VAULT_…: %w", config.Error)
	}
	if u.Host != "" {
		config.Address = "https://" + u.Host
	}
	if config.Timeout <= 0 || config.Timeout > seal.KMSTimeout { // 0 means no limit
		config.Timeout = seal.KMSTimeout
	}
	api, err := vault.NewClient(config)
	if err != nil {
		return nil, nil, err
	}
	client, err := hcvault.NewClientWithAEADOptions(uri, api.Logical())
	return client, config.HttpClient.CloseIdleConnections, err
}
