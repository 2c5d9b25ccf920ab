import { Download } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../app/text';
import { fetched } from '../../parts/fetched';
import { toast } from '../../ui/toast';
import { tableOf, type RequestSearch } from './search';

// most is how many requests a table has.
const most = 100_000;

// Export gives the person a file of all that a list shows, not only of what has been read so far.
export function Export({ search, sort }: { search: RequestSearch; sort: string }) {
  const [busy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    const total = Number((await fetched(tableOf(search, sort), 'requests.csv'))?.get('x-total-count') ?? 0);
    if (total > most) toast({ text: t('The file has the first {n} of {total} requests.', { n: most, total }), bad: true });
    setBusy(false);
  };
  return <button type="button" className="icon" aria-label={t('Export CSV')} title={t('Export CSV')} disabled={busy} onClick={() => { void act(); }}><Download size={15} aria-hidden /></button>;
}
