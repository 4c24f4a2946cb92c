import { entries } from '../audit/sql.ts'
import { type Change, named } from '../people/changes.ts'
import { find } from '../services/find.ts'
import { type Command, limitOption, withStore } from './command.ts'
import { firstLine, listing, minute, moment } from './print.ts'

const MOST = 100

export const commands: readonly Command[] = [
  {
    noun: 'audit',
    options: [
      {
        name: 'service',
        value: 'SERVICE',
        sentence: 'Only of this service: its name, its id, or the first characters of its id (at least 8).',
      },
      limitOption(`How many entries to show. Default: ${MOST}.`),
    ],
    sentence: 'Show who changed keys, templates and services, and who cancelled what; newest first.',
    more: 'WHO is an API key, a person, or the operator with the name of the system account that ran the command. Names are those of today: entries hold ids. An entry is added in the same transaction as the change and cannot be changed or deleted. Entries hold ids and settings, never recipients or contents of messages.',
    examples: ['herald audit --service "Parking permits" --limit 20'],
    run: withStore(async (store, input) => {
      const given = input.maybe('service')
      const service = given === undefined ? null : (await find(store, given)).id
      const found = await named(store.db.sql, await entries(store.db.sql, service, input.number('limit') ?? MOST))
      const rows = found.map(entry => [
        minute(entry.at),
        entry.service_name,
        whoOf(entry),
        entry.action,
        entry.subject_id,
        entry.detail && JSON.stringify(entry.detail),
      ])
      return {
        text: listing(['WHEN', 'SERVICE', 'WHO', 'DID', 'TO', 'DETAIL'], rows, 'Nothing was changed yet.'),
        data: { audit: found.map(presented) },
      }
    }),
  },
]

/** `actor_name` is the name of the key, the person or the system account. What was changed is named by its id. */
const presented = ({ service_name: service, who: actor_name, subject: _, ...entry }: Change) => ({
  ...entry,
  at: moment(entry.at),
  service,
  actor_name,
})

/** `key website (0190…)`, `operator deploy`; without the name where it is not known. */
const whoOf = ({ actor_kind, actor_id, who }: Change) =>
  [actor_kind, who && firstLine(who), actor_id && (who ? `(${actor_id})` : actor_id)].filter(Boolean).join(' ')
