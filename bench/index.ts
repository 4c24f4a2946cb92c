// npm run bench: every figure of issue 8 that can be measured so far; npm run bench -- accept|list|render|storage: one of them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ALL = ['accept', 'list', 'render', 'storage', 'bulk', 'deliver', 'latency', 'files']
const there = ALL.filter(name => existsSync(fileOf(name)))
const [wanted, ...options] = process.argv.slice(2)

if (wanted !== undefined && !there.includes(wanted)) {
  console.error(`There is no bench "${wanted}". There are: ${there.join(', ')}.`)
  process.exitCode = 1
} else {
  for (const name of wanted ? [wanted] : there) {
    console.log(`# ${name}`)
    const args = ['--import', 'tsx', fileOf(name), ...options]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`${name}.ts`, import.meta.url))
}
