// Finds text in a page of the pseudo language that did not go through the catalogue: letters outside of ⟦ ⟧ that are no data.

/** Elements whose text is data or code. */
const DATA = new Set(['bdi', 'code', 'pre', 'time', 'textarea', 'style', 'script', 'kbd', 'mark', 'ins', 'del'])
const DATA_CLASSES = /\b(?:avatar|id|count|bubble|secret|code)\b/
/** Selects whose options are data. */
const DATA_SELECTS = new Set([
  'time_zone_name',
  'template',
  'job',
  'category',
  'folder',
  'language',
  'sender',
  'reply_to',
  'service',
  'who',
])
const VOID = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'use',
  'rect',
  'line',
])
const ATTRIBUTES = ['aria-label', 'title', 'placeholder', 'alt', 'data-label', 'aria-description']
/** Names, units and addresses that are the same in all languages; words of dates. */
const SAME = new RegExp(
  [
    String.raw`https?:\/\/\S+|\S+@\S+|[0-9a-f]{8}-[0-9a-f-]{27}|[\w-]+(?:\.[\w-]+)*\.example|notification\.[\w-]+`,
    String.raw`(?<![\p{L}])(?:Herald|UTC|UTF-8|PostgreSQL|email|sms|capture|herald\.example|GSM-7|UCS-2|CSV|Markdown|Message-ID|ms|s|min|h|k|il y a|à|er)(?![\p{L}])`,
    String.raw`(?:dim|lun|mar|mer|jeu|ven|sam)\.|(?<!\p{L})(?:dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi)(?!\p{L})`,
    String.raw`(?<!\p{L})\p{L}(?!\p{L})`,
    // Countries, which the runtime translates.
    String.raw`[\p{L}-]+ \([A-Z]{2}\)`,
    String.raw`janv\.|févr\.|mars|avr\.|mai|juin|juil\.|août|sept\.|oct\.|nov\.|déc\.|(?<![\p{L}])(?:janvier|février|avril|juillet|septembre|octobre|novembre|décembre)`,
  ].join('|'),
  'gu',
)

type Open = { tag: string; isData: boolean }

export function untranslatedIn(html: string): string[] {
  const data = dataOf(html)
  const found: string[] = []
  const stack: Open[] = []
  const isData = () => stack.at(-1)?.isData ?? false
  for (const [token, text, closing, tag = '', attributes = ''] of html.matchAll(
    /([^<]+)|<!doctype[^>]*>|<!--[\s\S]*?-->|<(\/?)([a-zA-Z][\w-]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/g,
  )) {
    if (text !== undefined) {
      if (!isData()) found.push(...outside(text, data).map(one => `${stack.at(-1)?.tag}: ${one}`))
      continue
    }
    if (token.startsWith('<!')) continue
    if (closing) {
      while (stack.length > 0 && stack.pop()?.tag !== tag) {}
      continue
    }
    for (const name of ATTRIBUTES) {
      const value = new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1]
      if (value !== undefined && !DATA.has(tag) && !isData())
        found.push(...outside(value, data).map(one => `${tag}[${name}]: ${one}`))
    }
    if (VOID.has(tag) || attributes.endsWith('/')) continue
    stack.push({ tag, isData: isData() || holdsData(tag, attributes) })
  }
  return [...new Set(found)]
}

function holdsData(tag: string, attributes: string): boolean {
  const attribute = (name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1] ?? ''
  if (DATA.has(tag) || DATA_CLASSES.test(attribute('class'))) return true
  // What others wrote may be written from right to left.
  if (attribute('dir') === 'auto') return true
  // Named by an id.
  if (tag === 'option') return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(attribute('value'))
  if (tag === 'select') return DATA_SELECTS.has(attribute('name'))
  // A sentence of the interface without a translation.
  return tag !== 'html' && attribute('lang') === 'en'
}

/** What stands in elements for data is data in titles and options, too. */
function dataOf(html: string): string[] {
  const texts = [...html.matchAll(/<(bdi|code|time)\b[^>]*>([\s\S]*?)<\/\1>/g)].map(([, , text = '']) =>
    text.replace(/<[^>]*>/g, '').trim(),
  )
  return [...new Set(texts)].filter(text => /\p{L}.*\p{L}.*\p{L}/u.test(text)).sort((a, b) => b.length - a.length)
}

function outside(text: string, data: readonly string[]): string[] {
  let rest = text.replace(/⟦[^⟧]*⟧/g, ' ')
  for (const one of data) rest = rest.replaceAll(one, ' ')
  rest = rest.replace(/&\w+;|&#\w+;/g, ' ').replace(SAME, ' ')
  return /\p{L}/u.test(rest) ? [text.trim().slice(0, 120)] : []
}
