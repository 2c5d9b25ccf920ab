import { sentence, type Fault } from '../app/fault';
import { t } from '../app/text';
import { download } from '../ui/csv';
import { toast } from '../ui/toast';

// fetched gives the person a file that the server makes, and returns what stands at its head; undefined where there was none, which is said.
export async function fetched(address: string, name: string): Promise<Headers | undefined> {
  try {
    const answer = await fetch(address, { headers: { 'x-requested-with': 'console' }, credentials: 'same-origin' });
    if (!answer.ok) {
      const { error, ...fault } = await answer.json() as Fault & { error: string };
      toast({ text: sentence({ ...fault, code: error, details: [] }), bad: true });
      return undefined;
    }
    download(name, await answer.blob());
    return answer.headers;
  } catch {
    toast({ text: t('The file could not be downloaded. Try again.'), bad: true });
    return undefined;
  }
}
