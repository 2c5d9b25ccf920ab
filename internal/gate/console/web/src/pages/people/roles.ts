import { t } from '../../app/text';
import * as enums from '../../gen/enums';
import type { Role } from '../../gen/types';

// roles are all of them, that of the most people first.
export const roles = enums.Role.toReversed();

// roleSays is what a role is for.
export const roleSays: Record<Role, string> = { member: t('Submits requests and sees their own.'), agent: t('Works on all requests.'), admin: t('Everything except the plan and owners.'), owner: t('Everything.') };
