// Makes the package that users install: node scripts/pack.mjs [FOLDER]. It holds the built program and its dependencies, exactly
// those of package-lock.json: npm applies neither our lock file nor our overrides when it installs a package, and would take
// other versions. Only PostgreSQL stays a package of its own, because it is another one on every kind of machine and can be left out.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(process.argv[2] ?? root)
const stage = mkdtempSync(join(tmpdir(), 'herald-pack-'))

try {
  const about = json('package.json')
  for (const name of ['README.md', 'LICENSE', ...about.files.filter(name => !name.startsWith('!'))])
    cpSync(join(root, name), join(stage, name), { recursive: true })
  for (const path of needed()) copyDependency(path)
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published(about), null, 2)}\n`)
  mkdirSync(folder, { recursive: true })
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: stage, encoding: 'utf8', stdio: 'pipe' }))
  console.log(join(folder, filename))
} finally {
  rmSync(stage, { recursive: true, force: true })
}

/** Without what only a checkout uses. */
function published({ private: _, scripts: _s, devDependencies: _d, overrides: _o, allowScripts: _a, ...about }) {
  return { ...about, bundleDependencies: Object.keys(about.dependencies) }
}

/** The paths of all packages that the program needs, PostgreSQL left out. */
function needed() {
  return Object.entries(json('package-lock.json').packages).flatMap(([path, entry]) => {
    if (path === '' || entry.dev || entry.optional || entry.devOptional) return []
    const { version } = json(join(path, 'package.json'))
    if (version !== entry.version)
      throw new Error(`${path} is ${version}, and the lock file says ${entry.version}: npm ci`)
    return [path]
  })
}

function copyDependency(path) {
  const from = join(root, path)
  const filter = source => source === from || isUsed(source.slice(from.length + 1))
  cpSync(from, join(stage, path), { recursive: true, filter })
}

/** What a dependency ships for its own developers is three fifths of its size. Licences stay. */
function isUsed(path) {
  const name = basename(path)
  if (/^(node_modules|tests?|__tests__|bench(marks?)?|docs?|examples?|\.github|\.vscode)$/.test(path)) return false
  return !/\.(map|d\.[cm]?ts|flow)$/.test(name) && (!/\.md$/i.test(name) || /licen[cs]e|notice/i.test(name))
}

function json(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}
