// watchers are who hear of comments and of the end. Staff add others and remove them.
import { Eye, EyeOff, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { useWrite } from '../../../app/data';
import { can, useCan, useViewer } from '../../../app/session';
import { t } from '../../../app/text';
import { UnwatchRequest, WatchRequest } from '../../../gen/documents';
import { toast } from '../../../ui/toast';
import type { FullRequest } from '../detail';

export function Watchers({ request: r, people }: { request: FullRequest; people: { id: string; name: string }[] }) {
  const viewer = useViewer();
  const staff = useCan('user.read');
  const [watch] = useWrite(WatchRequest);
  const [unwatch] = useWrite(UnwatchRequest);
  const [add] = useWrite(WatchRequest);
  const [remove] = useWrite(UnwatchRequest);
  const list = r.watchers ?? [];
  const [pressed, press] = useState<boolean>(); // what is pressed is shown at once
  const writes = useRef(Promise.resolve()); // a press during the last one's write counts too: each is written after the one before
  const watching = pressed ?? list.some((w) => w.id === viewer.id);
  const may = can(viewer, 'request.watch', r);
  if (list.length === 0 && !may) return null;
  const others = people.filter((p) => p.id !== viewer.id && !list.some((w) => w.id === p.id));
  const write = async (on: boolean) => {
    const [run, back, says] = on ? [watch, unwatch, t('You watch this request.')] : [unwatch, watch, t('You no longer watch this request.')];
    const o = await run({ input: { id: r.id } });
    if (!o.fault) toast({ text: says, undo: () => { void back({ input: { id: r.id } }); } });
  };
  const turn = () => {
    const on = !watching;
    press(on);
    const mine = writes.current.then(() => write(on)).then(() => { if (writes.current === mine) press(undefined); });
    writes.current = mine;
  };
  const drop = async (w: { id: string; name: string }) => {
    const o = await remove({ input: { id: r.id, userId: w.id } });
    if (!o.fault) toast({ text: t('{name} no longer watches this request.', { name: w.name }), undo: () => { void add({ input: { id: r.id, userId: w.id } }); } });
  };
  return (
    <div>
      <dt>{t('Watchers')}</dt>
      <dd className="stack-tight">
        {list.length > 0 && (
          <span className="chips">
            {list.map((w) => <span key={w.id} className="chip person"><bdi>{w.name}</bdi>{may && staff && w.id !== viewer.id && <button type="button" className="icon" aria-label={t('Remove the watcher {name}', { name: w.name })} title={t('Remove the watcher {name}', { name: w.name })} onClick={() => { void drop(w); }}><X size={12} aria-hidden /></button>}</span>)}
          </span>
        )}
        {may && (
          <button type="button" className="quiet small" aria-pressed={watching} onClick={turn}>
            {watching ? <EyeOff size={13} aria-hidden /> : <Eye size={13} aria-hidden />} {watching ? t('Stop watching') : t('Watch')}
          </button>
        )}
        {may && staff && (
          <select className="plainly" aria-label={t('Add a watcher')} value="" onChange={(e) => { void add({ input: { id: r.id, userId: e.target.value } }); }}>
            <option value="">{t('Add a watcher')}</option>
            {others.map((p) => <option key={p.id} value={p.id}>{p.name}</option>)}
          </select>
        )}
      </dd>
    </div>
  );
}
