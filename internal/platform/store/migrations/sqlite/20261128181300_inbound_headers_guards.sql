-- Webhooks from before keep what they kept, all headers but known credentials: their workflows may read any of them.
UPDATE inbound_webhooks SET headers = '["*"]';
