import { type Channel, channelNames, PLAIN } from '../channels/plain.ts'
import type { Config } from '../config/index.ts'
import { changeOrArchive } from '../people/archive.ts'
import { create } from '../services/create.ts'
import { find } from '../services/find.ts'
import { dailyLimit, rateLimit, retentionDays } from '../services/service.ts'
import { type Changes, list, type ShownService } from '../services/sql.ts'
import { type Command, type CommandInput, type CommandOutput, SERVICE, UsageError, withStore } from './command.ts'
import { facts, listing, minute, moment, SHORT_IDS } from './print.ts'

const permissions = {
  email: 'may_send_email',
  sms: 'may_send_sms',
  international: 'may_send_international',
  files: 'may_send_files',
} as const satisfies Record<string, keyof Changes>
type Permission = keyof typeof permissions
const permissionNames = Object.keys(permissions) as Permission[]

const limit = (name: string, sentence: string) =>
  ({
    name,
    value: 'N',
    number: true,
    orDefault: true,
    sentence: `${sentence} \`default\`: the default of the mode.`,
  }) as const

export const commands: readonly Command[] = [
  {
    noun: 'service',
    verb: 'create',
    args: [{ name: 'NAME', sentence: 'Name of the service. Text messages begin with it.' }],
    options: [
      {
        name: 'live',
        sentence: 'Create it in live mode. Default: trial mode, in which it sends only to its team and safelist.',
      },
      {
        name: 'mailbox',
        value: 'MAILBOX',
        sentence: 'Local part (before the @) of the sender address of e-mails. Default: derived from the name.',
      },
    ],
    sentence: 'Create a service.',
    examples: ['herald service create "Parking permits" --live --mailbox permits'],
    run: withStore(async (store, input, operator) => {
      const mailbox = input.maybe('mailbox')
      const service = await create(store, operator, {
        name: input.text('NAME'),
        mode: input.has('live') ? 'live' : 'trial',
        ...(mailbox !== undefined && { mailbox }),
      })
      const next = `Create a key for it: herald key create ${service.id} --name NAME --type test`
      return {
        ...outputOf(service, store.config),
        text: `Created the service "${service.name}" (${service.mode}), id ${service.id}.\n${next}`,
      }
    }),
  },
  {
    noun: 'service',
    verb: 'list',
    sentence: 'List all services.',
    run: withStore(async store => {
      const services = await list(store.db.sql)
      const rows = services.map(s => [s.id, s.name, s.mode, s.state, minute(s.created_at)])
      return {
        text: listing(
          ['ID', 'NAME', 'MODE', 'STATE', 'CREATED'],
          rows,
          'There is no service yet. Create one: herald service create NAME',
          SHORT_IDS,
        ),
        data: { services: services.map(present) },
      }
    }),
  },
  {
    noun: 'service',
    verb: 'show',
    args: [SERVICE],
    sentence: 'Show a service with its limits and permissions.',
    run: withStore(async (store, input) => outputOf(await find(store, input.text('SERVICE')), store.config)),
  },
  {
    noun: 'service',
    verb: 'set',
    args: [SERVICE],
    options: [
      { name: 'name', value: 'NAME', sentence: 'A new name.' },
      {
        name: 'mode',
        value: 'MODE',
        choices: ['trial', 'live'],
        sentence: 'In trial mode a service sends only to its team and safelist.',
      },
      {
        name: 'state',
        value: 'STATE',
        choices: ['active', 'suspended', 'archived'],
        sentence:
          'A suspended service can read but not send; keys of an archived service are refused. In both states messages that become due end as technical-failure and scheduled jobs as cancelled.',
      },
      { name: 'reason', value: 'TEXT', sentence: 'Why it is suspended. Its team sees it in the console.' },
      {
        name: 'allow',
        value: 'WHAT',
        many: true,
        sentence: `Allow it to send ${permissionNames.join(', ')}. Separate several with commas.`,
      },
      { name: 'forbid', value: 'WHAT', many: true, sentence: 'Forbid the same.' },
      ...channelNames.map(name => limit(`${name}-daily-limit`, `${PLAIN[name].words.title} a day (UTC).`)),
      limit('rate-limit', 'Requests in 60 seconds for each type of key.'),
      {
        name: 'prefix',
        value: 'on|off',
        choices: ['on', 'off'],
        sentence: "Begin text messages with the service's name.",
      },
      { name: 'mailbox', value: 'MAILBOX', sentence: 'Local part (before the @) of the sender address of e-mails.' },
      {
        name: 'home-country',
        value: 'COUNTRY',
        sentence:
          'Country of phone numbers without a country code, for example CA; its numbers are not international. `default`: that of the installation.',
      },
      ...channelNames.map(name => ({
        name: `${name}-retention-days`,
        value: 'DAYS',
        number: true as const,
        sentence: `How long ${PLAIN[name].words.many} are kept, 1 to 365.`,
      })),
    ],
    sentence: 'Change a service. Settings that are not given stay as they are.',
    more: 'A running Herald applies the change at once.',
    examples: [
      'herald service set "Parking permits" --mode live --email-daily-limit 50000',
      'herald service set 0190a1b2 --forbid international,files --prefix off',
    ],
    run: withStore(async (store, input, operator) => {
      const changes = changesFrom(input)
      const { id } = await find(store, input.text('SERVICE'))
      return outputOf(await changeOrArchive(store, operator, id, changes), store.config)
    }),
  },
]

function changesFrom(input: CommandInput): Changes {
  const changes: Changes = {}
  const name = input.maybe('name')
  const mailbox = input.maybe('mailbox')
  const mode = input.maybe('mode')
  const state = input.maybe('state')
  const prefix = input.maybe('prefix')
  const country = input.maybe('home-country')
  if (name !== undefined) changes.name = name
  if (mailbox !== undefined) changes.mailbox = mailbox
  if (mode === 'trial' || mode === 'live') changes.mode = mode
  if (state === 'active' || state === 'suspended' || state === 'archived') changes.state = state
  const reason = input.maybe('reason')
  if (reason !== undefined) {
    if (state !== 'suspended') throw new UsageError('--reason goes with --state suspended.')
    changes.suspended_reason = reason
  }
  if (country !== undefined) changes.home_country = country === 'default' ? null : country.toUpperCase()
  if (prefix !== undefined) changes.sms_prefix = prefix === 'on'
  for (const what of permissionsFrom(input, 'allow')) changes[permissions[what]] = true
  for (const what of permissionsFrom(input, 'forbid')) {
    if (changes[permissions[what]]) throw new UsageError(`--allow and --forbid both name ${what}.`)
    changes[permissions[what]] = false
  }
  for (const [option, column] of [
    ...channelNames.map(name => [`${name}-daily-limit`, PLAIN[name].columns.dailyLimit] as const),
    ['rate-limit', 'rate_limit'] as const,
  ]) {
    const number = input.number(option)
    if (number !== undefined) changes[column] = number
  }
  for (const name of channelNames) {
    const days = input.number(`${name}-retention-days`)
    if (typeof days === 'number') changes[PLAIN[name].columns.retentionDays] = days
  }
  if (Object.keys(changes).length === 0) throw new UsageError('Give at least one option that says what to change.')
  return changes
}

function permissionsFrom(input: CommandInput, option: 'allow' | 'forbid'): Permission[] {
  return input
    .list(option)
    .flatMap(text => text.split(','))
    .map(text => text.trim().toLowerCase())
    .filter(text => text !== '')
    .map(text => {
      const found = permissionNames.find(name => name === text)
      if (!found) throw new UsageError(`--${option} takes ${permissionNames.join(', ')}, not "${text}".`)
      return found
    })
}

type Fact = readonly [name: string, value: string | number]
const perChannel = (line: (name: Channel, channel: (typeof PLAIN)[Channel]) => Fact): Fact[] =>
  channelNames.map(name => line(name, PLAIN[name]))

function outputOf(service: ShownService, { sendingDomain, homeCountry }: Config): CommandOutput {
  const own = (is: number, set: number | null) => (set === null ? `${is} (default)` : is)
  const may = permissionNames.filter(name => service[permissions[name]])
  const text = facts([
    ['id', service.id],
    ['name', service.name],
    ['state', service.state],
    ...(service.suspended_reason === null ? [] : [['suspended because', service.suspended_reason] as const]),
    ['mode', service.mode],
    ['may send', may.join(', ') || 'nothing'],
    ['name before texts', service.sms_prefix],
    ['sends e-mails from', `${service.mailbox}@${sendingDomain}`],
    ['home country', service.home_country ?? `${homeCountry} (default)`],
    ...perChannel((channel, { words, columns }) => [
      `${words.many} a day`,
      own(dailyLimit(service, channel), service[columns.dailyLimit]),
    ]),
    ['requests a minute', own(rateLimit(service), service.rate_limit)],
    ...perChannel((channel, { words }) => [`${words.many} kept`, `${retentionDays(service, channel)} days`]),
    ['created', minute(service.created_at)],
    ['changed', minute(service.updated_at)],
  ])
  return { text, data: present(service) }
}

const present = (service: ShownService) => ({
  ...service,
  created_at: moment(service.created_at),
  updated_at: moment(service.updated_at),
})
