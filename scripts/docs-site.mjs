// Renders docs/*.md for the site that Herald serves at /docs: dist/reference/site.json, with a search index. Part of npm run build, so that the running
// program needs no Markdown renderer.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import MarkdownIt from 'markdown-it'

const GROUPS = [
  ['Tutorial', ['tutorial']],
  [
    'Guides',
    [
      ...['send', 'bulk', 'schedule', 'files', 'statuses', 'webhooks', 'test', 'go-live'].map(name => `guides/${name}`),
      'templates-as-code',
    ],
  ],
  ['Reference', ['interface', 'errors', 'events', 'check', 'reports', 'files', 'clients', 'settings', 'cli']],
  [
    'Operate',
    [
      'install',
      'releases',
      'changelog',
      'moving',
      'running',
      'operate',
      'on-call',
      'console',
      'single-sign-on',
      'providers',
      'providers-text',
      'scaling',
      'admission',
      'security',
    ],
  ],
  ['Explain', ['architecture', 'reliability', 'performance', 'decisions']],
]

/** Pages that are not in docs/: their place in the repository, and the sentence about them on the first page. */
const ELSEWHERE = { changelog: { file: 'CHANGELOG.md', lead: 'This page says what changed in each version.' } }

/** How much of a section is searched. */
const SEARCHED_CHARACTERS = 500

export function writeSite(root) {
  const groups = groupsIn(join(root, 'docs'))
  const slugs = groups.flatMap(([, names]) => names)
  const images = new Set()
  const pages = slugs.map(slug => rendered(root, slug, slugs, images))
  const site = {
    groups: groups.map(([title, names]) => ({ title, slugs: names })),
    pages: pages.map(({ sections: _, ...page }) => page),
    images: [...images],
    index: pages.flatMap(({ slug, title, sections }) =>
      sections.map(({ id, heading, text }) => [slug, id, title, heading, text.slice(0, SEARCHED_CHARACTERS)]),
    ),
  }
  const place = join(root, 'dist', 'reference', 'site.json')
  const text = JSON.stringify(site)
  mkdirSync(dirname(place), { recursive: true })
  // An equal file stays: a process that starts may read it.
  if (!existsSync(place) || readFileSync(place, 'utf8') !== text) writeFileSync(place, text)
}

/** A page that no group names is at the end of Operate, so that none is missing. */
function groupsIn(folder) {
  const named = new Set(GROUPS.flatMap(([, names]) => names))
  const rest = readdirSync(folder)
    .filter(name => name.endsWith('.md') && !named.has(name.slice(0, -3)))
    .map(name => name.slice(0, -3))
  return GROUPS.map(([title, names]) => [title, title === 'Operate' ? [...names, ...rest] : names])
}

function rendered(root, slug, slugs, images) {
  // No HTML passes; comments are marks for tests.
  const source = readFileSync(join(root, fileOf(slug)), 'utf8').replaceAll(/^<!--.*?-->\n/gms, '')
  const markdown = new MarkdownIt({ html: false })
  const tokens = withoutEmptyHeaders(markdown.parse(source, {}))
  const headings = []
  const sections = []
  const used = new Map()
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const text = plain(tokens[at + 1])
      const id = unique(slugOf(text), used)
      token.attrSet('id', id)
      if (token.tag === 'h2') headings.push({ id, text })
      sections.push({ id, heading: text, text: '' })
    } else if (token.type === 'inline') {
      aim(token.children ?? [], slug, slugs)
      const section = sections.at(-1)
      if (section && tokens[at - 1]?.type !== 'heading_open') section.text += `${plain(token)} `
    }
  }
  markdown.renderer.rules.fence = (list, at) => fence(list[at], at, markdown.utils.escapeHtml)
  markdown.renderer.rules.table_open = () => '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
  markdown.renderer.rules.table_close = () => '</table></div>'
  markdown.renderer.rules.image = (list, at) => {
    const path = relative('docs', join(dirname(fileOf(slug)), list[at].attrGet('src')))
    images.add(path)
    const escaped = markdown.utils.escapeHtml
    return `<img src="/docs/${escaped(path)}" alt="${escaped(list[at].content)}" loading="lazy">`
  }
  const html = markdown.renderer.render(tokens, markdown.options, {})
  const lead = tokens[tokens.findIndex(({ type }) => type === 'paragraph_open') + 1]
  return {
    ...{ slug, title: sections[0]?.heading ?? slug, lead: ELSEWHERE[slug]?.lead ?? firstSentence(plain(lead)) },
    ...{ html, headings, sections },
  }
}

/** A header cell without text says nothing to a screen reader: it becomes an ordinary cell, and a row of them is left out. */
function withoutEmptyHeaders(tokens) {
  const kept = []
  for (let at = 0; at < tokens.length; at++) {
    const end =
      tokens[at].type === 'thead_open' ? tokens.findIndex((one, n) => n > at && one.type === 'thead_close') : -1
    const isEmpty = end > 0 && tokens.slice(at, end).every(one => one.type !== 'inline' || one.content === '')
    if (isEmpty) at = end
    else kept.push(tokens[at])
  }
  for (const [at, token] of kept.entries())
    if (token.type === 'th_open' && kept[at + 1].content === '') token.tag = kept[at + 2].tag = 'td'
  return kept
}

const plain = token =>
  (token?.children ?? [])
    .map(child =>
      child.type === 'softbreak' ? ' ' : child.type === 'text' || child.type === 'code_inline' ? child.content : '',
    )
    .join('')

const firstSentence = text => /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, '.') ?? text

/** As GitHub does it, so that links with an anchor work in both. */
const slugOf = text =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-') || 'section'

function unique(id, used) {
  const count = used.get(id) ?? 0
  used.set(id, count + 1)
  return count === 0 ? id : `${id}-${count}`
}

/** Links to pages of the site get their address there. Other files of the repository are not served: of a link to one its text stays. */
function aim(children, slug, slugs) {
  let isDropped = false
  for (const child of children) {
    if (child.type === 'link_open') {
      const href = target(child.attrGet('href'), slug, slugs)
      isDropped = href === null
      if (!isDropped) child.attrSet('href', href)
    }
    if (isDropped && /^link_(open|close)$/.test(child.type))
      Object.assign(child, { type: 'text', content: '', nesting: 0 })
  }
}

const fileOf = slug => ELSEWHERE[slug]?.file ?? `docs/${slug}.md`

function target(href, slug, slugs) {
  if (/^(https?:|#)/.test(href)) return href
  const [path, anchor] = href.split('#')
  const file = normalize(join(dirname(fileOf(slug)), path))
  const name = slugs.find(one => fileOf(one) === file)
  if (name === undefined) return null
  return `/docs/${name}${anchor ? `#${anchor}` : ''}`
}

function fence({ info, content }, at, escapeHtml) {
  const language = escapeHtml(info.split(' ')[0] ?? '')
  return `<figure><figcaption>${language}<button type="button" class="copy" data-copy="code-${at}" hidden>Copy<span class="vh"> this block</span></button></figcaption><pre id="code-${at}" tabindex="0">${escapeHtml(content)}</pre></figure>\n`
}
