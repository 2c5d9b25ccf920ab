// session says who is signed in and what the role may do. The server decides; this only keeps what it would refuse out of sight.
import { createContext, useContext, useEffect, type ReactNode } from 'react';
import { ViewerOf } from '../gen/documents';
import type { ViewerOfQuery } from '../gen/types';
import { isStaff } from './client';
import { useRead } from './data';
import { speak, t } from './text';
import { Failed } from '../ui/states';

export type Viewer = ViewerOfQuery['viewer'];
const Context = createContext<Viewer | null>(null);

const ranks = { member: 0, agent: 1, admin: 2, owner: 3 };
type Rank = keyof typeof ranks;

export function useViewer(): Viewer {
  const v = useContext(Context);
  if (!v) throw new Error('there is no session here');
  return v;
}

export function atLeast(v: Viewer, role: Rank): boolean {
  return ranks[v.role] >= ranks[role];
}

// can reports whether the role and the scopes grant a right, such as request.update. Of a row that says what its viewer may, that
// counts: access policies have been asked.
export function can(v: Viewer, verb: string, row?: { viewerMay?: string[] | null | undefined } | null): boolean {
  return (row?.viewerMay ?? v.permissions).includes(verb);
}

// inSandbox reports whether the session works in the sandbox of its company.
export const inSandbox = (v: Viewer): boolean => v.company?.sandbox === null;

// useCan is for the person who is signed in; nobody else may do anything.
export function useCan(verb: string): boolean {
  const v = useContext(Context);
  return v !== null && can(v, verb);
}

// givesRole reports whether somebody may give or take a role, and change who has it.
export const givesRole = (v: Viewer, role: Rank): boolean => (role !== 'owner' || can(v, 'user.update_owner')) && (role !== 'admin' || can(v, 'user.update_admin'));

// roleWord is how people call a role.
export const roleWord = { member: t('Member'), agent: t('Staff'), admin: t('Admin'), owner: t('Owner') };

export function Session({ children, wait }: { children: ReactNode; wait: ReactNode }) {
  const { data, fault, again } = useRead(ViewerOf, {});
  const viewer = data?.viewer;
  useEffect(() => { if (viewer) speak(viewer.locale ?? viewer.company?.locale ?? null, viewer.timeZone); }, [viewer]);
  if (data) isStaff(data.viewer.permissions.includes('user.read'));
  if (data) return <Context.Provider value={data.viewer}>{children}</Context.Provider>;
  if (fault) return <main className="alone"><Failed fault={fault} again={again} title={t('Atrium')} /></main>;
  return wait;
}
