-- Offerings with targets that said nothing of warnings warned nobody, and go on so: from now on what is not said is 80 percent.
UPDATE offerings SET warn_at_percent = 0
WHERE warn_at_percent IS NULL AND (response_minutes IS NOT NULL OR resolution_minutes IS NOT NULL OR sla_by_priority IS NOT NULL);
