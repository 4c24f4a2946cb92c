// Builds dist/ from src/. In an install without development tools (npm ci --omit=dev) there is no compiler: then npm's own
// calls (--if-possible) leave dist/ as it is, because an image is often built in one place and installed in another.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiler = find('typescript/package.json')

if (compiler) {
  const tsc = join(dirname(compiler), 'bin', 'tsc')
  // The client is the only part with declarations, because others import it.
  for (const project of ['tsconfig.build.json', 'tsconfig.client.json']) {
    const { status } = spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' })
    if (status !== 0) process.exitCode = status ?? 1
  }
  copyAssets()
  const { writeSite } = await import('./docs-site.mjs')
  writeSite(root)
} else if (process.argv.includes('--if-possible')) {
  const rest = existsSync(join(root, 'dist')) ? 'dist/ stays as it is' : 'copy dist/ from a place that has it'
  console.log(`Herald is not built here: TypeScript is not installed; ${rest}.`)
} else {
  console.error('TypeScript is not installed, so nothing can be built. Run: npm ci')
  process.exitCode = 1
}

/** Stylesheets, scripts and icons of the console and of the reference. Equal files stay: a process that starts may read them. */
function copyAssets() {
  for (const room of ['console', 'reference']) {
    const [from, to] = [join(root, 'src', room, 'assets'), join(root, 'dist', room, 'assets')]
    cpSync(from, to, { recursive: true, filter: (source, target) => !isSameFile(source, target) })
    for (const name of readdirSync(to, { recursive: true }))
      if (!existsSync(join(from, name))) rmSync(join(to, name), { recursive: true, force: true })
  }
}

function isSameFile(source, target) {
  return statSync(source).isFile() && existsSync(target) && readFileSync(source).equals(readFileSync(target))
}

function find(name) {
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    return undefined // not installed
  }
}
