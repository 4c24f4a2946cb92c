// A copy of the embedded database that can be opened elsewhere. What lies outside of it is said, not copied.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backUp, inWords } from '../db/backup.ts'
import { connect } from '../db/connect.ts'
import { startEmbedded } from '../db/embedded.ts'
import { choosePlace } from '../db/embedded-place.ts'
import type { Command } from './command.ts'

export const backupCommands: readonly Command[] = [
  {
    noun: 'backup',
    args: [{ name: 'FOLDER', sentence: 'Where to put it: a folder that does not exist yet.' }],
    sentence: 'Copy the embedded database to a folder, also while the service works.',
    more: 'Everything that was answered with 2xx before the backup began is in it. The sealing secret is not, and without it a backup is of no use: keep a copy of it in another place. For an external PostgreSQL see docs/running.md.',
    examples: ['herald backup /backups/herald-monday'],
    run: async (io, input) => {
      const config = io.config()
      if (config.databaseUrl)
        throw new Error(
          'DATABASE_URL is set: this command copies the embedded database only. For yours use pg_dump or pg_basebackup, as docs/running.md shows.',
        )
      const home = join(config.dataFolder, 'postgres')
      if (!existsSync(join(choosePlace(home, io.say), 'data')))
        throw new Error(`There is no database in ${config.dataFolder} yet. Name the right folder with HERALD_DATA.`)
      const folder = resolve(input.text('FOLDER'))
      const server = await startEmbedded(home, { say: io.say })
      const db = connect(server, { size: 1, name: 'herald-backup', statementSeconds: 0, onIdleError: () => {} })
      const client = db.client()
      try {
        await client.connect()
        const manifest = await backUp(client, join(server.home, 'data'), folder, io.say)
        const files = Object.values(manifest.files)
        const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
        const kept = outside(config)
        return {
          text: [
            `The backup is in ${folder}: ${inWords(bytes)}, ${files.length} files, everything accepted before ${manifest.begun}.`,
            'Not in it, to be kept in another place:',
            ...kept.map(line => `- ${line}`),
            `To try it: HERALD_DATA=/an/empty/folder herald restore ${folder}`,
          ].join('\n'),
          data: { folder, bytes, files: files.length, begun: manifest.begun, done: manifest.done, not_included: kept },
        }
      } finally {
        await client.end()
        await db.stop()
        await server.stop()
      }
    },
  },
]

function outside(config: { sealSecret: string | null; dataFolder: string; fileStore: string }): string[] {
  const secret = config.sealSecret
    ? 'the sealing secret, HERALD_SECRET (and HERALD_OLD_SECRETS, if set)'
    : `the sealing secret, ${join(config.dataFolder, 'secret')}`
  return [
    `${secret}: without it nobody can read the backup, you included`,
    'the other settings: your providers, their passwords and addresses',
    ...(config.fileStore === 's3' ? ['the files of messages, which are in the bucket of HERALD_S3_BUCKET'] : []),
  ]
}
