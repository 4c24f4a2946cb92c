// npm run lock: fails when package-lock.json cannot be installed as it stands on linux x64 and arm64 (glibc). npm silently
// skips an optional package that the registry does not have, so a missing native binding shows only when a program needs it.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const MACHINES = ['x64', 'arm64']

/** One sentence per problem; empty when the lock file is complete. */
export function complaints({ lock }) {
  return Object.entries(lock.packages).flatMap(([path, entry]) => [
    ...(path !== '' && !entry.link && !entry.integrity ? [`${path} ${entry.version} has no integrity hash`] : []),
    ...(/^https?:/.test(entry.resolved ?? '') ? [`${path} names the address of a registry`] : []),
    ...withoutBinding(lock.packages, path, entry),
  ])
}

/** A package with a native binding for linux must have it for both architectures. */
function withoutBinding(packages, path, { optionalDependencies = {} }) {
  const parts = Object.keys(optionalDependencies).map(name => ({ name, locked: find(packages, path, name) }))
  const missing = parts.filter(({ locked }) => !locked).map(({ name }) => `${owner(path)} needs ${name}, not locked`)
  const covers = machine => parts.some(({ locked }) => locked && runsOn(locked, machine))
  const native = parts.some(({ locked }) => locked?.cpu)
  return [
    ...missing,
    ...(native ? MACHINES.filter(machine => !covers(machine)) : []).map(
      machine => `${owner(path)} has no native package for linux ${machine}`,
    ),
  ]
}

/** As Node looks for it: beside the package, then in every folder above. */
function find(packages, path, name) {
  for (let place = path; ; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))) {
    const found = packages[`${place === '' ? '' : `${place}/`}node_modules/${name}`]
    if (found || place === '') return found
  }
}

const owner = path => (path === '' ? 'package.json' : path)
const runsOn = ({ os = ['linux'], cpu = MACHINES, libc = ['glibc'] }, machine) =>
  os.includes('linux') && cpu.includes(machine) && libc.includes('glibc')

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))
  const all = complaints({ lock })
  for (const complaint of all) console.error(complaint)
  const count = Object.keys(lock.packages).length - 1
  console.log(all.length === 0 ? `All ${count} locked packages can be installed.` : `${all.length} complaints.`)
  process.exitCode = all.length === 0 ? 0 : 1
}
