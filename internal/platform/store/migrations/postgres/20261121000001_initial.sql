-- Create "settings" table
CREATE TABLE "settings" ("id" character varying NOT NULL, "value" character varying NOT NULL, PRIMARY KEY ("id"));
-- Create "rate_counts" table
CREATE TABLE "rate_counts" ("id" character varying NOT NULL, "day" character varying NOT NULL, "count" bigint NOT NULL, PRIMARY KEY ("id"));
-- Create "companies" table
CREATE TABLE "companies" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "name" character varying NOT NULL, "slug" character varying NOT NULL, "plan" character varying NOT NULL DEFAULT 'free', "sandbox_of" character varying NULL, "mfa_required" boolean NOT NULL DEFAULT false, "session_lifetime_minutes" bigint NOT NULL DEFAULT 60, "rate_per_minute" bigint NULL, "rate_per_day" bigint NULL, PRIMARY KEY ("id"));
-- Create index "companies_sandbox_of_key" to table: "companies"
CREATE UNIQUE INDEX "companies_sandbox_of_key" ON "companies" ("sandbox_of");
-- Create index "companies_slug_key" to table: "companies"
CREATE UNIQUE INDEX "companies_slug_key" ON "companies" ("slug");
-- Create "signing_keys" table
CREATE TABLE "signing_keys" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "algorithm" character varying NOT NULL, "private_sealed" bytea NOT NULL, "public_jwk" bytea NOT NULL, "retired_at" timestamptz NULL, PRIMARY KEY ("id"));
-- Create "agents" table
CREATE TABLE "agents" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "type" character varying NOT NULL, "source" character varying NOT NULL, "autonomy" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "agents_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "agent_company_id_created_at_id" to table: "agents"
CREATE INDEX "agent_company_id_created_at_id" ON "agents" ("company_id", "created_at", "id");
-- Create "service_accounts" table
CREATE TABLE "service_accounts" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "role" character varying NOT NULL DEFAULT 'member', "live_account_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "service_accounts_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "service_accounts_company_id_id" to table: "service_accounts"
CREATE UNIQUE INDEX "service_accounts_company_id_id" ON "service_accounts" ("company_id", "id");
-- Create index "serviceaccount_company_id_created_at_id" to table: "service_accounts"
CREATE INDEX "serviceaccount_company_id_created_at_id" ON "service_accounts" ("company_id", "created_at", "id");
-- Create "accounts" table
CREATE TABLE "accounts" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "email" character varying NOT NULL, "password_hash" character varying NULL, PRIMARY KEY ("id"));
-- Create index "accounts_email_key" to table: "accounts"
CREATE UNIQUE INDEX "accounts_email_key" ON "accounts" ("email");
-- Create "users" table
CREATE TABLE "users" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "account_id" character varying NOT NULL, "live_user_id" character varying NULL, "email" character varying NOT NULL, "name" character varying NOT NULL, "role" character varying NOT NULL DEFAULT 'member', "status" character varying NOT NULL DEFAULT 'active', "attributes" jsonb NULL, "mfa_enabled" boolean NOT NULL DEFAULT false, "last_seen_at" timestamptz NULL, PRIMARY KEY ("id"), CONSTRAINT "users_account_owner" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "users_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "user_account_id" to table: "users"
CREATE INDEX "user_account_id" ON "users" ("account_id");
-- Create index "user_company_id_created_at_id" to table: "users"
CREATE INDEX "user_company_id_created_at_id" ON "users" ("company_id", "created_at", "id");
-- Create index "user_company_id_email" to table: "users"
CREATE UNIQUE INDEX "user_company_id_email" ON "users" ("company_id", "email");
-- Create index "user_company_id_name_id" to table: "users"
CREATE INDEX "user_company_id_name_id" ON "users" ("company_id", "name", "id");
-- Create index "user_company_id_updated_at_id" to table: "users"
CREATE INDEX "user_company_id_updated_at_id" ON "users" ("company_id", "updated_at", "id");
-- Create index "users_company_id_id" to table: "users"
CREATE UNIQUE INDEX "users_company_id_id" ON "users" ("company_id", "id");
-- Create "api_keys" table
CREATE TABLE "api_keys" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "hash" bytea NOT NULL, "prefix" character varying NOT NULL, "last4" character varying NOT NULL, "scopes" jsonb NOT NULL, "test" boolean NOT NULL, "allowed_ips" jsonb NULL, "created_by" character varying NOT NULL, "expires_at" timestamptz NULL, "revoked_at" timestamptz NULL, "last_used_at" timestamptz NULL, "user_id" character varying NULL, "service_account_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "api_keys_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "api_keys_service_accounts_service_account" FOREIGN KEY ("company_id", "service_account_id") REFERENCES "service_accounts" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "api_keys_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "api_keys_hash_key" to table: "api_keys"
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys" ("hash");
-- Create index "apikey_company_id_created_at_id" to table: "api_keys"
CREATE INDEX "apikey_company_id_created_at_id" ON "api_keys" ("company_id", "created_at", "id");
-- Create "audit_entries" table
CREATE TABLE "audit_entries" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "actor_type" character varying NOT NULL, "actor_id" character varying NOT NULL, "actor_name" character varying NOT NULL, "action" character varying NOT NULL, "resource_type" character varying NOT NULL, "resource_id" character varying NULL, "outcome" character varying NOT NULL, "ip" character varying NOT NULL, "user_agent" character varying NOT NULL, "request_id" character varying NOT NULL, "changes" jsonb NULL, PRIMARY KEY ("id"), CONSTRAINT "audit_entries_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "auditentry_company_id_action_created_at_id" to table: "audit_entries"
CREATE INDEX "auditentry_company_id_action_created_at_id" ON "audit_entries" ("company_id", "action", "created_at", "id");
-- Create index "auditentry_company_id_actor_id_created_at_id" to table: "audit_entries"
CREATE INDEX "auditentry_company_id_actor_id_created_at_id" ON "audit_entries" ("company_id", "actor_id", "created_at", "id");
-- Create index "auditentry_company_id_created_at_id" to table: "audit_entries"
CREATE INDEX "auditentry_company_id_created_at_id" ON "audit_entries" ("company_id", "created_at", "id");
-- Create index "auditentry_company_id_resource_id_created_at_id" to table: "audit_entries"
CREATE INDEX "auditentry_company_id_resource_id_created_at_id" ON "audit_entries" ("company_id", "resource_id", "created_at", "id");
-- Create index "auditentry_company_id_resource_type_created_at_id" to table: "audit_entries"
CREATE INDEX "auditentry_company_id_resource_type_created_at_id" ON "audit_entries" ("company_id", "resource_type", "created_at", "id");
-- Create "calendars" table
CREATE TABLE "calendars" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "time_zone" character varying NOT NULL DEFAULT 'UTC', "working_hours" jsonb NULL, "holidays" jsonb NULL, PRIMARY KEY ("id"), CONSTRAINT "calendars_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "calendar_company_id_created_at_id" to table: "calendars"
CREATE INDEX "calendar_company_id_created_at_id" ON "calendars" ("company_id", "created_at", "id");
-- Create index "calendars_company_id_id" to table: "calendars"
CREATE UNIQUE INDEX "calendars_company_id_id" ON "calendars" ("company_id", "id");
-- Create "credit_entries" table
CREATE TABLE "credit_entries" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "type" character varying NOT NULL, "amount" bigint NOT NULL, "reason" character varying NOT NULL, "description" character varying NOT NULL, "invoice_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "credit_entries_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "creditentry_company_id_created_at_id" to table: "credit_entries"
CREATE INDEX "creditentry_company_id_created_at_id" ON "credit_entries" ("company_id", "created_at", "id");
-- Create "events" table
CREATE TABLE "events" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "type" character varying NOT NULL, "subject_id" character varying NOT NULL, "payload" jsonb NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "events_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "event_company_id_created_at_id" to table: "events"
CREATE INDEX "event_company_id_created_at_id" ON "events" ("company_id", "created_at", "id");
-- Create index "event_company_id_subject_id" to table: "events"
CREATE INDEX "event_company_id_subject_id" ON "events" ("company_id", "subject_id");
-- Create index "event_company_id_type_created_at_id" to table: "events"
CREATE INDEX "event_company_id_type_created_at_id" ON "events" ("company_id", "type", "created_at", "id");
-- Create "idempotency_keys" table
CREATE TABLE "idempotency_keys" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "caller_id" character varying NOT NULL, "key" character varying NOT NULL, "fingerprint" bytea NOT NULL, "status" bigint NOT NULL, "body" bytea NOT NULL, "header" jsonb NULL, PRIMARY KEY ("id"), CONSTRAINT "idempotency_keys_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "idempotencykey_company_id_caller_id_key" to table: "idempotency_keys"
CREATE UNIQUE INDEX "idempotencykey_company_id_caller_id_key" ON "idempotency_keys" ("company_id", "caller_id", "key");
-- Create index "idempotencykey_company_id_created_at_id" to table: "idempotency_keys"
CREATE INDEX "idempotencykey_company_id_created_at_id" ON "idempotency_keys" ("company_id", "created_at", "id");
-- Create index "idempotencykey_created_at" to table: "idempotency_keys"
CREATE INDEX "idempotencykey_created_at" ON "idempotency_keys" ("created_at");
-- Create "oauth_clients" table
CREATE TABLE "oauth_clients" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "redirect_uris" jsonb NOT NULL, "scopes" jsonb NOT NULL, "confidential" boolean NOT NULL DEFAULT false, "secret_hash" bytea NULL, "created_by" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "oauth_clients_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "oauthclient_company_id_created_at_id" to table: "oauth_clients"
CREATE INDEX "oauthclient_company_id_created_at_id" ON "oauth_clients" ("company_id", "created_at", "id");
-- Create "organizations" table
CREATE TABLE "organizations" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "slug" character varying NOT NULL, "tags" jsonb NULL, "parent_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "organizations_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "organizations_organizations_children" FOREIGN KEY ("parent_id") REFERENCES "organizations" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "organization_company_id_created_at_id" to table: "organizations"
CREATE INDEX "organization_company_id_created_at_id" ON "organizations" ("company_id", "created_at", "id");
-- Create index "organization_company_id_name_id" to table: "organizations"
CREATE INDEX "organization_company_id_name_id" ON "organizations" ("company_id", "name", "id");
-- Create index "organization_company_id_parent_id" to table: "organizations"
CREATE INDEX "organization_company_id_parent_id" ON "organizations" ("company_id", "parent_id");
-- Create index "organization_company_id_slug" to table: "organizations"
CREATE UNIQUE INDEX "organization_company_id_slug" ON "organizations" ("company_id", "slug");
-- Create index "organization_company_id_updated_at_id" to table: "organizations"
CREATE INDEX "organization_company_id_updated_at_id" ON "organizations" ("company_id", "updated_at", "id");
-- Create index "organizations_company_id_id" to table: "organizations"
CREATE UNIQUE INDEX "organizations_company_id_id" ON "organizations" ("company_id", "id");
-- Create "teams" table
CREATE TABLE "teams" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "slug" character varying NOT NULL, "description" character varying NOT NULL DEFAULT '', "organization_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "teams_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "teams_organizations_organization" FOREIGN KEY ("company_id", "organization_id") REFERENCES "organizations" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "team_company_id_created_at_id" to table: "teams"
CREATE INDEX "team_company_id_created_at_id" ON "teams" ("company_id", "created_at", "id");
-- Create index "team_company_id_name_id" to table: "teams"
CREATE INDEX "team_company_id_name_id" ON "teams" ("company_id", "name", "id");
-- Create index "team_company_id_organization_id" to table: "teams"
CREATE INDEX "team_company_id_organization_id" ON "teams" ("company_id", "organization_id");
-- Create index "team_company_id_slug" to table: "teams"
CREATE UNIQUE INDEX "team_company_id_slug" ON "teams" ("company_id", "slug");
-- Create index "team_company_id_updated_at_id" to table: "teams"
CREATE INDEX "team_company_id_updated_at_id" ON "teams" ("company_id", "updated_at", "id");
-- Create index "teams_company_id_id" to table: "teams"
CREATE UNIQUE INDEX "teams_company_id_id" ON "teams" ("company_id", "id");
-- Create "services" table
CREATE TABLE "services" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "slug" character varying NOT NULL, "description" character varying NOT NULL DEFAULT '', "status" character varying NOT NULL DEFAULT 'active', "tags" jsonb NULL, "owner_team_id" character varying NULL, "organization_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "services_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "services_organizations_organization" FOREIGN KEY ("company_id", "organization_id") REFERENCES "organizations" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "services_teams_owner_team" FOREIGN KEY ("company_id", "owner_team_id") REFERENCES "teams" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "service_company_id_created_at_id" to table: "services"
CREATE INDEX "service_company_id_created_at_id" ON "services" ("company_id", "created_at", "id");
-- Create index "service_company_id_name_id" to table: "services"
CREATE INDEX "service_company_id_name_id" ON "services" ("company_id", "name", "id");
-- Create index "service_company_id_organization_id" to table: "services"
CREATE INDEX "service_company_id_organization_id" ON "services" ("company_id", "organization_id");
-- Create index "service_company_id_owner_team_id" to table: "services"
CREATE INDEX "service_company_id_owner_team_id" ON "services" ("company_id", "owner_team_id");
-- Create index "service_company_id_slug" to table: "services"
CREATE UNIQUE INDEX "service_company_id_slug" ON "services" ("company_id", "slug");
-- Create index "service_company_id_status_created_at_id" to table: "services"
CREATE INDEX "service_company_id_status_created_at_id" ON "services" ("company_id", "status", "created_at", "id");
-- Create index "service_company_id_updated_at_id" to table: "services"
CREATE INDEX "service_company_id_updated_at_id" ON "services" ("company_id", "updated_at", "id");
-- Create index "services_company_id_id" to table: "services"
CREATE UNIQUE INDEX "services_company_id_id" ON "services" ("company_id", "id");
-- Create "workflows" table
CREATE TABLE "workflows" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "slug" character varying NOT NULL, "description" character varying NOT NULL DEFAULT '', "status" character varying NOT NULL DEFAULT 'draft', "version" bigint NOT NULL DEFAULT 0, "definition" json NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "workflows_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "workflow_company_id_created_at_id" to table: "workflows"
CREATE INDEX "workflow_company_id_created_at_id" ON "workflows" ("company_id", "created_at", "id");
-- Create index "workflow_company_id_name_id" to table: "workflows"
CREATE INDEX "workflow_company_id_name_id" ON "workflows" ("company_id", "name", "id");
-- Create index "workflow_company_id_slug" to table: "workflows"
CREATE UNIQUE INDEX "workflow_company_id_slug" ON "workflows" ("company_id", "slug");
-- Create index "workflow_company_id_updated_at_id" to table: "workflows"
CREATE INDEX "workflow_company_id_updated_at_id" ON "workflows" ("company_id", "updated_at", "id");
-- Create index "workflows_company_id_id" to table: "workflows"
CREATE UNIQUE INDEX "workflows_company_id_id" ON "workflows" ("company_id", "id");
-- Create "offerings" table
CREATE TABLE "offerings" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "slug" character varying NOT NULL, "description" character varying NOT NULL DEFAULT '', "status" character varying NOT NULL DEFAULT 'active', "form" jsonb NULL, "response_minutes" bigint NULL, "resolution_minutes" bigint NULL, "warn_at_percent" bigint NULL, "tags" jsonb NULL, "service_id" character varying NOT NULL, "workflow_id" character varying NULL, "calendar_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "offerings_calendars_calendar" FOREIGN KEY ("company_id", "calendar_id") REFERENCES "calendars" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "offerings_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "offerings_services_service" FOREIGN KEY ("company_id", "service_id") REFERENCES "services" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "offerings_workflows_workflow" FOREIGN KEY ("company_id", "workflow_id") REFERENCES "workflows" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "offering_company_id_calendar_id" to table: "offerings"
CREATE INDEX "offering_company_id_calendar_id" ON "offerings" ("company_id", "calendar_id");
-- Create index "offering_company_id_created_at_id" to table: "offerings"
CREATE INDEX "offering_company_id_created_at_id" ON "offerings" ("company_id", "created_at", "id");
-- Create index "offering_company_id_service_id_created_at_id" to table: "offerings"
CREATE INDEX "offering_company_id_service_id_created_at_id" ON "offerings" ("company_id", "service_id", "created_at", "id");
-- Create index "offering_company_id_service_id_slug" to table: "offerings"
CREATE UNIQUE INDEX "offering_company_id_service_id_slug" ON "offerings" ("company_id", "service_id", "slug");
-- Create index "offering_company_id_workflow_id" to table: "offerings"
CREATE INDEX "offering_company_id_workflow_id" ON "offerings" ("company_id", "workflow_id");
-- Create index "offerings_company_id_id" to table: "offerings"
CREATE UNIQUE INDEX "offerings_company_id_id" ON "offerings" ("company_id", "id");
-- Create "requests" table
CREATE TABLE "requests" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "title" character varying NOT NULL, "description" character varying NOT NULL DEFAULT '', "status" character varying NOT NULL DEFAULT 'PENDING', "priority" character varying NOT NULL DEFAULT 'MEDIUM', "priority_rank" smallint NOT NULL DEFAULT 2, "fields" json NULL, "tags" jsonb NULL, "created_by" character varying NOT NULL, "accepted_at" timestamptz NULL, "completed_at" timestamptz NULL, "cancelled_at" timestamptz NULL, "service_id" character varying NOT NULL, "offering_id" character varying NOT NULL, "assignee_id" character varying NULL, "team_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "requests_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "requests_offerings_offering" FOREIGN KEY ("company_id", "offering_id") REFERENCES "offerings" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "requests_services_service" FOREIGN KEY ("company_id", "service_id") REFERENCES "services" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "requests_teams_team" FOREIGN KEY ("company_id", "team_id") REFERENCES "teams" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "requests_users_assignee" FOREIGN KEY ("company_id", "assignee_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "request_company_id_assignee_id_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_assignee_id_created_at_id" ON "requests" ("company_id", "assignee_id", "created_at", "id");
-- Create index "request_company_id_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_created_at_id" ON "requests" ("company_id", "created_at", "id");
-- Create index "request_company_id_created_by_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_created_by_created_at_id" ON "requests" ("company_id", "created_by", "created_at", "id");
-- Create index "request_company_id_offering_id_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_offering_id_created_at_id" ON "requests" ("company_id", "offering_id", "created_at", "id");
-- Create index "request_company_id_priority_rank_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_priority_rank_created_at_id" ON "requests" ("company_id", "priority_rank", "created_at", "id");
-- Create index "request_company_id_service_id_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_service_id_created_at_id" ON "requests" ("company_id", "service_id", "created_at", "id");
-- Create index "request_company_id_status_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_status_created_at_id" ON "requests" ("company_id", "status", "created_at", "id");
-- Create index "request_company_id_team_id_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_team_id_created_at_id" ON "requests" ("company_id", "team_id", "created_at", "id");
-- Create index "request_company_id_title_id" to table: "requests"
CREATE INDEX "request_company_id_title_id" ON "requests" ("company_id", "title", "id");
-- Create index "request_company_id_updated_at_id" to table: "requests"
CREATE INDEX "request_company_id_updated_at_id" ON "requests" ("company_id", "updated_at", "id");
-- Create "row_counts" table
CREATE TABLE "row_counts" ("id" bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY, "company_id" character varying NOT NULL, "kind" character varying NOT NULL, "facet" character varying NOT NULL, "shard" bigint NOT NULL, "n" bigint NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "row_counts_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "rowcount_company_id_kind_facet_shard" to table: "row_counts"
CREATE UNIQUE INDEX "rowcount_company_id_kind_facet_shard" ON "row_counts" ("company_id", "kind", "facet", "shard");
-- Create "secrets" table
CREATE TABLE "secrets" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "description" character varying NOT NULL DEFAULT '', "version" bigint NOT NULL DEFAULT 1, "sealed" bytea NOT NULL, "created_by" character varying NOT NULL, "last_used_at" timestamptz NULL, PRIMARY KEY ("id"), CONSTRAINT "secrets_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "secret_company_id_created_at_id" to table: "secrets"
CREATE INDEX "secret_company_id_created_at_id" ON "secrets" ("company_id", "created_at", "id");
-- Create index "secret_company_id_name" to table: "secrets"
CREATE UNIQUE INDEX "secret_company_id_name" ON "secrets" ("company_id", "name");
-- Create index "secret_company_id_updated_at_id" to table: "secrets"
CREATE INDEX "secret_company_id_updated_at_id" ON "secrets" ("company_id", "updated_at", "id");
-- Create "team_members" table
CREATE TABLE "team_members" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "team_id" character varying NOT NULL, "user_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "team_members_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "team_members_teams_team" FOREIGN KEY ("company_id", "team_id") REFERENCES "teams" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "team_members_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "teammember_company_id_created_at_id" to table: "team_members"
CREATE INDEX "teammember_company_id_created_at_id" ON "team_members" ("company_id", "created_at", "id");
-- Create index "teammember_company_id_team_id_user_id" to table: "team_members"
CREATE UNIQUE INDEX "teammember_company_id_team_id_user_id" ON "team_members" ("company_id", "team_id", "user_id");
-- Create index "teammember_company_id_user_id" to table: "team_members"
CREATE INDEX "teammember_company_id_user_id" ON "team_members" ("company_id", "user_id");
