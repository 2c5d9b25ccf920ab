-- Create "throttles" table
CREATE TABLE "throttles" ("id" character varying NOT NULL, "failures" bigint NOT NULL, "blocked_until" timestamptz NULL, "expires_at" timestamptz NOT NULL, PRIMARY KEY ("id"));
-- Create index "throttle_expires_at" to table: "throttles"
CREATE INDEX "throttle_expires_at" ON "throttles" ("expires_at");
-- Modify "companies" table
ALTER TABLE "companies" ADD COLUMN "jit_users" boolean NOT NULL DEFAULT false;
-- Create "auth_requests" table
CREATE TABLE "auth_requests" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "client_id" character varying NOT NULL, "redirect_uri" character varying NOT NULL, "scopes" jsonb NOT NULL, "state" character varying NOT NULL DEFAULT '', "nonce" character varying NOT NULL DEFAULT '', "response_mode" character varying NOT NULL DEFAULT '', "code_challenge" character varying NOT NULL, "prompt" jsonb NULL, "max_age" bigint NULL, "login_hint" character varying NOT NULL DEFAULT '', "browser_hash" bytea NULL, "sign_in_id" character varying NULL, "tenant_id" character varying NULL, "user_id" character varying NULL, "methods" jsonb NULL, "authenticated_at" timestamptz NULL, "done" boolean NOT NULL DEFAULT false, "code_hash" bytea NULL, "code_used_at" timestamptz NULL, "grant_id" character varying NULL, "expires_at" timestamptz NOT NULL, PRIMARY KEY ("id"));
-- Create index "auth_requests_code_hash_key" to table: "auth_requests"
CREATE UNIQUE INDEX "auth_requests_code_hash_key" ON "auth_requests" ("code_hash");
-- Create index "authrequest_expires_at" to table: "auth_requests"
CREATE INDEX "authrequest_expires_at" ON "auth_requests" ("expires_at");
-- Modify "oauth_clients" table
ALTER TABLE "oauth_clients" ADD COLUMN "post_logout_redirect_uris" jsonb NULL, ADD COLUMN "backchannel_logout_uri" character varying NULL;
-- Create index "oauth_clients_company_id_id" to table: "oauth_clients"
CREATE UNIQUE INDEX "oauth_clients_company_id_id" ON "oauth_clients" ("company_id", "id");
-- Modify "users" table
ALTER TABLE "users" ADD COLUMN "signed_out_at" timestamptz NULL;
-- Create "consents" table
CREATE TABLE "consents" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "scopes" jsonb NOT NULL, "user_id" character varying NOT NULL, "client_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "consents_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "consents_oauth_clients_client" FOREIGN KEY ("company_id", "client_id") REFERENCES "oauth_clients" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "consents_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "consent_company_id_user_id_client_id" to table: "consents"
CREATE UNIQUE INDEX "consent_company_id_user_id_client_id" ON "consents" ("company_id", "user_id", "client_id");
-- Create "external_identities" table
CREATE TABLE "external_identities" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "issuer" character varying NOT NULL, "subject" character varying NOT NULL, "user_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "external_identities_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "external_identities_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "externalidentity_company_id_issuer_subject" to table: "external_identities"
CREATE UNIQUE INDEX "externalidentity_company_id_issuer_subject" ON "external_identities" ("company_id", "issuer", "subject");
-- Modify "accounts" table
ALTER TABLE "accounts" ADD COLUMN "password_changed_at" timestamptz NULL;
-- Create "factors" table
CREATE TABLE "factors" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "account_id" character varying NOT NULL, "kind" character varying NOT NULL, "name" character varying NOT NULL, "secret_sealed" bytea NULL, "credential_id" bytea NULL, "credential" bytea NULL, "last_step" bigint NOT NULL DEFAULT 0, "last_used_at" timestamptz NULL, PRIMARY KEY ("id"), CONSTRAINT "factors_account_owner" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "factor_account_id_kind" to table: "factors"
CREATE INDEX "factor_account_id_kind" ON "factors" ("account_id", "kind");
-- Create index "factors_credential_id_key" to table: "factors"
CREATE UNIQUE INDEX "factors_credential_id_key" ON "factors" ("credential_id");
-- Create "grants" table
CREATE TABLE "grants" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "client_id" character varying NOT NULL, "sign_in_id" character varying NOT NULL, "scopes" jsonb NOT NULL, "methods" jsonb NOT NULL, "authenticated_at" timestamptz NOT NULL, "expires_at" timestamptz NOT NULL, "revoked_at" timestamptz NULL, "user_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "grants_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "grants_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "grant_company_id_client_id" to table: "grants"
CREATE INDEX "grant_company_id_client_id" ON "grants" ("company_id", "client_id");
-- Create index "grant_company_id_created_at_id" to table: "grants"
CREATE INDEX "grant_company_id_created_at_id" ON "grants" ("company_id", "created_at", "id");
-- Create index "grant_company_id_user_id" to table: "grants"
CREATE INDEX "grant_company_id_user_id" ON "grants" ("company_id", "user_id");
-- Create index "grant_expires_at" to table: "grants"
CREATE INDEX "grant_expires_at" ON "grants" ("expires_at");
-- Create index "grant_sign_in_id" to table: "grants"
CREATE INDEX "grant_sign_in_id" ON "grants" ("sign_in_id");
-- Create index "grants_company_id_id" to table: "grants"
CREATE UNIQUE INDEX "grants_company_id_id" ON "grants" ("company_id", "id");
-- Create "mailed_links" table
CREATE TABLE "mailed_links" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "kind" character varying NOT NULL, "token_hash" bytea NOT NULL, "account_id" character varying NULL, "user_id" character varying NULL, "data" jsonb NULL, "expires_at" timestamptz NOT NULL, "used_at" timestamptz NULL, PRIMARY KEY ("id"), CONSTRAINT "mailed_links_account_owner" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "mailed_links_token_hash_key" to table: "mailed_links"
CREATE UNIQUE INDEX "mailed_links_token_hash_key" ON "mailed_links" ("token_hash");
-- Create index "mailedlink_account_id_kind" to table: "mailed_links"
CREATE INDEX "mailedlink_account_id_kind" ON "mailed_links" ("account_id", "kind");
-- Create index "mailedlink_expires_at" to table: "mailed_links"
CREATE INDEX "mailedlink_expires_at" ON "mailed_links" ("expires_at");
-- Create index "mailedlink_user_id" to table: "mailed_links"
CREATE INDEX "mailedlink_user_id" ON "mailed_links" ("user_id");
-- Create "recovery_codes" table
CREATE TABLE "recovery_codes" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "account_id" character varying NOT NULL, "hash" bytea NOT NULL, "used_at" timestamptz NULL, PRIMARY KEY ("id"), CONSTRAINT "recovery_codes_account_owner" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "recoverycode_account_id_hash" to table: "recovery_codes"
CREATE UNIQUE INDEX "recoverycode_account_id_hash" ON "recovery_codes" ("account_id", "hash");
-- Create "refresh_tokens" table
CREATE TABLE "refresh_tokens" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "hash" bytea NOT NULL, "used_at" timestamptz NULL, "expires_at" timestamptz NOT NULL, "grant_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "refresh_tokens_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "refresh_tokens_grants_grant" FOREIGN KEY ("company_id", "grant_id") REFERENCES "grants" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "refresh_tokens_hash_key" to table: "refresh_tokens"
CREATE UNIQUE INDEX "refresh_tokens_hash_key" ON "refresh_tokens" ("hash");
-- Create index "refreshtoken_company_id_grant_id" to table: "refresh_tokens"
CREATE INDEX "refreshtoken_company_id_grant_id" ON "refresh_tokens" ("company_id", "grant_id");
-- Create index "refreshtoken_expires_at" to table: "refresh_tokens"
CREATE INDEX "refreshtoken_expires_at" ON "refresh_tokens" ("expires_at");
-- Create "sessions" table
CREATE TABLE "sessions" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "sign_in_id" character varying NOT NULL DEFAULT '', "grant_id" character varying NOT NULL DEFAULT '', "token_hash" bytea NOT NULL, "sandbox" boolean NOT NULL DEFAULT false, "methods" jsonb NOT NULL, "authenticated_at" timestamptz NOT NULL, "last_seen_at" timestamptz NOT NULL, "expires_at" timestamptz NOT NULL, "ended_at" timestamptz NULL, "ip" character varying NOT NULL DEFAULT '', "user_agent" character varying NOT NULL DEFAULT '', "user_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "sessions_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "sessions_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "session_company_id_created_at_id" to table: "sessions"
CREATE INDEX "session_company_id_created_at_id" ON "sessions" ("company_id", "created_at", "id");
-- Create index "session_company_id_user_id" to table: "sessions"
CREATE INDEX "session_company_id_user_id" ON "sessions" ("company_id", "user_id");
-- Create index "session_expires_at" to table: "sessions"
CREATE INDEX "session_expires_at" ON "sessions" ("expires_at");
-- Create index "session_grant_id" to table: "sessions"
CREATE INDEX "session_grant_id" ON "sessions" ("grant_id");
-- Create index "session_sign_in_id" to table: "sessions"
CREATE INDEX "session_sign_in_id" ON "sessions" ("sign_in_id");
-- Create index "sessions_token_hash_key" to table: "sessions"
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions" ("token_hash");
-- Create "sign_ins" table
CREATE TABLE "sign_ins" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "account_id" character varying NOT NULL, "token_hash" bytea NOT NULL, "methods" jsonb NOT NULL, "authenticated_at" timestamptz NOT NULL, "completed_at" timestamptz NULL, "pending" bytea NULL, "expires_at" timestamptz NOT NULL, "ended_at" timestamptz NULL, "ip" character varying NOT NULL DEFAULT '', "user_agent" character varying NOT NULL DEFAULT '', PRIMARY KEY ("id"), CONSTRAINT "sign_ins_account_owner" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "sign_ins_token_hash_key" to table: "sign_ins"
CREATE UNIQUE INDEX "sign_ins_token_hash_key" ON "sign_ins" ("token_hash");
-- Create index "signin_account_id" to table: "sign_ins"
CREATE INDEX "signin_account_id" ON "sign_ins" ("account_id");
-- Create index "signin_expires_at" to table: "sign_ins"
CREATE INDEX "signin_expires_at" ON "sign_ins" ("expires_at");
