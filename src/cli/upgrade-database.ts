// herald upgrade-database: moves the embedded database to the PostgreSQL that this Herald includes.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { choosePlace, unfinished } from '../db/embedded-place.ts'
import { upgradeDatabase } from '../db/upgrade.ts'
import { leap } from '../events/sql/clock.ts'
import { keepIdentity } from '../queue/hold.ts'
import { IDENTITY_TABLES } from '../sending.ts'
import { highestStamp } from '../webhooks/sql/positions.ts'
import type { Command } from './command.ts'

export const commands: readonly Command[] = [
  {
    noun: 'upgrade-database',
    args: [{ name: 'PROGRAMS', sentence: 'A folder with bin/postgres of the version that made the database.' }],
    sentence: 'Move the embedded database to the PostgreSQL version that this Herald includes.',
    more: 'Stop Herald first. Every table is copied into a new database and compared. The old one is kept beside it until you remove it, so the disk needs room for both. The version that made the database is in the file postgres/data/PG_VERSION of the data folder; docs/releases.md says where to get its programs.',
    examples: ['herald upgrade-database /usr/lib/postgresql/18'],
    run: async (io, input) => {
      const config = io.config()
      if (config.databaseUrl)
        throw new Error(
          'DATABASE_URL is set, but this command upgrades only the embedded database. Use pg_upgrade for your server.',
        )
      const place = choosePlace(join(config.dataFolder, 'postgres'), io.say)
      if (!existsSync(join(place, 'data')) && !(existsSync(place) && unfinished(place)))
        throw new Error(`There is no database in ${config.dataFolder} yet. Name the right folder with HERALD_DATA.`)
      const upgraded = await upgradeDatabase(
        place,
        resolve(input.text('PROGRAMS')),
        db =>
          db.transaction(async sql => {
            // The same installation on a new server: sending goes on, and positions in the log stay ahead of all that were given away.
            await keepIdentity(sql, IDENTITY_TABLES)
            await leap(sql, await highestStamp(sql))
          }),
        (sentence, done, total) => io.progress.show(sentence, done, total),
      )
      const { from, to, tables, rows, kept } = upgraded
      return {
        text: [
          `The database is of PostgreSQL ${to} now: ${tables} tables with ${rows} rows were copied and compared.`,
          `The database of PostgreSQL ${from} is in ${kept}. Remove it when Herald has started and nothing is missing.`,
        ].join('\n'),
        data: upgraded,
      }
    },
  },
]
