// An example of every row of the console's table of contents: how to open it with planted data. Tests and scripts/shots.ts use it;
// a row without an example fails test/console/pages.test.ts.
import { safelistDigest } from '../../../src/services/safelist.ts'
import { CATEGORY, type Planted, type PlantedService, REMINDER, type Who } from './plant.ts'

type Ids = Readonly<Record<string, string>>
type From<T> = (of: PlantedService, planted: Planted) => T

export type Example = {
  /** `act`: a POST. `file`: a download or an answer for the script. `passing`: it leads elsewhere. */
  kind: 'page' | 'frame' | 'file' | 'events' | 'passing' | 'act'
  /** Parts of the path beside the service. */
  ids?: From<Ids>
  /** Who opens it in tests of its look; a manager unless given, null: nobody. */
  who?: Who | null
  /** What follows the path. */
  query?: From<string>
  /** Further views of the page, by name. */
  views?: Readonly<Record<string, View>>
  /** Of an act: fields that it accepts. */
  form?: From<Ids>
  /** Of an act: the form has a file, or a text as long as one. */
  multipart?: true
  /** Of an act: those with a higher number come later, because they take away what others need. */
  order?: number
}

type View = { query?: From<string>; ids?: From<Ids>; who?: Who | null; status?: number }

export const message =
  (name: string): From<Ids> =>
  ({ messages }) => ({ id: messages[name] ?? '' })
const template =
  (name: keyof PlantedService['templates']): From<Ids> =>
  ({ templates }) => ({ id: templates[name] })
const upload =
  (name: keyof PlantedService['uploads']): From<Ids> =>
  ({ uploads }) => ({ upload: uploads[name] })
const webhook: From<Ids> = ({ webhooks }) => ({ id: webhooks.active })
const link: From<Ids> = (_of, { link }) => ({ token: link })

export const EXAMPLES: Readonly<Record<string, Example>> = {
  'GET /sign-in': { kind: 'page', who: null, views: { return: { query: () => '?return=%2Faccount' } } },
  'POST /sign-in': { kind: 'act', form: (_of, { people }) => ({ email: people.viewer.email_address, return: '/' }) },
  'GET /sign-in/sent': { kind: 'page', who: null },
  'GET /sign-in/link/:token': {
    kind: 'page',
    who: null,
    ids: link,
    views: { over: { ids: () => ({ token: 'x' }), status: 410 } },
  },
  'POST /sign-in/link/:token': { kind: 'act', ids: () => ({ token: 'x' }) },
  'POST /sign-in/passkey/options': { kind: 'act' },
  'POST /sign-in/passkey': { kind: 'act' },
  'GET /sign-in/single-sign-on': { kind: 'passing' },
  'GET /sign-in/single-sign-on/return': { kind: 'passing' },
  'GET /sign-in/confirm': { kind: 'page' },
  'POST /sign-in/confirm': { kind: 'act', form: () => ({ return: '/account' }) },
  'POST /sign-in/confirm/passkey/options': { kind: 'act' },
  'POST /sign-in/confirm/passkey': { kind: 'act' },
  'GET /sign-in/confirm/single-sign-on': { kind: 'passing' },
  'POST /sign-out': { kind: 'act', order: 99 },

  'GET /account': { kind: 'page' },
  'POST /account': {
    kind: 'act',
    form: () => ({
      name: 'Another Name',
      time_zone_name: 'Europe/Paris',
      theme: 'dark',
      language: 'auto',
      shortcuts: 'on',
    }),
  },
  'GET /account/passkeys/new': { kind: 'page' },
  'POST /account/passkeys/new/options': { kind: 'act' },
  'POST /account/passkeys/new': { kind: 'act' },
  'POST /account/passkeys/:id': {
    kind: 'act',
    ids: (_of, { senders }) => ({ id: senders.passkey }),
    form: () => ({ name: 'Taken' }),
  },
  'POST /account/passkeys/:id/remove': { kind: 'act', ids: (_of, { senders }) => ({ id: senders.passkey }) },
  'POST /account/sessions/end-others': { kind: 'act' },
  'POST /account/sessions/:id/end': { kind: 'act', ids: (_of, { senders }) => ({ id: senders.session }) },
  'POST /account/address': { kind: 'act', form: () => ({ address: 'another@example.org' }) },
  'GET /account/address': { kind: 'passing' },
  'POST /account/address/change': { kind: 'act', form: () => ({ move: 'x' }) },

  'GET /': { kind: 'page', views: { newcomer: { who: 'newcomer' } } },
  'GET /operator/services': {
    kind: 'page',
    who: 'operator',
    views: { nothing: { query: () => '?name=nothing-has-this-name', who: 'operator' } },
  },
  'GET /operator/services/new': { kind: 'page', who: 'operator' },
  'POST /operator/services/new': { kind: 'act', form: () => ({ name: 'Street works', mode: 'trial' }) },
  'GET /operator/people': { kind: 'page', who: 'operator' },
  'GET /operator/people/invite': { kind: 'page', who: 'operator' },
  'POST /operator/people/invite': { kind: 'act', form: () => ({ address: 'new.operator@eastmere.example' }) },
  'POST /operator/people/invitations/:id/withdraw': {
    kind: 'act',
    ids: (_of, { spare }) => ({ id: spare.invitation }),
    order: 5,
  },
  'GET /operator/people/:id': {
    kind: 'page',
    who: 'operator',
    ids: (_of, { people }) => ({ id: people.sender.id }),
    views: { operator: { ids: (_of, { people }) => ({ id: people.operator.id }), who: 'operator' } },
  },
  'POST /operator/people/:id': {
    kind: 'act',
    ids: (_of, { spare }) => ({ id: spare.person }),
    form: () => ({ operator: 'yes' }),
  },
  'POST /operator/people/:id/remove': { kind: 'act', ids: (_of, { spare }) => ({ id: spare.person }), order: 6 },
  'GET /invitation/:token': {
    kind: 'page',
    who: null,
    ids: ({ team }) => ({ token: team.token }),
    views: { over: { ids: () => ({ token: 'x' }), who: null, status: 410 } },
  },
  'POST /invitation/:token': { kind: 'act', ids: () => ({ token: 'x' }), form: () => ({ name: 'Ravi Abara' }) },

  'GET /s/:service/team': { kind: 'page', views: { viewer: { who: 'viewer' }, operator: { who: 'operator' } } },
  'GET /s/:service/team/invite': { kind: 'page' },
  'POST /s/:service/team/invite': {
    kind: 'act',
    form: ({ id }) => ({ address: `new.${id.slice(0, 8)}@eastmere.example`, role: 'viewer' }),
  },
  'POST /s/:service/team/invitations/:id/again': { kind: 'act', ids: ({ team }) => ({ id: team.invitation }) },
  'POST /s/:service/team/invitations/:id/withdraw': {
    kind: 'act',
    ids: ({ team }) => ({ id: team.invitation }),
    order: 5,
  },
  'GET /s/:service/team/:member': { kind: 'page', ids: ({ team }) => ({ member: team.member }) },
  'POST /s/:service/team/:member': {
    kind: 'act',
    ids: ({ team }) => ({ member: team.member }),
    form: () => ({ role: 'author' }),
  },
  'POST /s/:service/team/:member/remove': { kind: 'act', ids: ({ team }) => ({ member: team.member }), order: 6 },
  'POST /s/:service/join': { kind: 'act', form: () => ({ role: 'viewer' }), order: 8 },

  'GET /s/:service': { kind: 'page', views: { empty: { ids: (_of, { empty }) => ({ service: empty }) } } },
  'GET /s/:service/counts': { kind: 'file' },
  'GET /s/:service/statistics': { kind: 'file' },

  'GET /s/:service/messages': {
    kind: 'page',
    views: {
      failed: { query: () => '?status=failed' },
      'no-match': { query: () => '?status=failed&key=team' },
      viewer: { who: 'viewer' },
      empty: { ids: (_of, { empty }) => ({ service: empty }) },
    },
  },
  'POST /s/:service/messages/search': { kind: 'act', form: () => ({ q: 'k.lindgren@example.net' }) },
  'GET /s/:service/messages/export': { kind: 'file' },
  'GET /s/:service/messages/newer': { kind: 'file' },
  'GET /s/:service/messages/:id': {
    kind: 'page',
    ids: message('permanent-failure'),
    views: {
      text: { query: () => '?view=text' },
      source: { query: () => '?view=source' },
      headers: { query: () => '?view=headers' },
      sms: { ids: message('delivered-sms') },
      scheduled: { ids: message('scheduled') },
      'right-to-left': { ids: message('right-to-left') },
      cancelled: { ids: message('cancelled') },
      virus: { ids: message('virus-scan-failed') },
      viewer: { who: 'viewer', ids: message('scheduled') },
    },
  },
  'GET /s/:service/messages/:id/rendered': { kind: 'frame', ids: message('delivered') },
  'POST /s/:service/messages/:id/cancel': { kind: 'act', ids: message('scheduled'), order: 5 },
  'POST /s/:service/messages/:id/copy': { kind: 'act', ids: message('delivered') },

  'GET /s/:service/templates': {
    kind: 'page',
    views: {
      folder: { query: ({ folders }) => `?folder=${folders.top}` },
      found: { query: () => '?q=permit' },
      nothing: { query: () => '?q=nothing-has-this-name' },
      viewer: { who: 'viewer' },
    },
  },
  'GET /s/:service/templates/new': { kind: 'page' },
  'POST /s/:service/templates/new': {
    kind: 'act',
    form: () => ({ type: 'email', name: 'Written by hand', category: CATEGORY.general, folder: '' }),
  },
  'GET /s/:service/templates/folders/new': { kind: 'page' },
  'POST /s/:service/templates/folders/new': { kind: 'act', form: () => ({ name: 'Made by hand', folder: '' }) },
  'GET /s/:service/templates/folders/:folder': { kind: 'page', ids: ({ folders }) => ({ folder: folders.nested }) },
  'POST /s/:service/templates/folders/:folder': {
    kind: 'act',
    ids: ({ folders }) => ({ folder: folders.nested }),
    form: () => ({ name: 'Renamed', folder: '' }),
  },
  'POST /s/:service/templates/folders/:folder/remove': {
    kind: 'act',
    ids: ({ folders }) => ({ folder: folders.empty }),
    order: 5,
  },
  'GET /s/:service/templates/:id': {
    kind: 'page',
    ids: template('email'),
    views: {
      text: { ids: template('sms') },
      'right-to-left': { ids: template('rightToLeft') },
      archived: { ids: template('archived') },
      viewer: { who: 'viewer' },
    },
  },
  'POST /s/:service/templates/:id': {
    kind: 'act',
    ids: template('email'),
    form: () => ({
      subject: 'Your permit ((permit number)) ends on ((end date))',
      body: `${REMINDER}\n\nChanged.`,
      version: '3',
    }),
  },
  'POST /s/:service/templates/:id/preview': {
    kind: 'act',
    ids: template('email'),
    form: () => ({ subject: 'A draft', body: 'Dear ((first name))', version: '3', view: 'phone' }),
  },
  'POST /s/:service/templates/:id/live': {
    kind: 'act',
    ids: template('email'),
    form: () => ({ subject: 'A draft', body: 'Dear ((first name))', version: '3' }),
  },
  'GET /s/:service/templates/:id/rendered': { kind: 'frame', ids: template('email') },
  'GET /s/:service/templates/:id/confirm': { kind: 'passing', ids: template('email') },
  'POST /s/:service/templates/:id/confirm': { kind: 'act', ids: template('email'), form: () => ({ draft: 'x' }) },
  'POST /s/:service/templates/:id/test': { kind: 'act', ids: template('versioned') },
  'GET /s/:service/templates/:id/versions': { kind: 'page', ids: template('email') },
  'GET /s/:service/templates/:id/versions/:version': {
    kind: 'page',
    ids: ({ templates }) => ({ id: templates.email, version: '1' }),
  },
  'POST /s/:service/templates/:id/versions/:version': {
    kind: 'act',
    ids: ({ templates }) => ({ id: templates.versioned, version: '1' }),
    form: () => ({ version: '2' }),
  },
  'GET /s/:service/templates/:id/settings': { kind: 'page', ids: template('email') },
  'POST /s/:service/templates/:id/settings': {
    kind: 'act',
    ids: template('rightToLeft'),
    form: () => ({ name: 'Renamed', category: CATEGORY.reminder, folder: '', values: 'plain', version: '1' }),
  },
  'GET /s/:service/templates/:id/archive': { kind: 'page', ids: template('unused') },
  'POST /s/:service/templates/:id/archive': { kind: 'act', ids: template('unused'), order: 5 },
  'GET /s/:service/templates/:id/api': { kind: 'page', ids: template('email') },

  // Send.
  'GET /s/:service/send': {
    kind: 'page',
    who: 'sender',
    views: {
      nothing: { query: () => '?q=nothing-has-this-name' },
      email: { query: ({ templates }) => `?template=${templates.email}` },
      text: { query: ({ templates }) => `?template=${templates.sms}` },
      'right-to-left': { query: ({ templates }) => `?template=${templates.rightToLeft}` },
    },
  },
  'POST /s/:service/send': {
    kind: 'act',
    form: ({ templates }) => ({
      ...{ template: templates.rightToLeft, to: 'by.hand@example.org', 'name-0': 'name', 'value-0': 'ليلى' },
      ...{ when: 'now', act: 'send', once: 'x' },
    }),
  },
  'POST /s/:service/send/live': { kind: 'act', form: ({ templates }) => ({ template: templates.email }) },
  'GET /s/:service/send/:template/rendered': {
    kind: 'frame',
    who: 'sender',
    ids: ({ templates }) => ({ template: templates.email }),
  },
  'GET /s/:service/send/:template/example': {
    kind: 'file',
    who: 'sender',
    ids: ({ templates }) => ({ template: templates.email }),
  },
  'GET /s/:service/send/file': {
    kind: 'page',
    who: 'sender',
    views: { email: { query: ({ templates }) => `?template=${templates.email}` } },
  },
  'POST /s/:service/send/file': {
    kind: 'act',
    multipart: true,
    form: ({ templates }) => ({ template: templates.rightToLeft, rows: 'email address\tname\na@example.org\tAda' }),
  },
  'GET /s/:service/send/file/:upload': {
    kind: 'page',
    who: 'sender',
    ids: upload('ready'),
    views: {
      errors: { ids: upload('errors') },
      row: { ids: upload('errors'), query: () => '?row=24' },
      columns: { ids: upload('columns') },
      unreadable: { ids: upload('unreadable') },
    },
  },
  'POST /s/:service/send/file/:upload': { kind: 'act', ids: upload('ready'), form: () => ({ act: 'match' }) },
  'GET /s/:service/send/file/:upload/events': { kind: 'events', who: 'sender', ids: upload('ready') },
  'GET /s/:service/send/file/:upload/rendered': { kind: 'frame', who: 'sender', ids: upload('ready') },
  'GET /s/:service/send/file/:upload/bad-rows': { kind: 'file', who: 'sender', ids: upload('errors') },

  // Jobs.
  'GET /s/:service/jobs': {
    kind: 'page',
    views: {
      scheduled: { query: () => '?status=scheduled' },
      'no-match': { query: () => '?status=error' },
      viewer: { who: 'viewer' },
      empty: { ids: (_of, { empty }) => ({ service: empty }) },
    },
  },
  'GET /s/:service/jobs/:id': {
    kind: 'page',
    ids: ({ jobs }) => ({ id: jobs.mixed }),
    views: {
      waiting: { ids: ({ jobs }) => ({ id: jobs.finished }) },
      scheduled: { ids: ({ jobs }) => ({ id: jobs.scheduled }) },
      cancelled: { ids: ({ jobs }) => ({ id: jobs.cancelled }) },
      viewer: { who: 'viewer' },
    },
  },
  'GET /s/:service/jobs/:id/events': { kind: 'file', ids: ({ jobs }) => ({ id: jobs.cancelled }) },
  'GET /s/:service/jobs/:id/report': { kind: 'file', ids: ({ jobs }) => ({ id: jobs.mixed }) },
  'GET /s/:service/jobs/:id/file': { kind: 'file', ids: ({ jobs }) => ({ id: jobs.mixed }) },
  'POST /s/:service/jobs/:id/cancel': { kind: 'act', ids: ({ jobs }) => ({ id: jobs.scheduled }), order: 5 },
  'GET /s/:service/jobs/:id/again': { kind: 'page', ids: ({ jobs }) => ({ id: jobs.mixed }) },
  'POST /s/:service/jobs/:id/again': {
    kind: 'act',
    ids: ({ jobs }) => ({ id: jobs.mixed }),
    form: () => ({ messages: '2' }),
    order: 5,
  },

  // Keys, safelist and request log.
  'GET /s/:service/keys': {
    kind: 'page',
    who: 'developer',
    views: { done: { query: () => '?done=revoked' } },
  },
  'GET /s/:service/keys/new': { kind: 'page', who: 'developer' },
  'POST /s/:service/keys/new': {
    kind: 'act',
    form: () => ({ name: 'Continuous integration', type: 'test', ends: '365' }),
  },
  'GET /s/:service/keys/:id/revoke': { kind: 'page', who: 'developer', ids: ({ spareKey }) => ({ id: spareKey }) },
  'POST /s/:service/keys/:id/revoke': { kind: 'act', ids: ({ spareKey }) => ({ id: spareKey }), order: 5 },
  'GET /s/:service/safelist': { kind: 'page', who: 'developer' },
  'POST /s/:service/safelist': {
    kind: 'act',
    form: () => ({ recipients: 'k.lindgren@example.net\n+447911123456', seen: safelistDigest([]) }),
  },
  'GET /s/:service/requests': {
    kind: 'page',
    who: 'developer',
    views: {
      refused: { query: () => '?status=4xx', who: 'developer' },
      nothing: { query: () => '?status=5xx', who: 'developer' },
    },
  },

  // Webhooks.
  'GET /s/:service/webhooks': { kind: 'page', who: 'developer' },
  'GET /s/:service/webhooks/new': { kind: 'page', who: 'developer' },
  'POST /s/:service/webhooks/new': {
    kind: 'act',
    form: () => ({
      url: 'https://example.org/events',
      key_type: 'normal',
      format: 'standard',
      batch: '1',
      events: 'all',
    }),
  },
  'GET /s/:service/webhooks/:id': {
    kind: 'page',
    who: 'developer',
    ids: webhook,
    views: {
      failed: { query: () => '?view=failed', who: 'developer' },
      refused: { query: () => '?view=refused', who: 'developer' },
      disabled: { ids: ({ webhooks }) => ({ id: webhooks.disabled }), who: 'developer' },
    },
  },
  'GET /s/:service/webhooks/:id/settings': { kind: 'page', who: 'developer', ids: webhook },
  'POST /s/:service/webhooks/:id/settings': {
    kind: 'act',
    ids: webhook,
    form: () => ({ url: 'https://hooks.eastmere.example/other', batch: '10', events: 'all' }),
  },
  'POST /s/:service/webhooks/:id/test': { kind: 'act', ids: webhook },
  'POST /s/:service/webhooks/:id/state': { kind: 'act', ids: webhook, form: () => ({ state: 'paused' }) },
  'POST /s/:service/webhooks/:id/secret': {
    kind: 'act',
    ids: ({ webhooks }) => ({ id: webhooks.disabled }),
    form: () => ({ seen: '' }),
  },
  'POST /s/:service/webhooks/:id/replay': { kind: 'act', ids: webhook, form: () => ({ failed: 'true' }) },
  'GET /s/:service/webhooks/:id/remove': { kind: 'page', who: 'developer', ids: webhook },
  'POST /s/:service/webhooks/:id/remove': { kind: 'act', ids: webhook, order: 6 },

  // Inbox.
  'GET /s/:service/inbox': {
    kind: 'page',
    views: {
      'no-match': { query: () => '?to=00000000000000' },
      developer: { who: 'developer' },
    },
  },
  'POST /s/:service/inbox/search': { kind: 'act', form: () => ({ q: 'k.lindgren@example.net' }) },
  'GET /s/:service/inbox/newer': { kind: 'file' },
  'POST /s/:service/inbox/empty': { kind: 'act', order: 6 },
  'GET /s/:service/inbox/:id': {
    kind: 'page',
    ids: message('delivered'),
    views: {
      phone: { query: () => '?view=phone' },
      text: { query: () => '?view=text' },
      source: { query: () => '?view=source' },
      headers: { query: () => '?view=headers' },
      links: { query: () => '?view=links' },
      sms: { ids: message('delivered-sms') },
      'right-to-left': { ids: message('right-to-left') },
    },
  },
  'GET /s/:service/inbox/:id/rendered': { kind: 'frame', ids: message('delivered') },
  'GET /s/:service/inbox/:id/source': { kind: 'file', ids: message('delivered') },
  'GET /s/:service/inbox/:id/files/:place': {
    kind: 'file',
    ids: ({ messages }) => ({ id: messages.delivered ?? '', place: '0' }),
  },
  'POST /s/:service/inbox/:id/delete': { kind: 'act', ids: message('sending'), order: 5 },
  'GET /operator/inbox': { kind: 'page', who: 'operator' },
  'POST /operator/inbox/search': { kind: 'act', form: () => ({ q: 'sign in' }) },
  'GET /operator/inbox/newer': { kind: 'file', who: 'operator' },
  'POST /operator/inbox/empty': { kind: 'act', order: 6 },
  'GET /operator/inbox/:id': {
    kind: 'page',
    who: 'operator',
    ids: (_of, { mail }) => ({ id: mail }),
    views: { text: { query: () => '?view=text', who: 'operator' } },
  },
  'GET /operator/inbox/:id/rendered': { kind: 'frame', who: 'operator', ids: (_of, { mail }) => ({ id: mail }) },
  'GET /operator/inbox/:id/source': { kind: 'file', who: 'operator', ids: (_of, { mail }) => ({ id: mail }) },
  'POST /operator/inbox/:id/delete': { kind: 'act', ids: (_of, { mail }) => ({ id: mail }), order: 5 },

  // Settings and changes.
  'GET /s/:service/settings': { kind: 'page', views: { viewer: { who: 'viewer' }, operator: { who: 'operator' } } },
  'GET /s/:service/settings/change': { kind: 'page' },
  'POST /s/:service/settings/change': {
    kind: 'act',
    form: ({ name }) => ({
      name,
      files: 'files',
      home_country: 'gb',
      email_retention_days: '8',
      sms_retention_days: '7',
    }),
  },
  'GET /s/:service/settings/limits': { kind: 'page', who: 'operator' },
  'POST /s/:service/settings/limits': {
    kind: 'act',
    form: () => ({ mailbox: 'permits', email_daily_limit: '12000', sms_daily_limit: '2000', rate_limit: '' }),
  },
  'GET /s/:service/settings/suspend': { kind: 'page', who: 'operator' },
  'POST /s/:service/settings/suspend': { kind: 'act', form: () => ({ reason: 'Too many bounces.' }), order: 8 },
  'POST /s/:service/settings/resume': { kind: 'act', order: 9 },
  'GET /s/:service/settings/reply-to/new': { kind: 'page' },
  'POST /s/:service/settings/reply-to/new': {
    kind: 'act',
    form: ({ id }) => ({ value: `more.${id.slice(0, 8)}@eastmere.example` }),
  },
  'POST /s/:service/settings/reply-to/:id/again': {
    kind: 'act',
    ids: ({ settings }) => ({ id: settings.unverified }),
    order: 1,
  },
  'POST /s/:service/settings/reply-to/:id/default': { kind: 'act', ids: ({ settings }) => ({ id: settings.replyTo }) },
  'GET /s/:service/settings/reply-to/:id/remove': { kind: 'page', ids: ({ settings }) => ({ id: settings.replyTo }) },
  'POST /s/:service/settings/reply-to/:id/remove': {
    kind: 'act',
    ids: ({ settings }) => ({ id: settings.replyTo }),
    order: 5,
  },
  'GET /s/:service/settings/senders/new': { kind: 'page' },
  'POST /s/:service/settings/senders/new': { kind: 'act', form: () => ({ value: 'PERMITS' }) },
  'POST /s/:service/settings/senders/:id/default': { kind: 'act', ids: ({ settings }) => ({ id: settings.other }) },
  'GET /s/:service/settings/senders/:id/remove': { kind: 'page', ids: ({ settings }) => ({ id: settings.sender }) },
  'POST /s/:service/settings/senders/:id/remove': {
    kind: 'act',
    ids: ({ settings }) => ({ id: settings.sender }),
    order: 5,
  },
  'GET /s/:service/settings/live': {
    kind: 'page',
    views: {
      trial: { ids: (_of, { empty }) => ({ service: empty }) },
      asked: { ids: (_of, { trial }) => ({ service: trial }) },
      decide: { ids: (_of, { trial }) => ({ service: trial }), who: 'operator' },
      operator: { who: 'operator' },
    },
  },
  'POST /s/:service/settings/live/end': { kind: 'act', order: 1 },
  'POST /s/:service/settings/live': {
    kind: 'act',
    form: () => ({ purpose: 'Reminders to residents.', email_a_day: '900', considered: 'yes' }),
    order: 2,
  },
  'POST /s/:service/settings/live/decline': { kind: 'act', form: () => ({ reason: 'Not yet.' }), order: 3 },
  'POST /s/:service/settings/live/grant': { kind: 'act', order: 4 },
  'GET /reply-to/:token': {
    kind: 'page',
    who: null,
    ids: ({ settings }) => ({ token: settings.link }),
    views: { over: { ids: () => ({ token: 'x' }), who: null, status: 410 } },
  },
  'POST /reply-to/:token': { kind: 'act', ids: () => ({ token: 'x' }) },
  'GET /s/:service/changes': {
    kind: 'page',
    views: { nothing: { query: () => '?from=2020-01-01&to=2020-01-02' } },
  },
  'GET /s/:service/changes/export': { kind: 'file' },

  // Operator: system and audit.
  'GET /operator/system': { kind: 'page', who: 'operator' },
  'GET /operator/system/hold': { kind: 'page', who: 'operator' },
  'POST /operator/system/hold': { kind: 'act', order: 8 },
  // Nothing is held.
  'GET /operator/system/release': { kind: 'passing', who: 'operator' },
  'POST /operator/system/release': { kind: 'act', order: 9 },
  'GET /operator/system/providers/:channel/:provider/test': {
    kind: 'page',
    who: 'operator',
    ids: () => ({ channel: 'email', provider: 'capture' }),
  },
  'POST /operator/system/providers/:channel/:provider/test': {
    kind: 'act',
    ids: () => ({ channel: 'email', provider: 'capture' }),
    form: () => ({ recipient: 'duty@eastmere.example' }),
  },
  'GET /operator/system/tests/:id': {
    kind: 'page',
    who: 'operator',
    ids: (_of, { providerTests }) => ({ id: providerTests.accepted }),
    views: {
      refused: { ids: (_of, { providerTests }) => ({ id: providerTests.refused }), who: 'operator' },
      silent: { ids: (_of, { providerTests }) => ({ id: providerTests.silent }), who: 'operator' },
    },
  },
  'GET /operator/audit': {
    kind: 'page',
    who: 'operator',
    views: { nothing: { query: () => '?from=2020-01-01&to=2020-01-02', who: 'operator' } },
  },
  'GET /operator/audit/export': { kind: 'file' },
}

/** Pages that stand for none of the rows. */
const OTHERS: readonly { name: string; path: From<string>; who: Who; status: number }[] = [
  { name: 'error-404', path: () => '/nowhere', who: 'manager', status: 404 },
  { name: 'error-404-service', path: (_of, { other }) => `/s/${other.id}`, who: 'manager', status: 404 },
]

/** `isView`: it is like another one of them. */
export type ShownPage = { name: string; path: string; who: Who | null; status: number; isView?: boolean }

/** Every page that can be shown, each with its views. `rows` is the table of contents. */
export const pagesOf = (
  rows: readonly (readonly [method: string, path: string, ...rest: unknown[]])[],
  of: PlantedService,
  planted: Planted,
): ShownPage[] => [
  ...rows.flatMap(([method, path]) => {
    const example = EXAMPLES[`${method} ${path}`]
    if (example?.kind !== 'page') return []
    const name = nameOf(path)
    const shown = (one: View, as: string): ShownPage => ({
      name: as,
      path:
        filled(path, of, { ...example.ids?.(of, planted), ...one.ids?.(of, planted) }) +
        (one.query?.(of, planted) ?? ''),
      who: one.who !== undefined ? one.who : example.who !== undefined ? example.who : 'manager',
      status: one.status ?? 200,
    })
    const views = Object.entries(example.views ?? {})
    const { query } = example
    return [
      shown(query ? { query } : {}, name),
      ...views.map(([view, one]) => ({ ...shown(one, `${name}-${view}`), isView: true })),
    ]
  }),
  ...OTHERS.map(({ path, ...other }) => ({ ...other, path: path(of, planted) })),
]

/** `/s/:service/messages/:id` with the ids of a service. */
export const filled = (path: string, of: PlantedService, ids: Ids = {}): string =>
  path.replace(/:(\w+)/g, (_, name: string) => {
    const value = ids[name] ?? (name === 'service' ? of.id : undefined)
    if (value === undefined) throw new Error(`${path} has no example for ${name}`)
    return value
  })

const nameOf = (path: string): string =>
  path === '/s/:service'
    ? 'overview'
    : path === '/'
      ? 'services'
      : path.replace('/s/:service/', '').replaceAll(/\/:/g, '-').replaceAll('/', '-').replace(/^-/, '')
