import { createHmac, timingSafeEqual } from 'node:crypto';

export function verify(secret, headers, body) {
  const sent = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(sent)) <= 300)) return false; // too old: somebody may have kept it
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const ours = createHmac('sha256', key).update(`${headers['webhook-id']}.${sent}.`).update(body).digest('base64');
  const expected = Buffer.from(`v1,${ours}`);
  return headers['webhook-signature'].split(' ').map((one) => Buffer.from(one))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}
