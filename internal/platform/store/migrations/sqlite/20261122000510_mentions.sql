-- Add column "notifications" to table: "users"
ALTER TABLE `users` ADD COLUMN `notifications` json NULL;
-- Add column "mentioned" to table: "comments"
ALTER TABLE `comments` ADD COLUMN `mentioned` json NULL;
