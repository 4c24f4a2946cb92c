// The top-level declarations of a source file that contain SQL, each with the parts of the same file that it uses.
import { withoutComments } from './tables.ts'

export type Declaration = { name: string; text: string }

const START = /^(?=(?:export )?(?:async )?(?:const|function\*?|type) )/m
const NAME = /^(?:export )?(?:async )?(?:const|function\*?) (\w+)/

export function declarationsIn(text: string): Declaration[] {
  const own = withoutComments(text)
    .split(START)
    .flatMap(one => {
      const name = NAME.exec(one)?.[1]
      return name === undefined ? [] : [{ name, text: one }]
    })
  const byName = new Map(own.map(one => [one.name, one.text]))
  const whole = (name: string, seen: ReadonlySet<string>): string => {
    const text = byName.get(name) ?? ''
    const used = [...new Set([...text.matchAll(/\b\w+\b/g)].map(([word]) => word))].filter(
      word => byName.has(word) && !seen.has(word),
    )
    return [text, ...used.map(word => whole(word, new Set([...seen, ...used])))].join('\n')
  }
  return own.map(({ name }) => ({ name, text: whole(name, new Set([name])) }))
}
