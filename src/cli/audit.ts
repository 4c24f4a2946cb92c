import { lines } from '../audit/sql.ts'
import { find } from '../services/find.ts'
import { type Command, withStore } from './command.ts'
import { listing, minute, moment } from './print.ts'

const MOST = 100

export const auditCommands: readonly Command[] = [
  {
    noun: 'audit',
    options: [
      {
        name: 'service',
        value: 'SERVICE',
        sentence: 'Only of this service: its name, its id, or the first characters.',
      },
      { name: 'most', value: 'NUMBER', number: true, sentence: `How many lines to show. Without it, ${MOST}.` },
    ],
    sentence: 'Show who changed keys, templates and services, and who cancelled what; newest first.',
    more: 'Lines are added with the change itself and cannot be changed or deleted. They name ids, never people or contents.',
    examples: ['herald audit --service "Parking permits" --most 20'],
    run: withStore(async (store, given) => {
      const named = given.maybe('service')
      const service = named === undefined ? null : (await find(store, named)).id
      const found = await lines(store.db.sql, service, given.number('most') ?? MOST)
      const rows = found.map(line => [
        minute(line.at),
        line.service,
        line.key_id === null ? 'operator' : `key ${line.key_id}`,
        line.action,
        line.subject_id,
        line.detail && JSON.stringify(line.detail),
      ])
      return {
        text: listing(['WHEN', 'SERVICE', 'WHO', 'DID', 'TO', 'DETAIL'], rows, 'Nothing was changed yet.'),
        data: { audit: found.map(line => ({ ...line, at: moment(line.at) })) },
      }
    }),
  },
]
