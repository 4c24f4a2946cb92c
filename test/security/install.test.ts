// S-38, S-40: secrets come only from the settings, and dependencies are reviewed ones.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { table } from '../../src/cli/table.ts'
import { readConfig, settingsTable } from '../../src/config/index.ts'
import { secretIn } from '../../src/db/seal.ts'

type Package = { version?: string; dev?: boolean; hasInstallScript?: boolean; integrity?: string }
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Package> }
const about = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, Record<string, string> | undefined>
const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

describe('S-38 secrets', () => {
  function inFolder<T>(work: (folder: string) => T): T {
    const folder = mkdtempSync(join(tmpdir(), 'herald-secret-'))
    try {
      return work(folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  test('each folder gets one of its own, of 256 random bits, and keeps it', () => {
    const [one, other] = [
      inFolder(folder => [secretIn(folder), secretIn(folder)]),
      inFolder(folder => secretIn(folder)),
    ]
    expect(one[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(one[1]).toBe(one[0])
    expect(other).not.toBe(one[0])
  })

  test('a short one is refused, in the settings and in the file, and not quoted', () => {
    expect(() => readConfig({ HERALD_SECRET: 'tooshort-canary' })).toThrow(/HERALD_SECRET is too short/)
    for (const held of ['', '\n', 'tooshort-canary'])
      inFolder(folder => {
        writeFileSync(join(folder, 'secret'), held)
        expect(() => secretIn(folder)).toThrow(/a secret needs at least 32/)
        expect(() => secretIn(folder)).not.toThrow(/canary/)
      })
  })

  test('no secret setting has a default, and no command takes one as an argument', () => {
    const secret = settingsTable().filter(setting => setting.secret)
    expect(secret.length).toBeGreaterThan(8)
    for (const { name, shown } of secret) expect(shown, name).toMatch(/^(none|made on first start)/)
    const words = table.flatMap(({ options = [], args = [] }) => [...options, ...args].map(one => one.name))
    const isSecret = (word: string) => /secret|password|passphrase|token/i.test(word) && !word.endsWith('-file')
    expect(words.filter(isSecret)).toEqual([])
    expect(isSecret('token')).toBe(true)
  })
})

describe('S-40 dependencies', () => {
  test('every direct dependency has one version, and its reason in docs/decisions.md', () => {
    const reasons = readFileSync('docs/decisions.md', 'utf8')
    for (const kind of ['dependencies', 'optionalDependencies', 'devDependencies'])
      for (const [name, version] of Object.entries(about[kind] ?? {})) {
        expect(version, name).toMatch(/^(npm:[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/)
        if (kind === 'dependencies') expect(reasons, name).toContain(`| ${name} |`)
      }
  })

  test('no package runs a script when it is installed, and npm has nothing to warn about', () => {
    const scripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path))
    expect(scripts.sort()).toEqual(Object.keys(about.allowScripts ?? {}).sort())
    expect(Object.values(about.allowScripts ?? {}).filter(allowed => `${allowed}` !== 'false')).toEqual([])
  })

  test('production has few packages', () => {
    // 31 of them came with passkeys, single sign-on and the console, 2 with libsodium (docs/decisions.md).
    expect(packages.filter(([, { dev }]) => !dev).length).toBeLessThan(112)
  })
})
