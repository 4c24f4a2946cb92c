// Finds the texts of the console in source code: t`…`, rich`…` and mark('…'). Values are {1}, {2}, … as in the catalogue.

export type FoundText = { key: string; line: number }

/** Whatever stands in front of a text: not a part of a longer name. */
const TEXT = /(?<![\w.$])(?:(?:t|rich)(`)|mark\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"))/g

export function textsIn(source: string): FoundText[] {
  const found: FoundText[] = []
  for (const match of withoutComments(source).matchAll(TEXT)) {
    const line = source.slice(0, match.index).split('\n').length
    const quoted = match[2] ?? match[3]
    const key = match[1] ? templateAt(source, match.index + match[0].length).key : unescaped(quoted ?? '')
    found.push({ key, line })
  }
  return found
}

/** Of the same length, so that places stay. */
const withoutComments = (source: string) =>
  source.replace(/^\s*(?:\/\/.*|\/\*[\s\S]*?\*\/)$/gm, comment => comment.replace(/[^\n]/g, ' '))

export const unescaped = (text: string) =>
  text.replace(/\\(u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|.)/gis, (all, sign: string) => {
    if (sign === 'n') return '\n'
    const code = /^[ux]\{?([0-9a-f]+)\}?$/i.exec(sign)?.[1]
    return code ? String.fromCodePoint(Number.parseInt(code, 16)) : all.slice(1)
  })

/** From after the opening mark to the closing one. */
function templateAt(source: string, from: number): { key: string; end: number } {
  let key = ''
  let values = 0
  let at = from
  let text = from
  for (; source[at] !== '`'; at++) {
    if (at >= source.length) throw new Error('a text does not end')
    if (source[at] === '\\') at++
    else if (source.startsWith('${', at)) {
      values++
      key += `${unescaped(source.slice(text, at))}{${values}}`
      at = endOfValue(source, at + 2)
      text = at + 1
    }
  }
  return { key: key + unescaped(source.slice(text, at)), end: at }
}

/** Where the closing brace is. */
function endOfValue(source: string, from: number): number {
  let depth = 0
  for (let at = from; at < source.length; at++) {
    const letter = source[at]
    if (letter === '`') at = templateAt(source, at + 1).end
    else if (letter === "'" || letter === '"') at = endOfQuoted(source, at)
    else if (letter === '{') depth++
    else if (letter === '}' && depth-- === 0) return at
  }
  throw new Error('a value does not end')
}

/** An apostrophe in the text of an element begins no string: a string ends on its line. */
function endOfQuoted(source: string, from: number): number {
  for (let at = from + 1; at < source.length && source[at] !== '\n'; at++) {
    if (source[at] === '\\') at++
    else if (source[at] === source[from]) return at
  }
  return from
}
