-- Add column "password_changed_at" to table: "accounts"
ALTER TABLE `accounts` ADD COLUMN `password_changed_at` datetime NULL;
-- Add column "jit_users" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `jit_users` bool NOT NULL DEFAULT false;
-- Add column "post_logout_redirect_uris" to table: "oauth_clients"
ALTER TABLE `oauth_clients` ADD COLUMN `post_logout_redirect_uris` json NULL;
-- Add column "backchannel_logout_uri" to table: "oauth_clients"
ALTER TABLE `oauth_clients` ADD COLUMN `backchannel_logout_uri` text NULL;
-- Create index "oauth_clients_company_id_id" to table: "oauth_clients"
CREATE UNIQUE INDEX `oauth_clients_company_id_id` ON `oauth_clients` (`company_id`, `id`);
-- Add column "signed_out_at" to table: "users"
ALTER TABLE `users` ADD COLUMN `signed_out_at` datetime NULL;
-- Create "auth_requests" table
CREATE TABLE `auth_requests` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `client_id` text NOT NULL, `redirect_uri` text NOT NULL, `scopes` json NOT NULL, `state` text NOT NULL DEFAULT (''), `nonce` text NOT NULL DEFAULT (''), `response_mode` text NOT NULL DEFAULT (''), `code_challenge` text NOT NULL, `prompt` json NULL, `max_age` integer NULL, `login_hint` text NOT NULL DEFAULT (''), `browser_hash` blob NULL, `sign_in_id` text NULL, `tenant_id` text NULL, `user_id` text NULL, `methods` json NULL, `authenticated_at` datetime NULL, `done` bool NOT NULL DEFAULT (false), `code_hash` blob NULL, `code_used_at` datetime NULL, `grant_id` text NULL, `expires_at` datetime NOT NULL, PRIMARY KEY (`id`));
-- Create index "auth_requests_code_hash_key" to table: "auth_requests"
CREATE UNIQUE INDEX `auth_requests_code_hash_key` ON `auth_requests` (`code_hash`);
-- Create index "authrequest_expires_at" to table: "auth_requests"
CREATE INDEX `authrequest_expires_at` ON `auth_requests` (`expires_at`);
-- Create "consents" table
CREATE TABLE `consents` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `scopes` json NOT NULL, `user_id` text NOT NULL, `client_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `consents_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `consents_oauth_clients_client` FOREIGN KEY (`company_id`, `client_id`) REFERENCES `oauth_clients` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `consents_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "consent_company_id_user_id_client_id" to table: "consents"
CREATE UNIQUE INDEX `consent_company_id_user_id_client_id` ON `consents` (`company_id`, `user_id`, `client_id`);
-- Create "external_identities" table
CREATE TABLE `external_identities` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `issuer` text NOT NULL, `subject` text NOT NULL, `user_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `external_identities_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `external_identities_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "externalidentity_company_id_issuer_subject" to table: "external_identities"
CREATE UNIQUE INDEX `externalidentity_company_id_issuer_subject` ON `external_identities` (`company_id`, `issuer`, `subject`);
-- Create "factors" table
CREATE TABLE `factors` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `account_id` text NOT NULL, `kind` text NOT NULL, `name` text NOT NULL, `secret_sealed` blob NULL, `credential_id` blob NULL, `credential` blob NULL, `last_step` integer NOT NULL DEFAULT (0), `last_used_at` datetime NULL, PRIMARY KEY (`id`), CONSTRAINT `factors_account_owner` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ON DELETE NO ACTION);
-- Create index "factors_credential_id_key" to table: "factors"
CREATE UNIQUE INDEX `factors_credential_id_key` ON `factors` (`credential_id`);
-- Create index "factor_account_id_kind" to table: "factors"
CREATE INDEX `factor_account_id_kind` ON `factors` (`account_id`, `kind`);
-- Create "grants" table
CREATE TABLE `grants` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `client_id` text NOT NULL, `sign_in_id` text NOT NULL, `scopes` json NOT NULL, `methods` json NOT NULL, `authenticated_at` datetime NOT NULL, `expires_at` datetime NOT NULL, `revoked_at` datetime NULL, `user_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `grants_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `grants_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "grant_company_id_created_at_id" to table: "grants"
CREATE INDEX `grant_company_id_created_at_id` ON `grants` (`company_id`, `created_at`, `id`);
-- Create index "grant_company_id_user_id" to table: "grants"
CREATE INDEX `grant_company_id_user_id` ON `grants` (`company_id`, `user_id`);
-- Create index "grant_company_id_client_id" to table: "grants"
CREATE INDEX `grant_company_id_client_id` ON `grants` (`company_id`, `client_id`);
-- Create index "grant_sign_in_id" to table: "grants"
CREATE INDEX `grant_sign_in_id` ON `grants` (`sign_in_id`);
-- Create index "grant_expires_at" to table: "grants"
CREATE INDEX `grant_expires_at` ON `grants` (`expires_at`);
-- Create index "grants_company_id_id" to table: "grants"
CREATE UNIQUE INDEX `grants_company_id_id` ON `grants` (`company_id`, `id`);
-- Create "mailed_links" table
CREATE TABLE `mailed_links` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `kind` text NOT NULL, `token_hash` blob NOT NULL, `account_id` text NULL, `user_id` text NULL, `data` json NULL, `expires_at` datetime NOT NULL, `used_at` datetime NULL, PRIMARY KEY (`id`), CONSTRAINT `mailed_links_account_owner` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ON DELETE NO ACTION);
-- Create index "mailed_links_token_hash_key" to table: "mailed_links"
CREATE UNIQUE INDEX `mailed_links_token_hash_key` ON `mailed_links` (`token_hash`);
-- Create index "mailedlink_account_id_kind" to table: "mailed_links"
CREATE INDEX `mailedlink_account_id_kind` ON `mailed_links` (`account_id`, `kind`);
-- Create index "mailedlink_user_id" to table: "mailed_links"
CREATE INDEX `mailedlink_user_id` ON `mailed_links` (`user_id`);
-- Create index "mailedlink_expires_at" to table: "mailed_links"
CREATE INDEX `mailedlink_expires_at` ON `mailed_links` (`expires_at`);
-- Create "recovery_codes" table
CREATE TABLE `recovery_codes` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `account_id` text NOT NULL, `hash` blob NOT NULL, `used_at` datetime NULL, PRIMARY KEY (`id`), CONSTRAINT `recovery_codes_account_owner` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ON DELETE NO ACTION);
-- Create index "recoverycode_account_id_hash" to table: "recovery_codes"
CREATE UNIQUE INDEX `recoverycode_account_id_hash` ON `recovery_codes` (`account_id`, `hash`);
-- Create "refresh_tokens" table
CREATE TABLE `refresh_tokens` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `hash` blob NOT NULL, `used_at` datetime NULL, `expires_at` datetime NOT NULL, `grant_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `refresh_tokens_grants_grant` FOREIGN KEY (`company_id`, `grant_id`) REFERENCES `grants` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `refresh_tokens_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "refresh_tokens_hash_key" to table: "refresh_tokens"
CREATE UNIQUE INDEX `refresh_tokens_hash_key` ON `refresh_tokens` (`hash`);
-- Create index "refreshtoken_company_id_grant_id" to table: "refresh_tokens"
CREATE INDEX `refreshtoken_company_id_grant_id` ON `refresh_tokens` (`company_id`, `grant_id`);
-- Create index "refreshtoken_expires_at" to table: "refresh_tokens"
CREATE INDEX `refreshtoken_expires_at` ON `refresh_tokens` (`expires_at`);
-- Create "sessions" table
CREATE TABLE `sessions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `sign_in_id` text NOT NULL DEFAULT (''), `grant_id` text NOT NULL DEFAULT (''), `token_hash` blob NOT NULL, `sandbox` bool NOT NULL DEFAULT (false), `methods` json NOT NULL, `authenticated_at` datetime NOT NULL, `last_seen_at` datetime NOT NULL, `expires_at` datetime NOT NULL, `ended_at` datetime NULL, `ip` text NOT NULL DEFAULT (''), `user_agent` text NOT NULL DEFAULT (''), `user_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `sessions_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `sessions_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "sessions_token_hash_key" to table: "sessions"
CREATE UNIQUE INDEX `sessions_token_hash_key` ON `sessions` (`token_hash`);
-- Create index "session_company_id_created_at_id" to table: "sessions"
CREATE INDEX `session_company_id_created_at_id` ON `sessions` (`company_id`, `created_at`, `id`);
-- Create index "session_company_id_user_id" to table: "sessions"
CREATE INDEX `session_company_id_user_id` ON `sessions` (`company_id`, `user_id`);
-- Create index "session_sign_in_id" to table: "sessions"
CREATE INDEX `session_sign_in_id` ON `sessions` (`sign_in_id`);
-- Create index "session_grant_id" to table: "sessions"
CREATE INDEX `session_grant_id` ON `sessions` (`grant_id`);
-- Create index "session_expires_at" to table: "sessions"
CREATE INDEX `session_expires_at` ON `sessions` (`expires_at`);
-- Create "sign_ins" table
CREATE TABLE `sign_ins` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `account_id` text NOT NULL, `token_hash` blob NOT NULL, `methods` json NOT NULL, `authenticated_at` datetime NOT NULL, `completed_at` datetime NULL, `pending` blob NULL, `expires_at` datetime NOT NULL, `ended_at` datetime NULL, `ip` text NOT NULL DEFAULT (''), `user_agent` text NOT NULL DEFAULT (''), PRIMARY KEY (`id`), CONSTRAINT `sign_ins_account_owner` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ON DELETE NO ACTION);
-- Create index "sign_ins_token_hash_key" to table: "sign_ins"
CREATE UNIQUE INDEX `sign_ins_token_hash_key` ON `sign_ins` (`token_hash`);
-- Create index "signin_account_id" to table: "sign_ins"
CREATE INDEX `signin_account_id` ON `sign_ins` (`account_id`);
-- Create index "signin_expires_at" to table: "sign_ins"
CREATE INDEX `signin_expires_at` ON `sign_ins` (`expires_at`);
-- Create "throttles" table
CREATE TABLE `throttles` (`id` text NOT NULL, `failures` integer NOT NULL, `blocked_until` datetime NULL, `expires_at` datetime NOT NULL, PRIMARY KEY (`id`));
-- Create index "throttle_expires_at" to table: "throttles"
CREATE INDEX `throttle_expires_at` ON `throttles` (`expires_at`);
