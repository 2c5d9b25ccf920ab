-- Create "api_keys" table
CREATE TABLE `api_keys` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `hash` blob NOT NULL, `prefix` text NOT NULL, `last4` text NOT NULL, `scopes` json NOT NULL, `test` bool NOT NULL, `allowed_ips` json NULL, `created_by` text NOT NULL, `expires_at` datetime NULL, `revoked_at` datetime NULL, `last_used_at` datetime NULL, `user_id` text NULL, `service_account_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `api_keys_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `api_keys_service_accounts_service_account` FOREIGN KEY (`company_id`, `service_account_id`) REFERENCES `service_accounts` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `api_keys_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "api_keys_hash_key" to table: "api_keys"
CREATE UNIQUE INDEX `api_keys_hash_key` ON `api_keys` (`hash`);
-- Create index "apikey_company_id_created_at_id" to table: "api_keys"
CREATE INDEX `apikey_company_id_created_at_id` ON `api_keys` (`company_id`, `created_at`, `id`);
-- Create "accounts" table
CREATE TABLE `accounts` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `email` text NOT NULL, `password_hash` text NULL, PRIMARY KEY (`id`));
-- Create index "accounts_email_key" to table: "accounts"
CREATE UNIQUE INDEX `accounts_email_key` ON `accounts` (`email`);
-- Create "agents" table
CREATE TABLE `agents` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `type` text NOT NULL, `source` text NOT NULL, `autonomy` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `agents_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "agent_company_id_created_at_id" to table: "agents"
CREATE INDEX `agent_company_id_created_at_id` ON `agents` (`company_id`, `created_at`, `id`);
-- Create "audit_entries" table
CREATE TABLE `audit_entries` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `actor_type` text NOT NULL, `actor_id` text NOT NULL, `actor_name` text NOT NULL, `action` text NOT NULL, `resource_type` text NOT NULL, `resource_id` text NULL, `outcome` text NOT NULL, `ip` text NOT NULL, `user_agent` text NOT NULL, `request_id` text NOT NULL, `changes` json NULL, PRIMARY KEY (`id`), CONSTRAINT `audit_entries_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "auditentry_company_id_created_at_id" to table: "audit_entries"
CREATE INDEX `auditentry_company_id_created_at_id` ON `audit_entries` (`company_id`, `created_at`, `id`);
-- Create index "auditentry_company_id_actor_id_created_at_id" to table: "audit_entries"
CREATE INDEX `auditentry_company_id_actor_id_created_at_id` ON `audit_entries` (`company_id`, `actor_id`, `created_at`, `id`);
-- Create index "auditentry_company_id_action_created_at_id" to table: "audit_entries"
CREATE INDEX `auditentry_company_id_action_created_at_id` ON `audit_entries` (`company_id`, `action`, `created_at`, `id`);
-- Create index "auditentry_company_id_resource_id_created_at_id" to table: "audit_entries"
CREATE INDEX `auditentry_company_id_resource_id_created_at_id` ON `audit_entries` (`company_id`, `resource_id`, `created_at`, `id`);
-- Create index "auditentry_company_id_resource_type_created_at_id" to table: "audit_entries"
CREATE INDEX `auditentry_company_id_resource_type_created_at_id` ON `audit_entries` (`company_id`, `resource_type`, `created_at`, `id`);
-- Create "calendars" table
CREATE TABLE `calendars` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `time_zone` text NOT NULL DEFAULT ('UTC'), `working_hours` json NULL, `holidays` json NULL, PRIMARY KEY (`id`), CONSTRAINT `calendars_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "calendar_company_id_created_at_id" to table: "calendars"
CREATE INDEX `calendar_company_id_created_at_id` ON `calendars` (`company_id`, `created_at`, `id`);
-- Create index "calendars_company_id_id" to table: "calendars"
CREATE UNIQUE INDEX `calendars_company_id_id` ON `calendars` (`company_id`, `id`);
-- Create "companies" table
CREATE TABLE `companies` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `name` text NOT NULL, `slug` text NOT NULL, `plan` text NOT NULL DEFAULT ('free'), `sandbox_of` text NULL, `mfa_required` bool NOT NULL DEFAULT (false), `session_lifetime_minutes` integer NOT NULL DEFAULT (60), `rate_per_minute` integer NULL, `rate_per_day` integer NULL, PRIMARY KEY (`id`));
-- Create index "companies_slug_key" to table: "companies"
CREATE UNIQUE INDEX `companies_slug_key` ON `companies` (`slug`);
-- Create index "companies_sandbox_of_key" to table: "companies"
CREATE UNIQUE INDEX `companies_sandbox_of_key` ON `companies` (`sandbox_of`);
-- Create "credit_entries" table
CREATE TABLE `credit_entries` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `type` text NOT NULL, `amount` integer NOT NULL, `reason` text NOT NULL, `description` text NOT NULL, `invoice_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `credit_entries_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "creditentry_company_id_created_at_id" to table: "credit_entries"
CREATE INDEX `creditentry_company_id_created_at_id` ON `credit_entries` (`company_id`, `created_at`, `id`);
-- Create "events" table
CREATE TABLE `events` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `type` text NOT NULL, `subject_id` text NOT NULL, `payload` json NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `events_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "event_company_id_created_at_id" to table: "events"
CREATE INDEX `event_company_id_created_at_id` ON `events` (`company_id`, `created_at`, `id`);
-- Create index "event_company_id_type_created_at_id" to table: "events"
CREATE INDEX `event_company_id_type_created_at_id` ON `events` (`company_id`, `type`, `created_at`, `id`);
-- Create index "event_company_id_subject_id" to table: "events"
CREATE INDEX `event_company_id_subject_id` ON `events` (`company_id`, `subject_id`);
-- Create "idempotency_keys" table
CREATE TABLE `idempotency_keys` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `caller_id` text NOT NULL, `key` text NOT NULL, `fingerprint` blob NOT NULL, `status` integer NOT NULL, `body` blob NOT NULL, `header` json NULL, PRIMARY KEY (`id`), CONSTRAINT `idempotency_keys_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "idempotencykey_company_id_created_at_id" to table: "idempotency_keys"
CREATE INDEX `idempotencykey_company_id_created_at_id` ON `idempotency_keys` (`company_id`, `created_at`, `id`);
-- Create index "idempotencykey_company_id_caller_id_key" to table: "idempotency_keys"
CREATE UNIQUE INDEX `idempotencykey_company_id_caller_id_key` ON `idempotency_keys` (`company_id`, `caller_id`, `key`);
-- Create index "idempotencykey_created_at" to table: "idempotency_keys"
CREATE INDEX `idempotencykey_created_at` ON `idempotency_keys` (`created_at`);
-- Create "oauth_clients" table
CREATE TABLE `oauth_clients` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `redirect_uris` json NOT NULL, `scopes` json NOT NULL, `confidential` bool NOT NULL DEFAULT (false), `secret_hash` blob NULL, `created_by` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `oauth_clients_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "oauthclient_company_id_created_at_id" to table: "oauth_clients"
CREATE INDEX `oauthclient_company_id_created_at_id` ON `oauth_clients` (`company_id`, `created_at`, `id`);
-- Create "offerings" table
CREATE TABLE `offerings` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `slug` text NOT NULL, `description` text NOT NULL DEFAULT (''), `status` text NOT NULL DEFAULT ('active'), `form` json NULL, `response_minutes` integer NULL, `resolution_minutes` integer NULL, `warn_at_percent` integer NULL, `tags` json NULL, `service_id` text NOT NULL, `workflow_id` text NULL, `calendar_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `offerings_services_service` FOREIGN KEY (`company_id`, `service_id`) REFERENCES `services` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `offerings_workflows_workflow` FOREIGN KEY (`company_id`, `workflow_id`) REFERENCES `workflows` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `offerings_calendars_calendar` FOREIGN KEY (`company_id`, `calendar_id`) REFERENCES `calendars` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `offerings_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "offering_company_id_created_at_id" to table: "offerings"
CREATE INDEX `offering_company_id_created_at_id` ON `offerings` (`company_id`, `created_at`, `id`);
-- Create index "offering_company_id_service_id_slug" to table: "offerings"
CREATE UNIQUE INDEX `offering_company_id_service_id_slug` ON `offerings` (`company_id`, `service_id`, `slug`);
-- Create index "offering_company_id_service_id_created_at_id" to table: "offerings"
CREATE INDEX `offering_company_id_service_id_created_at_id` ON `offerings` (`company_id`, `service_id`, `created_at`, `id`);
-- Create index "offering_company_id_workflow_id" to table: "offerings"
CREATE INDEX `offering_company_id_workflow_id` ON `offerings` (`company_id`, `workflow_id`);
-- Create index "offering_company_id_calendar_id" to table: "offerings"
CREATE INDEX `offering_company_id_calendar_id` ON `offerings` (`company_id`, `calendar_id`);
-- Create index "offerings_company_id_id" to table: "offerings"
CREATE UNIQUE INDEX `offerings_company_id_id` ON `offerings` (`company_id`, `id`);
-- Create "organizations" table
CREATE TABLE `organizations` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `slug` text NOT NULL, `tags` json NULL, `parent_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `organizations_organizations_children` FOREIGN KEY (`parent_id`) REFERENCES `organizations` (`id`) ON DELETE NO ACTION, CONSTRAINT `organizations_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "organization_company_id_created_at_id" to table: "organizations"
CREATE INDEX `organization_company_id_created_at_id` ON `organizations` (`company_id`, `created_at`, `id`);
-- Create index "organization_company_id_slug" to table: "organizations"
CREATE UNIQUE INDEX `organization_company_id_slug` ON `organizations` (`company_id`, `slug`);
-- Create index "organization_company_id_name_id" to table: "organizations"
CREATE INDEX `organization_company_id_name_id` ON `organizations` (`company_id`, `name`, `id`);
-- Create index "organization_company_id_updated_at_id" to table: "organizations"
CREATE INDEX `organization_company_id_updated_at_id` ON `organizations` (`company_id`, `updated_at`, `id`);
-- Create index "organization_company_id_parent_id" to table: "organizations"
CREATE INDEX `organization_company_id_parent_id` ON `organizations` (`company_id`, `parent_id`);
-- Create index "organizations_company_id_id" to table: "organizations"
CREATE UNIQUE INDEX `organizations_company_id_id` ON `organizations` (`company_id`, `id`);
-- Create "rate_counts" table
CREATE TABLE `rate_counts` (`id` text NOT NULL, `day` text NOT NULL, `count` integer NOT NULL, PRIMARY KEY (`id`));
-- Create "requests" table
CREATE TABLE `requests` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `title` text NOT NULL, `description` text NOT NULL DEFAULT (''), `status` text NOT NULL DEFAULT ('PENDING'), `priority` text NOT NULL DEFAULT ('MEDIUM'), `priority_rank` integer NOT NULL DEFAULT (2), `fields` json NULL, `tags` json NULL, `created_by` text NOT NULL, `accepted_at` datetime NULL, `completed_at` datetime NULL, `cancelled_at` datetime NULL, `service_id` text NOT NULL, `offering_id` text NOT NULL, `assignee_id` text NULL, `team_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `requests_services_service` FOREIGN KEY (`company_id`, `service_id`) REFERENCES `services` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `requests_offerings_offering` FOREIGN KEY (`company_id`, `offering_id`) REFERENCES `offerings` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `requests_users_assignee` FOREIGN KEY (`company_id`, `assignee_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `requests_teams_team` FOREIGN KEY (`company_id`, `team_id`) REFERENCES `teams` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `requests_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "request_company_id_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_created_at_id` ON `requests` (`company_id`, `created_at`, `id`);
-- Create index "request_company_id_status_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_status_created_at_id` ON `requests` (`company_id`, `status`, `created_at`, `id`);
-- Create index "request_company_id_priority_rank_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_priority_rank_created_at_id` ON `requests` (`company_id`, `priority_rank`, `created_at`, `id`);
-- Create index "request_company_id_service_id_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_service_id_created_at_id` ON `requests` (`company_id`, `service_id`, `created_at`, `id`);
-- Create index "request_company_id_offering_id_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_offering_id_created_at_id` ON `requests` (`company_id`, `offering_id`, `created_at`, `id`);
-- Create index "request_company_id_created_by_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_created_by_created_at_id` ON `requests` (`company_id`, `created_by`, `created_at`, `id`);
-- Create index "request_company_id_assignee_id_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_assignee_id_created_at_id` ON `requests` (`company_id`, `assignee_id`, `created_at`, `id`);
-- Create index "request_company_id_team_id_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_team_id_created_at_id` ON `requests` (`company_id`, `team_id`, `created_at`, `id`);
-- Create index "request_company_id_updated_at_id" to table: "requests"
CREATE INDEX `request_company_id_updated_at_id` ON `requests` (`company_id`, `updated_at`, `id`);
-- Create index "request_company_id_title_id" to table: "requests"
CREATE INDEX `request_company_id_title_id` ON `requests` (`company_id`, `title`, `id`);
-- Create "row_counts" table
CREATE TABLE `row_counts` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `company_id` text NOT NULL, `kind` text NOT NULL, `facet` text NOT NULL, `shard` integer NOT NULL, `n` integer NOT NULL, CONSTRAINT `row_counts_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "rowcount_company_id_kind_facet_shard" to table: "row_counts"
CREATE UNIQUE INDEX `rowcount_company_id_kind_facet_shard` ON `row_counts` (`company_id`, `kind`, `facet`, `shard`);
-- Create "secrets" table
CREATE TABLE `secrets` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `description` text NOT NULL DEFAULT (''), `version` integer NOT NULL DEFAULT (1), `sealed` blob NOT NULL, `created_by` text NOT NULL, `last_used_at` datetime NULL, PRIMARY KEY (`id`), CONSTRAINT `secrets_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "secret_company_id_created_at_id" to table: "secrets"
CREATE INDEX `secret_company_id_created_at_id` ON `secrets` (`company_id`, `created_at`, `id`);
-- Create index "secret_company_id_name" to table: "secrets"
CREATE UNIQUE INDEX `secret_company_id_name` ON `secrets` (`company_id`, `name`);
-- Create index "secret_company_id_updated_at_id" to table: "secrets"
CREATE INDEX `secret_company_id_updated_at_id` ON `secrets` (`company_id`, `updated_at`, `id`);
-- Create "services" table
CREATE TABLE `services` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `slug` text NOT NULL, `description` text NOT NULL DEFAULT (''), `status` text NOT NULL DEFAULT ('active'), `tags` json NULL, `owner_team_id` text NULL, `organization_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `services_teams_owner_team` FOREIGN KEY (`company_id`, `owner_team_id`) REFERENCES `teams` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `services_organizations_organization` FOREIGN KEY (`company_id`, `organization_id`) REFERENCES `organizations` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `services_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "service_company_id_created_at_id" to table: "services"
CREATE INDEX `service_company_id_created_at_id` ON `services` (`company_id`, `created_at`, `id`);
-- Create index "service_company_id_slug" to table: "services"
CREATE UNIQUE INDEX `service_company_id_slug` ON `services` (`company_id`, `slug`);
-- Create index "service_company_id_status_created_at_id" to table: "services"
CREATE INDEX `service_company_id_status_created_at_id` ON `services` (`company_id`, `status`, `created_at`, `id`);
-- Create index "service_company_id_name_id" to table: "services"
CREATE INDEX `service_company_id_name_id` ON `services` (`company_id`, `name`, `id`);
-- Create index "service_company_id_updated_at_id" to table: "services"
CREATE INDEX `service_company_id_updated_at_id` ON `services` (`company_id`, `updated_at`, `id`);
-- Create index "service_company_id_owner_team_id" to table: "services"
CREATE INDEX `service_company_id_owner_team_id` ON `services` (`company_id`, `owner_team_id`);
-- Create index "service_company_id_organization_id" to table: "services"
CREATE INDEX `service_company_id_organization_id` ON `services` (`company_id`, `organization_id`);
-- Create index "services_company_id_id" to table: "services"
CREATE UNIQUE INDEX `services_company_id_id` ON `services` (`company_id`, `id`);
-- Create "service_accounts" table
CREATE TABLE `service_accounts` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `role` text NOT NULL DEFAULT ('member'), `live_account_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `service_accounts_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "serviceaccount_company_id_created_at_id" to table: "service_accounts"
CREATE INDEX `serviceaccount_company_id_created_at_id` ON `service_accounts` (`company_id`, `created_at`, `id`);
-- Create index "service_accounts_company_id_id" to table: "service_accounts"
CREATE UNIQUE INDEX `service_accounts_company_id_id` ON `service_accounts` (`company_id`, `id`);
-- Create "settings" table
CREATE TABLE `settings` (`id` text NOT NULL, `value` text NOT NULL, PRIMARY KEY (`id`));
-- Create "signing_keys" table
CREATE TABLE `signing_keys` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `algorithm` text NOT NULL, `private_sealed` blob NOT NULL, `public_jwk` blob NOT NULL, `retired_at` datetime NULL, PRIMARY KEY (`id`));
-- Create "teams" table
CREATE TABLE `teams` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `slug` text NOT NULL, `description` text NOT NULL DEFAULT (''), `organization_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `teams_organizations_organization` FOREIGN KEY (`company_id`, `organization_id`) REFERENCES `organizations` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `teams_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "team_company_id_created_at_id" to table: "teams"
CREATE INDEX `team_company_id_created_at_id` ON `teams` (`company_id`, `created_at`, `id`);
-- Create index "team_company_id_slug" to table: "teams"
CREATE UNIQUE INDEX `team_company_id_slug` ON `teams` (`company_id`, `slug`);
-- Create index "team_company_id_name_id" to table: "teams"
CREATE INDEX `team_company_id_name_id` ON `teams` (`company_id`, `name`, `id`);
-- Create index "team_company_id_updated_at_id" to table: "teams"
CREATE INDEX `team_company_id_updated_at_id` ON `teams` (`company_id`, `updated_at`, `id`);
-- Create index "team_company_id_organization_id" to table: "teams"
CREATE INDEX `team_company_id_organization_id` ON `teams` (`company_id`, `organization_id`);
-- Create index "teams_company_id_id" to table: "teams"
CREATE UNIQUE INDEX `teams_company_id_id` ON `teams` (`company_id`, `id`);
-- Create "team_members" table
CREATE TABLE `team_members` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `team_id` text NOT NULL, `user_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `team_members_teams_team` FOREIGN KEY (`company_id`, `team_id`) REFERENCES `teams` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `team_members_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `team_members_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "teammember_company_id_created_at_id" to table: "team_members"
CREATE INDEX `teammember_company_id_created_at_id` ON `team_members` (`company_id`, `created_at`, `id`);
-- Create index "teammember_company_id_team_id_user_id" to table: "team_members"
CREATE UNIQUE INDEX `teammember_company_id_team_id_user_id` ON `team_members` (`company_id`, `team_id`, `user_id`);
-- Create index "teammember_company_id_user_id" to table: "team_members"
CREATE INDEX `teammember_company_id_user_id` ON `team_members` (`company_id`, `user_id`);
-- Create "users" table
CREATE TABLE `users` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `account_id` text NOT NULL, `live_user_id` text NULL, `email` text NOT NULL, `name` text NOT NULL, `role` text NOT NULL DEFAULT ('member'), `status` text NOT NULL DEFAULT ('active'), `attributes` json NULL, `mfa_enabled` bool NOT NULL DEFAULT (false), `last_seen_at` datetime NULL, PRIMARY KEY (`id`), CONSTRAINT `users_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION, CONSTRAINT `users_account_owner` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ON DELETE NO ACTION);
-- Create index "user_company_id_created_at_id" to table: "users"
CREATE INDEX `user_company_id_created_at_id` ON `users` (`company_id`, `created_at`, `id`);
-- Create index "user_company_id_email" to table: "users"
CREATE UNIQUE INDEX `user_company_id_email` ON `users` (`company_id`, `email`);
-- Create index "user_account_id" to table: "users"
CREATE INDEX `user_account_id` ON `users` (`account_id`);
-- Create index "user_company_id_name_id" to table: "users"
CREATE INDEX `user_company_id_name_id` ON `users` (`company_id`, `name`, `id`);
-- Create index "user_company_id_updated_at_id" to table: "users"
CREATE INDEX `user_company_id_updated_at_id` ON `users` (`company_id`, `updated_at`, `id`);
-- Create index "users_company_id_id" to table: "users"
CREATE UNIQUE INDEX `users_company_id_id` ON `users` (`company_id`, `id`);
-- Create "workflows" table
CREATE TABLE `workflows` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `slug` text NOT NULL, `description` text NOT NULL DEFAULT (''), `status` text NOT NULL DEFAULT ('draft'), `version` integer NOT NULL DEFAULT (0), `definition` json NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `workflows_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "workflow_company_id_created_at_id" to table: "workflows"
CREATE INDEX `workflow_company_id_created_at_id` ON `workflows` (`company_id`, `created_at`, `id`);
-- Create index "workflow_company_id_slug" to table: "workflows"
CREATE UNIQUE INDEX `workflow_company_id_slug` ON `workflows` (`company_id`, `slug`);
-- Create index "workflow_company_id_name_id" to table: "workflows"
CREATE INDEX `workflow_company_id_name_id` ON `workflows` (`company_id`, `name`, `id`);
-- Create index "workflow_company_id_updated_at_id" to table: "workflows"
CREATE INDEX `workflow_company_id_updated_at_id` ON `workflows` (`company_id`, `updated_at`, `id`);
-- Create index "workflows_company_id_id" to table: "workflows"
CREATE UNIQUE INDEX `workflows_company_id_id` ON `workflows` (`company_id`, `id`);
