// herald backup: copies the embedded database. It lists what is not part of the database and must be backed up separately.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backUp, inWords } from '../db/backup.ts'
import { connect } from '../db/connect.ts'
import { startEmbedded } from '../db/embedded.ts'
import { choosePlace } from '../db/embedded-place.ts'
import { noteBackup } from '../db/last-backup.ts'
import { removeOldBackups } from '../db/old-backups.ts'
import { type Command, UsageError } from './command.ts'
import { explained } from './explain.ts'

export const commands: readonly Command[] = [
  {
    noun: 'backup',
    args: [{ name: 'FOLDER', sentence: 'Destination: a folder that does not exist yet.' }],
    options: [
      {
        name: 'keep',
        value: 'COUNT',
        number: true,
        sentence:
          'Afterwards remove all but the newest COUNT backups of this database from the parent folder, the new one included.',
      },
    ],
    sentence: 'Copy the embedded database to a folder. The service may run meanwhile.',
    more: 'The backup contains everything that was answered with 2xx before it began. It does not contain the sealing secret, without which it cannot be read: keep a copy of the secret in another place. For an external PostgreSQL see docs/running.md.',
    examples: ['herald backup /backups/herald-monday', 'herald backup --keep 7 "/backups/$(date +%F)"'],
    run: async (io, input) => {
      const config = io.config()
      if (config.databaseUrl)
        throw new Error(
          'DATABASE_URL is set, but this command copies only the embedded database. Use pg_dump or pg_basebackup for yours (docs/running.md).',
        )
      const home = join(config.dataFolder, 'postgres')
      if (!existsSync(join(choosePlace(home, io.say), 'data')))
        throw new Error(`There is no database in ${config.dataFolder} yet. Name the right folder with HERALD_DATA.`)
      const folder = resolve(input.text('FOLDER'))
      const keep = input.number('keep') ?? null
      if (keep !== null && keep < 1) throw new UsageError('--keep must be 1 or more: the new backup stays.')
      io.progress.show('Opening the database')
      const server = await startEmbedded(home, { say: io.say })
      const db = connect(server, { size: 1, name: 'herald-backup', statementSeconds: 0, onIdleError: () => {} })
      const client = db.client()
      try {
        await client.connect()
        // The first file is copied after a checkpoint, which may take minutes.
        io.progress.show('Waiting for a checkpoint')
        const manifest = await backUp(client, join(server.home, 'data'), folder, (bytes, total) =>
          io.progress.show('Copying', bytes, total, inWords),
        )
        const files = Object.values(manifest.files)
        const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
        noteBackup(server.home, { folder, begun: manifest.begun, bytes })
        const removed = keep === null ? [] : await thinOut(folder, keep)
        const separate = notIncluded(config)
        return {
          text: [
            `The backup is in ${folder}: ${inWords(bytes)}, ${files.length} files, everything accepted before ${manifest.begun}.`,
            ...(removed.length > 0 ? [`Removed older backups: ${removed.join(', ')}.`] : []),
            'Not included; back up separately:',
            ...separate.map(line => `- ${line}`),
            `To test it: HERALD_DATA=/an/empty/folder herald restore ${folder}`,
          ].join('\n'),
          data: {
            folder,
            bytes,
            files: files.length,
            begun: manifest.begun,
            done: manifest.done,
            removed,
            not_included: separate,
          },
        }
      } finally {
        await client.end()
        await db.stop()
        await server.stop()
      }
    },
  },
]

async function thinOut(folder: string, keep: number): Promise<string[]> {
  try {
    return await removeOldBackups(folder, keep)
  } catch (error) {
    throw new Error(`The backup is in ${folder}, but older ones could not be removed: ${explained(error).join(' ')}`)
  }
}

function notIncluded(config: { sealSecret: string | null; dataFolder: string; fileStore: string }): string[] {
  const secret = config.sealSecret
    ? 'the sealing secret, HERALD_SECRET (and HERALD_OLD_SECRETS, if set)'
    : `the sealing secret, ${join(config.dataFolder, 'secret')}`
  return [
    `${secret}: without it nobody can read the backup`,
    'the other settings: providers, their passwords and addresses',
    ...(config.fileStore === 's3' ? ['the files of messages, in the bucket HERALD_S3_BUCKET'] : []),
  ]
}
