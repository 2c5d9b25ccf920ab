package seal

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
	"github.com/tink-crypto/tink-go/v2/tink"
)

// openKMS returns the AEAD of a key in a KMS, and a function that closes the client. Without client it uses the one for the
// scheme of the URI.
func openKMS(ctx context.Context, uri string, client registry.KMSClient) (tink.AEADWithContext, func(), error) {
	closeClient := func() {}
	var err error
	switch {
	case client != nil:
	case strings.HasPrefix(uri, "hcvault://"):
		client, closeClient, err = vaultClient(uri)
	case strings.HasPrefix(uri, "aws-kms://"):
		client, err = awskms.NewClientWithOptions(ctx, uri)
	default:
		err = errors.New("the URI is not hcvault://… or aws-kms://…")
	}
	if err != nil {
		return nil, nil, err
	}
	remote, err := client.GetAEAD(uri)
	if err != nil {
		closeClient()
		return nil, nil, fmt.Errorf("finding the key: %w", err)
	}
	if m, ok := remote.(tink.AEADWithContext); ok {
		return m, closeClient, nil
	}
	return local{remote}, closeClient, nil // Vault's AEAD ignores contexts: only its client's timeout limits a call
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
	if config.Timeout <= 0 || config.Timeout > unwrapTimeout { // 0 means no limit
		config.Timeout = unwrapTimeout
	}
	api, err := vault.NewClient(config)
	if err != nil {
		return nil, nil, err
	}
	client, err := hcvault.NewClientWithAEADOptions(uri, api.Logical())
	return client, config.HttpClient.CloseIdleConnections, err
}
