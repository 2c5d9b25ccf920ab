// formwords are the words of choices that the forms of phases offer, and that differences name.
import { t } from '../../../app/text';

export const actions = { accept: t('Accept it: somebody works on it'), complete: t('Complete it'), cancel: t('Cancel it') };
export const modes = { any: t('The first decision counts'), all: t('Everybody must approve'), quorum: t('A number of them must approve') };
export const dataKinds = { enrich: t('Compute values'), validate: t('Check the request') };
export const reactions = { fail: t('The workflow ends with an error'), route: t('It continues with the outcome “{way}”', { way: t('Invalid') }), ask: t('Somebody is asked to correct the answers') };
