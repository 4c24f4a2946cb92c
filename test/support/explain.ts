// Statements of sql.ts under `explain`: buffers are counted, not milliseconds, because they are the same on any machine.
import type pg from 'pg'
import type { Database, Sql } from '../../src/db/connect.ts'

/** `sorted`: the most rows that one node sorts. */
export type Measured = { buffers: number; rows: number; scanned: string[]; sorted: number }
export type Run = (sql: Sql) => Promise<unknown>

/** Runs the statement under `explain`, with a custom and with a generic plan: the more expensive one counts. */
export async function explained(
  db: Pick<Database, 'client'>,
  run: Run,
  modes: readonly string[] = ['force_custom_plan', 'force_generic_plan'],
): Promise<Measured> {
  const { text, values } = await captured(run)
  const client = db.client()
  await client.connect()
  try {
    const results: Measured[] = []
    for (const mode of modes) {
      await client.query(`set plan_cache_mode = ${mode}; deallocate all; prepare asked as ${text}`)
      const literals = values.map(value => literal(client, value)).join(', ')
      const answer = await client.query(
        `explain (analyze, buffers, timing off, format json) execute asked(${literals})`,
      )
      const plan = answer.rows[0]['QUERY PLAN'][0].Plan as Node
      if (process.env.HERALD_TEST_PLANS === 'all') console.log(mode, JSON.stringify(plan, null, 1))
      results.push({
        buffers: pagesOf(plan),
        rows: plan['Actual Rows'],
        scanned: scannedBy(plan),
        sorted: sortedBy(plan),
      })
    }
    return results.reduce((a, b) => (b.buffers > a.buffers ? b : a))
  } finally {
    await client.end()
  }
}

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Node[]
}

/** Tables that were read without an index. An empty partition has no page to read and does not count. */
const scannedBy = (node: Node): string[] => [
  ...(/^(Seq|Bitmap Heap) Scan$/.test(node['Node Type']) && pagesOf(node) > 1 ? [node['Relation Name'] ?? ''] : []),
  ...(node.Plans ?? []).flatMap(scannedBy),
]

const sortedBy = (node: Node): number =>
  Math.max(node['Node Type'] === 'Sort' ? node['Actual Rows'] : 0, ...(node.Plans ?? []).map(sortedBy))

const pagesOf = (node: Node) => node['Shared Hit Blocks'] + node['Shared Read Blocks']

/** The text and the values that a function of sql.ts sends. */
export async function captured(run: Run): Promise<{ text: string; values: unknown[] }> {
  const values: unknown[] = []
  let text = ''
  const capture = async (strings: readonly string[], ...given: unknown[]) => {
    text = written(strings, given, values)
    return []
  }
  await run(capture as Sql)
  return { text, values }
}

function written(strings: readonly string[], given: readonly unknown[], values: unknown[]): string {
  return given.reduce<string>((text, value, at) => {
    const inner = value as { strings?: readonly string[]; values?: readonly unknown[] } | null
    const piece = inner?.strings ? written(inner.strings, inner.values ?? [], values) : `$${values.push(value)}`
    return text + piece + strings[at + 1]
  }, strings[0] ?? '')
}

/** A list as `bytes` of db/connect.ts writes it, in the syntax of arrays. */
function byteStrings(list: Buffer): string {
  const items: string[] = []
  for (let at = 20; at < list.length; ) {
    const length = list.readInt32BE(at)
    at += 4
    items.push(length < 0 ? 'null' : `"\\\\x${list.toString('hex', at, at + length)}"`)
    at += Math.max(0, length)
  }
  return `{${items.join(',')}}`
}

export function literal(client: pg.Client, value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number') return String(value)
  if (Buffer.isBuffer(value)) return client.escapeLiteral(byteStrings(value))
  return client.escapeLiteral(
    Array.isArray(value) ? `{${value.map(item => JSON.stringify(item)).join(',')}}` : String(value),
  )
}
