// The canonical form of content-rules 13.2, in which rendered HTML is compared.

import { decodeReferences } from '../../../src/rendering/html.ts'

const layout = new Set(['table', 'thead', 'tbody', 'tr', 'td', 'th'])
const blocks = new Set('p h1 h2 h3 h4 h5 h6 ul ol li blockquote div hr br'.split(' '))
const kept = ['href', 'title', 'lang', 'dir']

export function canonical(html: string): string {
  // Removed tags join the text on both sides, so text is collected first and written when a tag comes.
  let out = ''
  let text = ''
  const flush = () => {
    out += escaped(decodeReferences(text)).replace(/[ \t\r\n\f]+/g, ' ')
    text = ''
  }
  for (const token of html.match(/<!--[\s\S]*?-->|<[^<>]*>|[^<]+|</g) ?? []) {
    const tag = /^<(\/?)([A-Za-z][A-Za-z0-9]*)([\s\S]*)>$/.exec(token)
    if (token.startsWith('<!')) continue
    if (!tag) text += token
    else if (!layout.has((tag[2] ?? '').toLowerCase())) {
      flush()
      out += writeTag(tag[1] ?? '', (tag[2] ?? '').toLowerCase(), tag[3] ?? '')
    }
  }
  flush()
  const isBlock = (tag: string) => blocks.has(/[a-z0-9]+/.exec(tag)?.[0] ?? '')
  return out
    .replace(/ *(<[^<>]*>) */g, (whole, tag: string) => (isBlock(tag) ? tag : whole))
    .replace(/(<[^<>]*>) +(?=<)/g, (whole, tag: string) => (isBlock(tag) ? tag : whole))
    .replace(/^ +| +$/g, '')
}

function writeTag(slash: string, name: string, attributes: string): string {
  const found = new Map<string, string>()
  for (const match of attributes.matchAll(/([A-Za-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g)) {
    found.set((match[1] ?? '').toLowerCase(), match[2] ?? match[3] ?? match[4] ?? '')
  }
  const written = kept
    .filter(name => found.has(name))
    .map(name => ` ${name}="${escaped(decodeReferences(found.get(name) ?? '')).replaceAll('"', '&quot;')}"`)
  return `<${slash}${name}${slash ? '' : written.join('')}>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Marks for missing values are compared without their attributes. */
export function bareMarks(html: string): string {
  return html.replace(/<(mark|span|div)\b[^>]*>/g, '<$1>')
}
