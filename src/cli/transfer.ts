// herald service export and import: a service moves from one cell to another (docs/scaling.md).
import { resolve } from 'node:path'
import { find } from '../services/find.ts'
import { exportTo } from '../transfers/export.ts'
import { SHORTEST_PASSPHRASE } from '../transfers/file.ts'
import { importFrom } from '../transfers/import.ts'
import { countsOf, type Transfer } from '../transfers/transfer.ts'
import { heraldVersion } from '../version.ts'
import { asksSecretly, isAtTerminal } from './ask.ts'
import { type Command, type CommandInput, type Io, type Option, SERVICE, UsageError, withStore } from './command.ts'
import { readGiven, readGivenBytes } from './given-file.ts'
import { counted } from './print.ts'
import { writePrivate } from './private-file.ts'

const PASSPHRASE_FILE: Option = {
  name: 'passphrase-file',
  value: 'FILE',
  sentence: 'A file with the passphrase; - reads standard input. Default: it is asked for on the terminal.',
}

/** Template versions of many years are more than a statement of a request may read. */
const LONG = { statementSeconds: 300 }

export const commands: readonly Command[] = [
  {
    noun: 'service',
    verb: 'export',
    args: [SERVICE],
    options: [
      { name: 'out', value: 'FILE', required: true, sentence: 'The file to write. It must not exist yet.' },
      PASSPHRASE_FILE,
    ],
    sentence: 'Write a service to a file, to move it to another cell.',
    more: `The file contains settings, limits, team, templates with all versions, folders, API keys, senders, reply-to addresses, safelist, webhooks and requests to go live. Messages, jobs, files, events and counts stay. It is sealed with a passphrase of at least ${SHORTEST_PASSPHRASE} characters, which is never an argument: anybody who has both can use the keys. The service is not changed. The order of a move is in docs/scaling.md.`,
    examples: ['herald service export "Parking permits" --out permits.herald'],
    run: withStore(async (store, input, operator, io) => {
      const service = await find(store, input.text('SERVICE'))
      const out = resolve(input.text('out'))
      const passphrase = await passphraseFrom(io, input, { isNew: true })
      io.progress.show('Reading the service')
      const { file, transfer } = await exportTo(store, operator, service.id, passphrase, heraldVersion())
      writePrivate(out, file)
      return {
        text: [
          `Exported "${service.name}" (${service.id}) to ${out}: ${inWords(transfer)}.`,
          `At the other cell: herald service import ${input.text('out')}`,
          'Changes from now on are not in the file: herald audit shows whether there are any.',
        ].join('\n'),
        data: { ...dataOf(transfer), file: out },
      }
    }, LONG),
  },
  {
    noun: 'service',
    verb: 'import',
    args: [{ name: 'FILE', sentence: 'A file that `herald service export` has written.' }],
    options: [PASSPHRASE_FILE],
    sentence: 'Add a service from a file that another cell has exported.',
    more: 'Ids stay: of the service, its templates and its keys, so that callers go on with their keys and template ids. People are found by their e-mail addresses, or added. All of it is stored, or nothing. A service that exists here is never changed.',
    examples: ['herald service import permits.herald'],
    run: withStore(async (store, input, operator, io) => {
      const file = readGivenBytes(input.text('FILE'))
      const passphrase = await passphraseFrom(io, input, { isNew: false })
      io.progress.show('Storing the service')
      const { transfer, differences } = await importFrom(store, operator, file, passphrase)
      const { id, name } = transfer.service
      return {
        text: [
          `Imported "${name}" (${id}), exported at ${transfer.exported_at}: ${inWords(transfer)}.`,
          ...differences,
          'Send its callers here: change the map of the load balancer (docs/scaling.md).',
        ].join('\n'),
        data: { ...dataOf(transfer), differences },
      }
    }, LONG),
  },
]

async function passphraseFrom(io: Io, input: CommandInput, { isNew }: { isNew: boolean }): Promise<string> {
  const file = input.maybe('passphrase-file')
  if (file !== undefined) return readGiven(file).trim()
  if (!isAtTerminal())
    throw new UsageError('There is no terminal to ask for the passphrase. Give it with --passphrase-file.')
  io.progress.end()
  const typed = await asksSecretly('Passphrase of the file: ')
  if (isNew && (await asksSecretly('The same passphrase again: ')) !== typed)
    throw new UsageError('The two passphrases differ. Nothing was written.')
  return typed
}

function inWords(transfer: Transfer): string {
  const { templates, versions, keys, webhooks, members } = countsOf(transfer)
  return [
    `${counted(templates, 'template')} with ${counted(versions, 'version')}`,
    counted(keys, 'key'),
    counted(webhooks, 'webhook'),
    counted(members, 'team member'),
  ].join(', ')
}

const dataOf = (transfer: Transfer) => ({
  id: transfer.service.id,
  name: transfer.service.name,
  exported_at: transfer.exported_at,
  version: transfer.version,
  ...countsOf(transfer),
})
