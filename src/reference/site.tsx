// The documentation: pages of docs/*.md, which the build has rendered, with navigation around them. They work without script; the script adds
// copying and the search.
import type { ComponentChildren } from 'preact'
import { render } from 'preact-render-to-string'
import { heraldVersion } from '../version.ts'
import { Frame, Icon, SEARCH } from './frame.tsx'

type Page = {
  slug: string
  title: string
  /** The first sentence. */
  lead: string
  html: string
  headings: readonly { id: string; text: string }[]
}

/** What scripts/docs-site.mjs writes. */
export type Site = {
  groups: readonly { title: string; slugs: readonly string[] }[]
  pages: readonly Page[]
  /** Pictures of the pages, by their path in docs/. */
  images: readonly string[]
  /** Address, anchor, title of the page, heading, text: of every section. */
  index: readonly (readonly [slug: string, id: string, title: string, heading: string, text: string])[]
}
export type Assets = { style: string; script: string; index: string }

/** The page of a slug; the empty one is the first page of the site. Null: there is none. */
export function renderPage(site: Site, slug: string, assets: Assets): string | null {
  if (slug === '') return whole({ site, slug, title: 'Documentation', assets, children: <Home site={site} /> })
  const at = site.pages.findIndex(page => page.slug === slug)
  const page = site.pages[at]
  if (!page) return null
  const children = (
    <div class="docs-body">
      {page.headings.length > 2 && page.headings.length < 40 && (
        <details class="contents" open>
          <summary>On this page</summary>
          <ul>
            {page.headings.map(({ id, text }) => (
              <li key={id}>
                <a href={`#${id}`}>{text}</a>
              </li>
            ))}
          </ul>
        </details>
      )}
      <div>
        {/* Rendered by the build from our own Markdown; no HTML in it passes. */}
        <div class="prose" dangerouslySetInnerHTML={{ __html: page.html }} />
        <Around before={site.pages[at - 1]} after={site.pages[at + 1]} />
      </div>
    </div>
  )
  return whole({ site, slug, title: page.title, assets, children })
}

type Whole = { site: Site; slug: string; title: string; assets: Assets; children: ComponentChildren }

const whole = ({ site, slug, title, assets, children }: Whole) =>
  `<!doctype html>${render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} – Herald`}</title>
        <link rel="stylesheet" href={assets.style} />
        <link rel="icon" href="data:," />
        <script type="module" src={assets.script} />
      </head>
      <body>
        <Frame
          label="Pages"
          list={site.groups.map(group => (
            <div key={group.title} class="group">
              <p class="tag">{group.title}</p>
              <ul>
                {group.title === 'Reference' && (
                  <li>
                    <a href="/docs/api">API reference</a>
                  </li>
                )}
                {group.slugs.map(one => (
                  <li key={one}>
                    <a href={`/docs/${one}`} {...(one === slug && { 'aria-current': 'page' as const })}>
                      {titleOf(site, one)}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
          top={
            <>
              <search>
                <label class="find" hidden>
                  <span class="vh">Search the documentation</span>
                  <Icon path={SEARCH} />
                  <input
                    type="search"
                    id="search"
                    data-index={assets.index}
                    autocomplete="off"
                    placeholder="Search documentation"
                  />
                  <kbd aria-hidden="true">/</kbd>
                </label>
                <div id="results" role="status" hidden />
              </search>
              <a class="topbar-end" href="/docs/api">
                API reference
              </a>
            </>
          }
        >
          <main class="page" id="main" tabIndex={-1}>
            {children}
          </main>
        </Frame>
      </body>
    </html>,
  )}`

const titleOf = (site: Site, slug: string) => site.pages.find(page => page.slug === slug)?.title ?? slug

const Home = ({ site }: { site: Site }) => (
  <div class="home">
    <h1>Documentation</h1>
    <p class="lede">
      Herald sends e-mails and text messages for the services of an organisation. New here? Begin with the{' '}
      <a href="/docs/tutorial">tutorial</a>. This is version {heraldVersion()}:{' '}
      <a href="/docs/changelog">what is new</a>.
    </p>
    {site.groups.map(({ title, slugs }) => (
      <section key={title} aria-labelledby={title.toLowerCase()}>
        <h2 id={title.toLowerCase()}>{title}</h2>
        <ul class="tiles">
          {title === 'Reference' && (
            <Tile href="/docs/api" title="API reference">
              Every call is described field by field, with examples in seven languages.
            </Tile>
          )}
          {slugs.map(slug => (
            <Tile key={slug} href={`/docs/${slug}`} title={titleOf(site, slug)}>
              {site.pages.find(page => page.slug === slug)?.lead}
            </Tile>
          ))}
        </ul>
      </section>
    ))}
  </div>
)

const Tile = ({ href, title, children }: { href: string; title: string; children?: ComponentChildren }) => (
  <li class="tile">
    <h3>
      <a href={href}>{title}</a>
    </h3>
    <p>{children}</p>
  </li>
)

const Around = ({ before, after }: { before: Page | undefined; after: Page | undefined }) => (
  <nav class="around" aria-label="Previous and next page">
    {before && (
      <a rel="prev" href={`/docs/${before.slug}`}>
        Previous: {before.title}
      </a>
    )}
    {after && (
      <a rel="next" href={`/docs/${after.slug}`}>
        Next: {after.title}
      </a>
    )}
  </nav>
)
