// namesin puts names into texts of the server.
import { t } from '../app/text';

const ids = /\b(?:user|team|agent) ((?:usr|team|agt)_[0-9a-z]{26})\b/g;

// namesIn puts the names that are known into a text of the server, in place of “team team_…”.
export const namesIn = (text: string, names: ReadonlyMap<string, string>): string => text.replace(ids, (all: string, id: string) => (names.has(id) ? t('“{name}”', { name: names.get(id) ?? '' }) : all));
