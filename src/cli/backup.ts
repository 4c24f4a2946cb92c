// herald backup: copies the embedded database. It lists what is not part of the database and must be backed up separately.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backUp, inWords } from '../db/backup.ts'
import { connect } from '../db/connect.ts'
import { startEmbedded } from '../db/embedded.ts'
import { choosePlace } from '../db/embedded-place.ts'
import type { Command } from './command.ts'

export const commands: readonly Command[] = [
  {
    noun: 'backup',
    args: [{ name: 'FOLDER', sentence: 'Destination: a folder that does not exist yet.' }],
    sentence: 'Copy the embedded database to a folder. The service may run meanwhile.',
    more: 'The backup contains everything that was answered with 2xx before it began. It does not contain the sealing secret, without which it cannot be read: keep a copy of the secret in another place. For an external PostgreSQL see docs/running.md.',
    examples: ['herald backup /backups/herald-monday'],
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
        const separate = notIncluded(config)
        return {
          text: [
            `The backup is in ${folder}: ${inWords(bytes)}, ${files.length} files, everything accepted before ${manifest.begun}.`,
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
