// who names people where a row tells of them. Somebody is who is hidden by an access policy, or gone.
import { useViewer } from '../app/session';
import { t } from '../app/text';
import { Person } from '../ui/bits';
import { useAgentChoices, usePersonChoices, useTeamChoices } from './choices';
import { namesIn } from './namesin';

interface Named { name: string }

// nameOf is the name of somebody whom a row tells of by id; nothing where it tells of nobody.
export function nameOf(viewer: { id: string; name: string }, id: string | null | undefined, person: Named | null | undefined): string | undefined {
  if (!id) return undefined;
  return person?.name ?? (id === viewer.id ? viewer.name : id.startsWith('agt_') ? t('An AI agent') : t('Somebody'));
}

export function Who({ id, person }: { id: string | null | undefined; person: Named | null | undefined }) {
  return <Person name={nameOf(useViewer(), id, person)} />;
}

// Said is a text of the server which tells of people, teams and agents by their ids: of those that the viewer may read it shows the names.
export function Said({ text }: { text: string }) {
  const names = [...useTeamChoices(!text.includes('team_')), ...usePersonChoices(!text.includes('usr_'), {}), ...useAgentChoices(!text.includes('agt_'))];
  return <>{namesIn(text, new Map(names.map((n) => [n.id, n.name])))}</>;
}
