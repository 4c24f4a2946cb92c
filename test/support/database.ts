// One real PostgreSQL for the whole run: the embedded one in a throw-away folder, or the server that DATABASE_URL names.
// Each test file gets a clone of a migrated template database.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { connect } from '../../src/db/connect.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the server, without a database. */
    server: string
    template: string
  }
}

export default async function setup(project: TestProject) {
  const external = process.env.DATABASE_URL
  const home = external ? null : mkdtempSync(join(roomFor(4e9), 'herald-test-'))
  if (home) chmodSync(home, 0o711) // the server runs as nobody when we are root
  const embedded = home ? await startEmbedded(join(home, 'postgres')) : null
  const server = external
    ? serverOf(external)
    : `postgresql://herald@/?host=${encodeURIComponent(embedded?.host ?? '')}`
  const template = `herald_template_${process.pid}_${project.name}`

  await onServer(server, `create database ${template}`)
  const db = connect({ url: databaseUrl(server, template) }, poolOptions)
  await migrate(db)
  await db.stop()
  project.provide('server', server)
  project.provide('template', template)

  return async () => {
    if (external) await onServer(server, `drop database if exists ${template} with (force)`)
    await embedded?.stop()
    if (home) rmSync(home, { recursive: true, force: true })
  }
}

/**
 * A folder in memory where there is one with enough room: the server keeps its settings, and a commit does not wait for a disk.
 * The path of the temporary folder is a part of it, by which `.ci/run` finds processes and files that are left.
 */
function roomFor(bytes: number): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize < bytes) return tmpdir()
    const folder = join('/dev/shm', tmpdir())
    mkdirSync(folder, { recursive: true })
    return folder
  } catch {
    return tmpdir()
  }
}

export const poolOptions = { size: 2, name: 'herald-test', statementSeconds: 30, onIdleError: () => {} }

function serverOf(url: string) {
  const parsed = new URL(url)
  parsed.pathname = '/'
  return parsed.href
}

export function databaseUrl(server: string, database: string): string {
  return server.replace(/\/(\?|$)/, `/${database}$1`)
}

export async function onServer(server: string, statement: string) {
  const client = new pg.Client({ connectionString: databaseUrl(server, 'postgres') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
