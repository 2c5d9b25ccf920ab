import { t } from '../../app/text';
import { Dialog } from '../../ui/dialog';
import { Many } from './many';
import { One } from './one';

interface Props { mode: string; set: (mode: 'one' | 'list') => void; close: () => void; done: () => void }

// Invite asks for one person, or takes a list of them.
export function Invite({ mode, set, close, done }: Props) {
  const many = mode === 'list';
  return (
    <Dialog title={many ? t('Invite people') : t('Invite person')} close={close} wide={many}>
      {many ? <Many close={close} done={done} /> : <One close={close} />}
      <p className="switch"><button type="button" className="quiet small" onClick={() => { set(many ? 'one' : 'list'); }}>{many ? t('Invite one person') : t('Paste a list or CSV instead')}</button></p>
    </Dialog>
  );
}
