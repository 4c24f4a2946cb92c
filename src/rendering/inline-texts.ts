// The texts that inline Markdown is searched in, and the placeholders in each. Marks of a value can combine only with marks of the
// same text, so a value with marks is rendered on its own where that text has no others.

import { type Block, createDefinitions, parseBlocks, prepareLines } from './blocks.ts'
import { escapeText } from './html.ts'
import type { Parts } from './placeholders.ts'

/**
 * For every key the numbers of the texts that its places are in; null if one of them has marks of its own, or is no inline text,
 * such as code. The content has no definitions, fences or typed HTML.
 */
export function inlineTextsOf(content: Parts): ReadonlyMap<string, readonly number[] | null> {
  const source = content.map((part, at) => (typeof part === 'string' ? part : `${hole}${at}${hole}`)).join('')
  const found = content.map((): number[] => [])
  let number = 0
  // Plain text is parsed as written and HTML escaped; their blocks may differ.
  for (const written of isSplit.test(source) ? [] : [source, escapeText(source)]) {
    for (const text of textsIn(parseBlocks(prepareLines(written), createDefinitions()))) {
      number++
      if (marks.test(text)) continue
      for (const [, at] of text.matchAll(holes)) found[Number(at)]?.push(number)
    }
  }
  const texts = new Map<string, number[] | null>()
  for (const [at, part] of content.entries()) {
    if (typeof part === 'string') continue
    const own = found[at] ?? []
    const before = texts.get(part.key)
    if (before === null || own.length < 2) texts.set(part.key, null)
    else if (before) before.push(...own)
    else texts.set(part.key, own)
  }
  return texts
}

const hole = '\ue000'
const holes = /\ue000([0-9]+)\ue000/g
const marks = /[\\[\]_*`~]/
// A language tag splits the HTML, and the line separator is deleted before parsing.
const isSplit = /\[\[|\u2028/

function textsIn(blocks: readonly Block[]): string[] {
  return blocks.flatMap(block => {
    if (block.type === 'inset') return textsIn(block.blocks)
    if (block.type === 'list') return block.items.flatMap(item => textsIn(item.blocks))
    return block.type === 'heading' || block.type === 'paragraph' || block.type === 'text' ? [block.text] : []
  })
}
