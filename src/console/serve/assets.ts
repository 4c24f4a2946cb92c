// Stylesheet, script and icons, read once at the start. Their names contain a hash of their content, so browsers may keep them
// for ever.
import { readdirSync, readFileSync } from 'node:fs'
import { type StaticFile, staticFile } from '../../http/static.ts'

export type Assets = {
  /** By the last part of their path. */
  byName: ReadonlyMap<string, StaticFile>
  /** Path under the console's. */
  style: string
  script: string
  sprite: string
  favicon: string
}

/** The most that the script may weigh. */
export const MOST_SCRIPT_BYTES = 30 * 1024

const folder = new URL('../assets/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')

export function readAssets(): Assets {
  const byName = new Map<string, StaticFile>()
  const add = (name: string, ending: string, type: string, content: string) => {
    const file = staticFile(type, content)
    const whole = `${name}-${file.hash}.${ending}`
    byName.set(whole, file)
    return `/assets/${whole}`
  }
  return {
    byName,
    style: add('console', 'css', 'text/css; charset=utf-8', read('console.css')),
    script: add('console', 'js', 'text/javascript; charset=utf-8', joinedScript()),
    sprite: add('icons', 'svg', 'image/svg+xml', read('icons.svg')),
    favicon: add('favicon', 'svg', 'image/svg+xml', read('favicon.svg')),
  }
}

/** One module: main.js first, which the others build on; each of the others is a block of its own. */
function joinedScript(): string {
  const names = readdirSync(new URL('script/', folder)).filter(name => name.endsWith('.js') && name !== 'main.js')
  const blocks = names.sort().map(name => `{\n${read(`script/${name}`)}}\n`)
  return [read('script/main.js'), ...blocks].join('')
}
