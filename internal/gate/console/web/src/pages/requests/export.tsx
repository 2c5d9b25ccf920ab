import { Download } from 'lucide-react';
import { useState } from 'react';
import { sentence, type Fault } from '../../app/fault';
import { t } from '../../app/text';
import { download } from '../../ui/csv';
import { toast } from '../../ui/toast';
import { tableOf, type RequestSearch } from './search';

// most is how many requests a table has.
const most = 100_000;

// Export gives the person a file of all that a list shows, not only of what has been read so far.
export function Export({ search, sort }: { search: RequestSearch; sort: string }) {
  const [busy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    try {
      const answer = await fetch(tableOf(search, sort), { headers: { 'x-requested-with': 'console' }, credentials: 'same-origin' });
      if (!answer.ok) {
        const { error, ...fault } = await answer.json() as Fault & { error: string };
        toast({ text: sentence({ ...fault, code: error, details: [] }), bad: true });
        return;
      }
      const total = Number(answer.headers.get('x-total-count'));
      download('requests.csv', await answer.blob());
      if (total > most) toast({ text: t('The file has the first {n} of {total} requests.', { n: most, total }), bad: true });
    } catch {
      toast({ text: t('The file could not be downloaded. Try again.'), bad: true });
    } finally {
      setBusy(false);
    }
  };
  return <button type="button" className="icon" aria-label={t('Export CSV')} title={t('Export CSV')} disabled={busy} onClick={() => { void act(); }}><Download size={15} aria-hidden /></button>;
}
