// herald restore: creates the embedded database from a backup, with sending held until herald release.
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config/index.ts'
import { createSeal } from '../core/seal.ts'
import { inWords, type Manifest, unpack, verify } from '../db/backup.ts'
import { connect, type Sql } from '../db/connect.ts'
import { startEmbedded } from '../db/embedded.ts'
import { binaries, choosePlace, ownerOf, preparePlace } from '../db/embedded-place.ts'
import { checkSeal, secretIn } from '../db/seal.ts'
import { holdSending } from '../queue/hold.ts'
import { IDENTITY_TABLES } from '../sending.ts'
import type { Command, Io } from './command.ts'
import { explained } from './explain.ts'

export const commands: readonly Command[] = [
  {
    noun: 'restore',
    args: [{ name: 'FOLDER', sentence: 'A backup of herald backup.' }],
    sentence: 'Create the embedded database from a backup, in a data folder without a database.',
    more: 'Put the old sealing secret in place first: the file `secret` in the data folder, or HERALD_SECRET. Sending is held in the restored copy: it accepts messages and sends nothing until herald release.',
    examples: ['HERALD_DATA=/var/lib/herald herald restore /backups/herald-monday'],
    run: async (io, input) => {
      const config = io.config()
      const folder = resolve(input.text('FOLDER'))
      const place = freePlace(config, io)
      const manifest = await verify(folder, (bytes, total) => io.progress.show('Checking', bytes, total, inWords))
      await refuseOtherVersion(manifest, place)
      const problem = await restoreTo(folder, manifest, place, config, io)
      const text = [
        `Restored to ${place}: everything that was accepted before ${manifest.begun}.`,
        'Sending is held: Herald accepts messages and sends nothing, because it is not known what the original has sent since.',
        'See what waits with herald held. Resume with herald release --cut-off TIME, the time when the original stopped.',
        ...(problem ? [`PROBLEM: ${problem}`] : []),
      ].join('\n')
      return {
        text,
        data: { place, begun: manifest.begun, held: true, problem },
        ...(problem && { failed: true as const }),
      }
    },
  },
]

/** Where the database will be. An existing one is never replaced. */
function freePlace(config: Config, io: Io): string {
  if (config.databaseUrl)
    throw new Error(
      'DATABASE_URL is set, but this command creates an embedded database. Unset it, or restore with the tools of your server (docs/running.md).',
    )
  const place = choosePlace(join(config.dataFolder, 'postgres'), io.say)
  if (existsSync(place) && readdirSync(place).length > 0)
    throw new Error(
      `There is a database in ${place} already, and restoring replaces nothing. Name an empty folder with HERALD_DATA, or stop Herald and move this one away first.`,
    )
  if (!config.sealSecret && !existsSync(join(config.dataFolder, 'secret')))
    throw new Error(
      `The sealing secret is missing, without which the backup cannot be read. Put the old one into ${join(config.dataFolder, 'secret')}, or set HERALD_SECRET, and try again.`,
    )
  return place
}

async function refuseOtherVersion(manifest: Manifest, place: string) {
  mkdirSync(place, { recursive: true, mode: 0o711 })
  const { major } = await binaries(place, ownerOf(place))
  const made = manifest.postgres.split('.')[0]
  if (made !== major)
    throw new Error(
      `This backup was made with PostgreSQL ${made}; this Herald includes PostgreSQL ${major}, which cannot read it. Restore it with the version of Herald that made it.`,
    )
}

/** The configuration in a backup may name commands. Nothing of a copy goes to the archive of its original before the copy is used. */
const NO_ARCHIVE = { archive_mode: 'off', restore_command: '' }

/**
 * Restores into a folder beside the destination, holds sending there and moves the folder only after that succeeded. However this
 * ends, there is never a database at the destination that could start to send.
 */
async function restoreTo(
  folder: string,
  manifest: Manifest,
  place: string,
  config: Config,
  io: Io,
): Promise<string | null> {
  const draft = `${place}.restoring`
  if (existsSync(draft))
    throw new Error(`${draft} belongs to a restore that was interrupted or still runs. Remove it and try again.`)
  preparePlace(draft)
  try {
    await unpack(folder, manifest, join(draft, 'data'), ownerOf(draft), (bytes, total) =>
      io.progress.show('Restoring', bytes, total, inWords),
    )
    io.progress.show('Opening the database for the first time')
    const server = await startEmbedded(draft, { say: io.say, settings: NO_ARCHIVE })
    const db = connect(server, { size: 1, name: 'herald-restore', statementSeconds: 0, onIdleError: () => {} })
    let problem: string | null = null
    try {
      await holdSending(db.sql, 'restored', IDENTITY_TABLES)
      problem = await secretProblem(db.sql, config)
    } finally {
      await db.stop()
      await server.stop()
    }
    rmdirSync(place)
    renameSync(draft, place)
    return problem
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

async function secretProblem(sql: Sql, config: Config): Promise<string | null> {
  try {
    await checkSeal(sql, createSeal([config.sealSecret ?? secretIn(config.dataFolder), ...config.oldSealSecrets]))
    return null
  } catch (error) {
    return explained(error).join(' ')
  }
}
