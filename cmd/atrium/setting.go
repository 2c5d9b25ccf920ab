package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"

	"atrium/ent/setting"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// The installation's settings.
const (
	settingClock   = "dev_clock_offset"
	settingBaseURL = "base_url"
	settingAuthURL = "auth_url"
	settingCAFile  = "ca_file"
	settingDemo    = "demo"

	settingAnonymous = "anonymous_seed" // seed with which all nodes hash the addresses of anonymous callers
)

// setting returns a setting of the installation; empty when it is not set.
func (c *core) setting(ctx context.Context, name string) (string, error) {
	rows, err := c.store.Reader().Setting.Query().Where(setting.ID(name)).All(principal.System(ctx, "settings belong to the installation"))
	if err != nil {
		return "", fmt.Errorf("read the setting %s: %w", name, err)
	}
	if len(rows) == 0 {
		return "", nil
	}
	return rows[0].Value, nil
}

// set writes a setting of the installation.
func (c *core) set(ctx context.Context, name, value string) error {
	err := c.store.WriteOrRetry(principal.System(ctx, "settings belong to the installation"), func(ctx context.Context, tx *store.Tx) error {
		n, err := tx.Setting.Update().Where(setting.ID(name)).SetValue(value).Save(ctx)
		if err == nil && n == 0 {
			err = tx.Setting.Create().SetID(name).SetValue(value).Exec(ctx)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("write the setting %s: %w", name, err)
	}
	return nil
}

// generatedSetting returns a random secret setting of the installation. The first call generates it.
func (c *core) generatedSetting(ctx context.Context, name string) (value string, err error) {
	err = c.store.WriteOrRetry(principal.System(ctx, "settings belong to the installation"), func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Setting.Query().Where(setting.ID(name)).All(ctx)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			value = rows[0].Value
			return nil
		}
		value = rand.Text()
		return tx.Setting.Create().SetID(name).SetValue(value).Exec(ctx)
	})
	if err != nil {
		return "", fmt.Errorf("draw the setting %s: %w", name, err)
	}
	return value, nil
}

// addresses returns the base and auth URLs that the server last used, or its defaults.
func (c *core) addresses(ctx context.Context) (baseURL, authURL string, err error) {
	if baseURL, err = c.setting(ctx, settingBaseURL); err != nil {
		return "", "", err
	}
	if authURL, err = c.setting(ctx, settingAuthURL); err != nil {
		return "", "", err
	}
	baseURL = cmp.Or(baseURL, "https://127.0.0.1:8443")
	return baseURL, cmp.Or(authURL, baseURL), nil
}
