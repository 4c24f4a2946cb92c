// herald export and import: all services of an installation as documented JSON, to move in or out (docs/moving.md).
import { resolve } from 'node:path'
import type { Operator } from '../audit/actor.ts'
import { readOnly } from '../db/read-only.ts'
import { exportMove } from '../moves/export.ts'
import { type Converted, convert } from '../moves/family.ts'
import { written } from '../moves/form.ts'
import { type Counts, importMove, type Report } from '../moves/import.ts'
import { readMove, readSecrets } from '../moves/read.ts'
import { SALTS, type Signing } from '../moves/signed.ts'
import { familyRows } from '../moves/sql.ts'
import type { Store } from '../parts.ts'
import { find } from '../services/find.ts'
import { type Command, type CommandInput, UsageError, withStore } from './command.ts'
import { readGiven, readGivenUtf8 } from './given-file.ts'
import { type Block, counted, oneLine, type Text } from './print.ts'
import { writePrivate } from './private-file.ts'
import { type Screen, toned } from './terminal.ts'

/** Templates of many years are more than a statement of a request may read. */
const LONG = { statementSeconds: 300 }

export const commands: readonly Command[] = [
  {
    noun: 'export',
    options: [
      { name: 'out', value: 'FILE', required: true, sentence: 'The file to write. It must not exist yet.' },
      { name: 'service', value: 'SERVICE', many: true, sentence: 'Only this service, by name or id. Default: all.' },
      {
        name: 'secrets-file',
        value: 'FILE',
        sentence: 'Also write the secrets of keys and webhooks, to this file. Who has it can use every key.',
      },
    ],
    sentence:
      'Write services with their templates, keys, webhooks and settings as JSON, to move them to another installation.',
    more: 'The form is in docs/moving.md. Messages, jobs and counts are not in it. The same content is always the same bytes.',
    examples: ['herald export --out moving.json', 'herald export --out moving.json --secrets-file moving.secrets.json'],
    run: withStore(async (store, input, operator, io) => {
      const names = input.list('service')
      const found = await Promise.all(names.map(name => find(store, name)))
      const [out, secretsFile] = [resolve(input.text('out')), input.maybe('secrets-file')]
      const services = names.length === 0 ? ('all' as const) : [...new Set(found.map(({ id }) => id))]
      const { move, secrets } = await exportMove(
        store,
        operator,
        { services, withSecrets: secretsFile !== undefined },
        (done, total) => io.progress.show('Reading services', done, total),
      )
      writePrivate(out, written(move))
      if (secretsFile !== undefined) writePrivate(resolve(secretsFile), written(secrets))
      const keys = Object.keys(secrets).length
      return {
        text: [
          `Exported ${counted(move.services.length, 'service')} to ${out}.`,
          ...(secretsFile === undefined
            ? []
            : [`Wrote ${counted(keys, 'secret')} of keys and webhooks to ${resolve(secretsFile)}.`]),
        ].join('\n'),
        data: { file: out, services: move.services.length, secrets: keys },
      }
    }, LONG),
  },
  {
    noun: 'import',
    args: [
      { name: 'FILE', sentence: 'A file that herald export has written; - reads standard input.', optional: true },
    ],
    options: [
      { name: 'dry-run', sentence: 'Store nothing, and report what an import would do.' },
      {
        name: 'from-database',
        value: 'URL',
        sentence: 'Instead of a file: the PostgreSQL database of the reference implementation. It is only read.',
      },
      {
        name: 'signing-secret-file',
        value: 'FILE',
        sentence: 'With --from-database: a file with its SECRET_KEY, to take over secrets of keys and callbacks.',
      },
      {
        name: 'signing-salt',
        value: 'SALT',
        sentence: `With --from-database: the salt of its keys and tokens. Default: ${SALTS.key} and ${SALTS.token}.`,
      },
      {
        name: 'secrets-file',
        value: 'FILE',
        sentence: 'A JSON object with the id of a key or webhook and its secret, or the whole key, in each line.',
      },
    ],
    sentence: 'Add services with their templates, keys, webhooks and settings from another installation.',
    more: 'Ids, versions and keys stay valid, so that callers change the address only. What is here already is not changed, so the import can be repeated: after an interruption it goes on, and later it adds what is new. Each service is stored as a whole or not at all. The report says what was not taken over; exit code 1 if a service was refused. The sample service of a first start is skipped where there is one already. docs/moving.md has the order of a move.',
    examples: [
      'herald import moving.json --dry-run',
      'herald import moving.json --secrets-file moving.secrets.json',
      'herald import --from-database postgresql://reader@db.example.org/notify --signing-secret-file secret.txt --dry-run',
    ],
    run: withStore(async (store, input, operator, io) => {
      io.progress.show('Reading')
      const converted = await readSource(input)
      const total = converted.move.services.length
      const report = await stored(store, operator, input, converted, done =>
        io.progress.show('Storing services', done, total),
      )
      return {
        text: inWords(report),
        data: report,
        ...(report.services.some(({ outcome }) => outcome === 'refused') && { failed: true as const }),
      }
    }, LONG),
  },
]

async function readSource(input: CommandInput): Promise<Converted> {
  const [file, url] = [input.maybe('FILE'), input.maybe('from-database')]
  if ((file === undefined) === (url === undefined)) throw new UsageError('Give either a file or --from-database.')
  if (file !== undefined) return { move: readMove(file, readGivenUtf8(file)), notes: new Map(), refused: new Map() }
  return convert(await readOnly(url ?? '', familyRows), signingFrom(input))
}

/** Its setting is a list, separated by commas, while the secret is changed. */
function signingFrom(input: CommandInput): Signing | null {
  const file = input.maybe('signing-secret-file')
  if (file === undefined) return null
  const secrets = readGiven(file)
    .trim()
    .split(',')
    .map(secret => secret.trim())
  return { secrets: secrets.filter(secret => secret !== ''), salt: input.maybe('signing-salt') ?? null }
}

function stored(
  store: Store,
  operator: Operator,
  input: CommandInput,
  { move, notes, refused }: Converted,
  onService: (done: number) => void,
): Promise<Report> {
  const file = input.maybe('secrets-file')
  return importMove(store, operator, move, {
    dryRun: input.has('dry-run'),
    notes,
    refused,
    onService,
    ...(file !== undefined && { secrets: readSecrets(file, readGivenUtf8(file)) }),
  })
}

function inWords({ dry_run, services, notes }: Report): Text {
  const of = (outcome: string) => services.filter(service => service.outcome === outcome).length
  const lines = services.flatMap(({ id, name, outcome, added, notes }): Block[] => [
    // Names may be those of another database.
    (screen: Screen) => `${toned(screen, outcome, outcome.padEnd(9))}  "${oneLine(name)}" (${id})${countsIn(added)}`,
    ...notes.map(note => `             ${oneLine(note)}`),
  ])
  return [
    ...lines,
    ...(notes.length > 0 ? ['', 'Of the installation:', ...notes.map(note => `  ${oneLine(note)}`)] : []),
    '',
    `${dry_run ? 'Dry run, nothing was stored: ' : ''}${counted(of('added'), 'service')} added, ${of('completed')} completed, ${of('unchanged')} unchanged, ${of('refused')} refused${of('skipped') > 0 ? `, ${of('skipped')} skipped` : ''}.`,
  ]
}

function countsIn(added: Counts): string {
  const parts = Object.entries(added).filter(([, count]) => count > 0)
  return parts.length === 0
    ? ''
    : `: ${parts.map(([what, count]) => `${count} ${(count === 1 ? what.replace(/s$/, '') : what).replace('_', '-')}`).join(', ')}`
}
