// Issue 14, section 0: the lock file is complete for linux x64 and arm64, and nothing in it was written by hand.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

type Entry = {
  version?: string
  integrity?: string
  resolved?: string
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}
type Lock = { packages: Record<string, Entry> }
// Plain JavaScript, because it runs before anything is installed.
const { complaints } = (await import(`${process.cwd()}/scripts/check-lock.mjs`)) as {
  complaints(given: { lock: Lock }): string[]
}
const read = (): Lock => JSON.parse(readFileSync('package-lock.json', 'utf8'))

/** The real lock file after one change. */
function changed(change: (packages: Lock['packages']) => void): string[] {
  const lock = read()
  change(lock.packages)
  return complaints({ lock })
}

const natives = Object.entries(read().packages).filter(
  ([, { os, cpu, libc }]) => os?.includes('linux') && cpu && !libc?.includes('musl'),
)
const of = (machine: string) => natives.filter(([, { cpu }]) => cpu?.includes(machine)).map(([path]) => path)

test('the lock file is complete, and the script says so', () => {
  expect(complaints({ lock: read() })).toEqual([])
  const { stdout, stderr, status } = spawnSync(process.execPath, ['scripts/check-lock.mjs'], { encoding: 'utf8' })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  expect(stdout).toMatch(/^All \d+ locked packages can be installed\.\n$/)
})

test('x64 and arm64 have the same native packages', () => {
  expect(of('arm64').length).toBeGreaterThan(5)
  expect(of('x64').map(path => path.replace('x64', 'arm64'))).toEqual(of('arm64'))
})

describe('an incomplete lock file is refused', () => {
  for (const path of [...of('x64'), ...of('arm64')])
    test(`${path} without its hash, or not locked`, () => {
      const without = changed(packages => {
        delete packages[path]?.integrity
      })
      expect(without).toEqual([expect.stringMatching(new RegExp(`^${path} \\S+ has no integrity hash$`))])
      const name = path.slice('node_modules/'.length)
      const gone = changed(packages => {
        delete packages[path]
      })
      expect(gone).toContainEqual(expect.stringMatching(new RegExp(`needs ${name}, not locked$`)))
      expect(gone).toContainEqual(expect.stringMatching(/has no native package for linux (x64|arm64)$/))
    })

  test('a package that exists for one architecture only', () => {
    const packages = {
      '': { optionalDependencies: { one: '1.0.0' } },
      'node_modules/one': { version: '1.0.0', integrity: 'sha512-x', os: ['linux'], cpu: ['x64'] },
    }
    expect(complaints({ lock: { packages } })).toEqual(['package.json has no native package for linux arm64'])
  })

  test('an address of a registry', () => {
    const found = changed(packages => {
      Object.assign(packages['node_modules/pg'] ?? {}, { resolved: 'https://registry.example/pg.tgz' })
    })
    expect(found).toEqual(['node_modules/pg names the address of a registry'])
  })
})
