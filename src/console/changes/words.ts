// What was done, in words: the title of a line of the audit log and its details.
import type { Action } from '../../audit/sql.ts'
import { readId } from '../../core/id.ts'
import type { Formats } from '../formats.ts'
import { TYPES } from '../keys/types.ts'
import { ROLE_NAMES } from '../team/roles.ts'
import { type Marked, mark, say, t } from '../words/index.ts'

export const GROUPS = {
  keys: mark('Keys'),
  templates: mark('Templates'),
  messages: mark('Messages and jobs'),
  webhooks: mark('Webhooks'),
  team: mark('Team'),
  settings: mark('Settings'),
  accounts: mark('Signing in and accounts'),
  installation: mark('Installation'),
} as const
export type Group = keyof typeof GROUPS

/** Groups whose lines belong to no service. */
export const OF_INSTALLATION: readonly Group[] = ['accounts', 'installation']

/** An action without words is shown as the log names it. */
const ACTS: Readonly<Partial<Record<Action, readonly [group: Group, words: Marked]>>> = {
  'key created': ['keys', mark('Key made')],
  'key revoked': ['keys', mark('Key revoked')],
  'template created': ['templates', mark('Template made')],
  'template changed': ['templates', mark('Template changed')],
  'template moved': ['templates', mark('Template moved')],
  'template archived': ['templates', mark('Template archived')],
  'folder created': ['templates', mark('Folder made')],
  'folder renamed': ['templates', mark('Folder renamed')],
  'folder moved': ['templates', mark('Folder moved')],
  'folder removed': ['templates', mark('Folder removed')],
  'service created': ['settings', mark('Service added')],
  'service changed': ['settings', mark('Settings changed')],
  'service suspended': ['settings', mark('Service suspended')],
  'service resumed': ['settings', mark('Service resumed')],
  'service exported': ['settings', mark('Service exported to a file')],
  'service imported': ['settings', mark('Service imported from a file')],
  'live requested': ['settings', mark('Going live asked for')],
  'live granted': ['settings', mark('Going live granted')],
  'live declined': ['settings', mark('Going live declined')],
  'reply-to added': ['settings', mark('Address for replies added')],
  'reply-to verified': ['settings', mark('Address for replies confirmed')],
  'reply-to removed': ['settings', mark('Address for replies removed')],
  'default reply-to chosen': ['settings', mark('Default address for replies chosen')],
  'sender added': ['settings', mark('Text sender added')],
  'sender removed': ['settings', mark('Text sender removed')],
  'default sender chosen': ['settings', mark('Default text sender chosen')],
  'safelist changed': ['settings', mark('Safelist changed')],
  'message cancelled': ['messages', mark('Message cancelled')],
  'message sent': ['messages', mark('Message sent')],
  'message sent again': ['messages', mark('Copy of a message sent')],
  'messages exported': ['messages', mark('Messages downloaded')],
  'job sent': ['messages', mark('Job sent')],
  'job sent again': ['messages', mark('Failed messages of a job sent again')],
  'job cancelled': ['messages', mark('Job cancelled')],
  'captured message deleted': ['messages', mark('Captured message deleted')],
  'inbox emptied': ['messages', mark('Captured inbox emptied')],
  'webhook created': ['webhooks', mark('Webhook added')],
  'webhook changed': ['webhooks', mark('Webhook changed')],
  'webhook removed': ['webhooks', mark('Webhook removed')],
  'webhook secret rotated': ['webhooks', mark('Secret of a webhook changed')],
  'webhook disabled': ['webhooks', mark('Webhook stopped by Herald')],
  'webhook resumed': ['webhooks', mark('Webhook resumed')],
  'webhook replayed': ['webhooks', mark('Events sent again by a webhook')],
  'sending held': ['installation', mark('Sending held')],
  'sending released': ['installation', mark('Sending released')],
  'provider tested': ['installation', mark('Test sent by a provider')],
  'file store adopted': ['installation', mark('File store adopted')],
  'signed in': ['accounts', mark('Signed in')],
  'signed out': ['accounts', mark('Signed out')],
  'session ended': ['accounts', mark('Session ended')],
  'sign-in link made': ['accounts', mark('Sign-in link made')],
  'passkey added': ['accounts', mark('Passkey added')],
  'passkey renamed': ['accounts', mark('Passkey renamed')],
  'passkey removed': ['accounts', mark('Passkey removed')],
  'account changed': ['accounts', mark('Account changed')],
  'address changed': ['accounts', mark('E-mail address changed')],
  'identity linked': ['accounts', mark('Single sign-on linked')],
  'person added': ['accounts', mark('Person added')],
  'operator added': ['installation', mark('Operator added')],
  'operator removed': ['installation', mark('Operator removed')],
  'member added': ['team', mark('Person joined')],
  'member removed': ['team', mark('Person left')],
  'person invited': ['team', mark('Person invited')],
  'invitation withdrawn': ['team', mark('Invitation withdrawn')],
  'person removed': ['accounts', mark('Person removed')],
  'role changed': ['team', mark('Role changed')],
}

export function actionWords(action: Action): string {
  const known = ACTS[action]
  return known ? say(known[1]) : action
}

export const actionsOf = (group: string | null): readonly Action[] | null =>
  group !== null && Object.hasOwn(GROUPS, group)
    ? (Object.keys(ACTS) as Action[]).filter(action => ACTS[action]?.[0] === group)
    : null

/** Names of what a change says; what is not here is shown as it is. */
const NAMES: Readonly<Record<string, Marked>> = {
  name: mark('name'),
  state: mark('state'),
  mode: mark('mode'),
  role: mark('role'),
  version: mark('version'),
  reason: mark('reason'),
  provider: mark('provider'),
  channel: mark('channel'),
  messages: mark('messages'),
  released: mark('released'),
  kept: mark('kept back'),
  default: mark('default'),
  mailbox: mark('mailbox'),
  may_send_email: mark('may send e-mails'),
  may_send_sms: mark('may send text messages'),
  may_send_international: mark('international numbers'),
  may_send_files: mark('files'),
  sms_prefix: mark('start with the name'),
  email_daily_limit: mark('e-mails a day'),
  sms_daily_limit: mark('text messages a day'),
  rate_limit: mark('requests a minute'),
  email_retention_days: mark('days e-mails are kept'),
  sms_retention_days: mark('days text messages are kept'),
  home_country: mark('home country'),
  suspended_reason: mark('reason'),
  literal_values: mark('values as plain text'),
  key_type: mark('type'),
  manage_templates: mark('may manage templates'),
  manage_webhooks: mark('may manage webhooks'),
  recipients: mark('with recipients'),
  method: mark('by'),
  by: mark('by'),
  format: mark('format'),
  changed: mark('changed'),
  added: mark('added'),
  removed: mark('removed'),
  again: mark('confirmed again'),
  from: mark('from'),
  to: mark('to'),
}

/** Values that are words of the program, by the name that they stand under. */
const VALUES: Readonly<Record<string, Readonly<Record<string, Marked>>>> = {
  role: ROLE_NAMES,
  mode: { live: mark('Live'), trial: mark('Trial') },
  key_type: { normal: TYPES.normal.words, team: TYPES.team.words, test: TYPES.test.words },
  method: { link: mark('e-mail link'), passkey: mark('passkey'), 'single-sign-on': mark('single sign-on') },
  format: { standard: mark('signed'), callback: mark('callback with a token') },
  state: { active: mark('active'), suspended: mark('suspended'), archived: mark('archived') },
}

const MOST_VALUE = 300

function valueWords(name: string, value: unknown, formats: Formats): string {
  const known = typeof value === 'string' ? VALUES[name]?.[value] : undefined
  if (known) return say(known)
  if (value === null) return t`usual`
  if (typeof value === 'boolean') return value ? t`yes` : t`no`
  if (typeof value === 'number') return formats.number(value)
  const isList = Array.isArray(value) && value.every(one => typeof one === 'string')
  const text = typeof value === 'string' ? value : isList ? value.join(', ') : JSON.stringify(value)
  return text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE)}…` : text
}

/** "mode: live, e-mails a day: 10,000". `subject`: its name, which is not repeated. */
export const detailWords = (detail: object | null, subject: string | null, formats: Formats): string =>
  Object.entries(detail ?? {})
    // Ids of sessions and folders say nothing to people; the download has them.
    .filter(([, value]) => readId(value) === null && (subject === null || value !== subject))
    .map(([name, value]) => {
      const known = NAMES[name]
      return `${known ? say(known) : name.replaceAll('_', ' ')}: ${valueWords(name, value, formats)}`
    })
    .join(', ')
