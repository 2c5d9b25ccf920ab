import { t } from '../../app/text';
import type { MailboxFullFragment } from '../../gen/types';
import { Badge } from '../../ui/bits';

// BoxState is whether a mailbox takes mail.
export function BoxState({ of: b }: { of: MailboxFullFragment }) {
  if (b.enabled && b.fault) return <Badge value="WARNING">{t('Cannot be fetched')}</Badge>;
  return <Badge value={b.enabled ? 'enabled' : 'disabled'} />;
}
