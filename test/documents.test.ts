// What the documents name is there: links and anchors, files, commands, settings, scripts. And the README's first screen, the changelog and the
// interface page have what readers look for.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { table } from '../src/cli/table.ts'
import { verifyWebhook } from '../src/client/index.ts'
import { settingsTable } from '../src/config/index.ts'
import { operationsOf } from '../src/reference/operations.ts'
import { openApi } from '../src/routes.ts'

const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => join('docs', name)),
].map(page => ({ page, text: readFileSync(page, 'utf8') }))
const textOf = (page: string) => readFileSync(page, 'utf8')
const about = JSON.parse(textOf('package.json')) as { version: string; scripts: Record<string, string> }

/** Without blocks of code, in which brackets are not links. */
const prose = (text: string) => text.replaceAll(/^ *```.*?^ *```$/gms, '').replaceAll(/`[^`\n]*`/g, '``')

/** The anchors of GitHub. Repeated headings get a number. */
function anchorsOf(text: string): Set<string> {
  const used = new Map<string, number>()
  const headings = text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)
  return new Set(
    [...headings].map(([, heading = '']) => {
      const id = heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-')
      const count = used.get(id) ?? 0
      used.set(id, count + 1)
      return count === 0 ? id : `${id}-${count}`
    }),
  )
}

const linksIn = (text: string) =>
  [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, href]) => String(href))
    .filter(href => !/^(https?|mailto):/.test(href))

describe('one truth about what a refusal means', () => {
  const said = [
    ...pages.filter(({ page }) => page !== 'CHANGELOG.md'),
    ...['openapi.json', 'src/reference/page.tsx', 'src/client/index.ts'].map(page => ({ page, text: textOf(page) })),
  ]
  const paragraphsWith = (words: RegExp) =>
    said.flatMap(({ page, text }) =>
      text
        .split(/\n(?=\s*(?:\n|[-|] |<p>))/)
        .filter(paragraph => words.test(paragraph))
        .map(paragraph => ({ page, paragraph })),
    )

  test('where 4xx means that nothing was stored, 409 of a running request is excluded (contract 23.1)', () => {
    const claims = paragraphsWith(/4xx\b[^|\n]* (?:means|was not stored)|Refused\. Nothing was stored/i)
    expect(claims.length).toBeGreaterThanOrEqual(5)
    expect(claims.filter(({ paragraph }) => !/\b409\b/.test(paragraph))).toEqual([])
  })

  test('nowhere does a failure mean that nothing happened', () => {
    expect(paragraphsWith(/nothing (?:has )?happened/i)).toEqual([])
  })
})

describe('what was false stays away', () => {
  test.each([
    ['/inbox needs its link', /shows messages to every request/],
    ['only an empty page has no next', /last page has no `next`/],
    ['a later receipt corrects a delivered e-mail', /final when it is `delivered`/],
    ['doctor does not look at everything', /doctor` says what is missing/],
    ['a patch may change defaults', /corrections only/],
  ])('%s', (_, claim) => {
    const others = pages.filter(({ page }) => page !== 'CHANGELOG.md')
    expect(others.filter(({ text }) => claim.test(text)).map(({ page }) => page)).toEqual([])
  })

  test('what docs/moving.md says is missing has no operation', () => {
    const [, missing = ''] = /There are no ([^.]+)\./.exec(textOf('docs/moving.md')) ?? []
    const nouns = missing.split(/, | and (?:no )?/).map(noun => noun.replace(/s$/, '').split(' ').at(-1) ?? '')
    expect(nouns.length).toBeGreaterThanOrEqual(2)
    const paths = operationsOf(openApi()).map(({ path }) => path)
    expect(paths.filter(path => nouns.some(noun => path.includes(noun)))).toEqual([])
  })

  test('a field of the log has one meaning', () => {
    const [, section = ''] = textOf('docs/operate.md').split('\n## Log\n')
    const names = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(30)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })
})

describe('what is named is there', () => {
  test('files and anchors of links', () => {
    const wrong = pages.flatMap(({ page, text }) =>
      linksIn(text)
        .filter(href => {
          const [path = '', anchor] = href.split('#')
          const file = path === '' ? page : normalize(join(dirname(page), path))
          if (!existsSync(file)) return true
          return anchor !== undefined && !anchorsOf(textOf(file)).has(anchor)
        })
        .map(href => `${page}: ${href}`),
    )
    expect(wrong).toEqual([])
    expect(pages.flatMap(({ text }) => linksIn(text)).length).toBeGreaterThan(150)
  })

  test('files and folders of the project', () => {
    const paths = /`((?:docs|src|test|ops|scripts|bench|faults|migrations|bin)\/[\w./-]*\w)`/g
    const wrong = pages.flatMap(({ page, text }) =>
      [...text.matchAll(paths)]
        .map(([, path]) => String(path))
        .filter(path => !existsSync(path))
        .map(path => `${page}: ${path}`),
    )
    expect(wrong).toEqual([])
  })

  test('commands', () => {
    const verbs = new Map<string, (string | undefined)[]>()
    for (const { noun, verb } of table) verbs.set(noun, [...(verbs.get(noun) ?? []), verb])
    const wrong = pages.flatMap(({ page, text }) =>
      [...text.matchAll(/(?:`|npx |^)herald ([a-z][a-z-]*)(?: ([a-z][a-z|-]*))?/gm)]
        .filter(([, noun = '', verb = '']) => {
          const known = verbs.get(noun)
          if (!known) return !['help', 'version'].includes(noun)
          return !known.includes(undefined) && verb !== '' && !verb.split('|').every(one => known.includes(one))
        })
        .map(([command]) => `${page}: ${command}`),
    )
    expect(wrong).toEqual([])
  })

  test('settings', () => {
    const names = new Set(settingsTable().map(({ name }) => name))
    // Of tests and examples, and one that docs/decisions.md decides against.
    const others = new Set(['HERALD_TEST_KEY', 'HERALD_KEY', 'HERALD_SMTP_2_URL'])
    const wrong = pages.flatMap(({ page, text }) =>
      [...text.matchAll(/\bHERALD_[A-Z0-9_]*[A-Z0-9]\b(?![_*…])/g)]
        .map(([name]) => name)
        .filter(name => !names.has(name) && !names.has(name.replace(/_FILE$/, '')) && !others.has(name))
        .map(name => `${page}: ${name}`),
    )
    expect(wrong).toEqual([])
  })

  test('scripts of npm', () => {
    const wrong = pages.flatMap(({ page, text }) =>
      [...text.matchAll(/\bnpm run (?:--silent )?([a-z]+(?::[a-z]+)?)/g)]
        .filter(([, name = '']) => !about.scripts[name])
        .map(([command]) => `${page}: ${command}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('the README', () => {
  const readme = textOf('README.md')
  const screen = readme.slice(0, readme.indexOf('\n## '))

  test('its first screen has a picture, two commands, and where to read on', () => {
    expect(screen.split('\n').length).toBeLessThan(36)
    const [, picture = ''] = /!\[[^\]]{20,}\]\((docs\/[^)]+\.png)\)/.exec(screen) ?? []
    expect(statSync(picture).size).toBeLessThanOrEqual(150_000)
    expect(screen).toContain('```sh\nnpm ci\nnpm start\n```')
    for (const name of ['tutorial', 'guides/send', 'interface', 'operate', 'install', 'moving'])
      expect(screen).toContain(`(docs/${name}.md)`)
  })

  test('leads to every page of docs/', () => {
    const linked = new Set(linksIn(readme).map(href => href.split('#')[0]))
    const guides = /^docs\/guides\//
    expect(pages.map(({ page }) => page).filter(page => !linked.has(page) && !guides.test(page))).toEqual(['README.md'])
  })
})

describe('the release', () => {
  test('the changelog begins with this version and its date, and says what to do', () => {
    const [, first = ''] = textOf('CHANGELOG.md').split(/^## /m)
    expect(first).toMatch(new RegExp(`^${about.version.replaceAll('.', '\\.')} – \\d{4}-\\d{2}-\\d{2}\n`))
    expect(first).toContain('### Do this when you upgrade')
  })

  test('the lock file and the example for Kubernetes have this version', () => {
    const lock = JSON.parse(textOf('package-lock.json')) as {
      version: string
      packages: Record<string, { version: string }>
    }
    expect([lock.version, lock.packages['']?.version]).toEqual([about.version, about.version])
    expect(textOf('ops/kubernetes/kustomization.yaml')).toContain(`newTag: ${about.version}`)
  })

  test('every release with a fixture is a supported upgrade', () => {
    for (const name of readdirSync('test/fixtures/releases').filter(file => file.endsWith('.json')))
      expect(textOf('docs/releases.md')).toContain(`| ${name.replace('.json', '')} |`)
  })
})

describe('docs/interface.md', () => {
  const text = textOf('docs/interface.md')

  test.each([
    'How do I send a file?',
    'What does each status mean?',
    'What do I do on 429?',
    'How do I test without sending?',
    'How do I verify a webhook?',
  ])('%s has a heading and an example', heading => {
    const [, section = ''] = text.split(`\n## ${heading}\n`)
    expect(section.split('\n## ')[0]).toContain('\n```')
  })

  test('the webhook to try has the signature that it says', async () => {
    const given = JSON.parse(/```json\n(\{\n {2}"secret".*?)\n```/s.exec(text)?.[1] ?? '') as Record<string, string>
    vi.useFakeTimers({ toFake: ['Date'], now: Number(given['webhook-timestamp']) * 1_000 })
    try {
      const { secret = '', body = '', ...headers } = given
      expect(await verifyWebhook(secret, new Headers(headers), body)).toEqual([JSON.parse(body)])
      expect(await verifyWebhook(secret, new Headers(headers), `${body} `)).toBe(null)
    } finally {
      vi.useRealTimers()
    }
  })

  test('every operation of openapi.json has a request and an answer', () => {
    const sections = new Map(
      text.split(/^### /m).map(section => [/^`([A-Z]+ \/[^`]+)`/m.exec(section)?.[1] ?? '', section]),
    )
    const wrong = operationsOf(openApi()).filter(({ method, path }) => {
      const section = sections.get(`${method} ${path}`) ?? ''
      return !(section.includes('```sh\ncurl ') && /^Answer 2\d\d/m.test(section))
    })
    expect(wrong.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })
})
