// The smallest parts of a page.
import type { ComponentChildren } from 'preact'
import { type Timestamp, zulu } from '../../core/clock.ts'
import { type Marked, say, t } from '../words/index.ts'
import { usePage } from './context.ts'

export type Tone = 'good' | 'info' | 'warn' | 'bad' | 'plan' | 'idle'

export type IconName =
  | 'alert'
  | 'blocked'
  | 'check'
  | 'clip'
  | 'clock'
  | 'copy'
  | 'cross'
  | 'dot'
  | 'dots'
  | 'down'
  | 'download'
  | 'edit'
  | 'email'
  | 'folder'
  | 'herald'
  | 'inbox'
  | 'info'
  | 'job'
  | 'key'
  | 'lock'
  | 'log'
  | 'menu'
  | 'messages'
  | 'overview'
  | 'passkey'
  | 'plus'
  | 'repeat'
  | 'search'
  | 'send'
  | 'services'
  | 'settings'
  | 'shield'
  | 'system'
  | 'team'
  | 'template'
  | 'text'
  | 'transit'
  | 'trash'
  | 'updown'
  | 'upload'
  | 'webhook'

/** Decoration: a word always stands beside it, visible or for screen readers. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" aria-hidden="true">
    <use href={`${usePage().sprite}#${name}`} />
  </svg>
)

/** For screen readers only. */
export const Hidden = ({ children }: { children: ComponentChildren }) => <span class="vh">{children}</span>

/** "14:32:08", "Wed 09:00" or "3 Nov"; the whole time is its title. */
export function Time({ at }: { at: Timestamp }) {
  const { formats } = usePage()
  return (
    <time dateTime={zulu(at)} title={formats.full(at)}>
      {formats.brief(at)}
    </time>
  )
}

const CALLOUT_ICONS: Readonly<Record<Tone, IconName>> = {
  good: 'check',
  info: 'info',
  warn: 'alert',
  bad: 'alert',
  plan: 'clock',
  idle: 'info',
}

/** One thing that the person must know. `role`: `status` after something was done, `alert` after something failed. */
export const Callout = (props: {
  tone: Tone
  title?: string
  role?: 'status' | 'alert'
  id?: string
  children?: ComponentChildren
}) => (
  <div class={`callout ${props.tone}`} {...(props.role && { role: props.role })} {...(props.id && { id: props.id })}>
    <Icon name={CALLOUT_ICONS[props.tone]} />
    <div>
      {props.title && <h2>{props.title}</h2>}
      {props.children}
    </div>
  </div>
)

/** What was done, by the key in `?done=`; another key shows nothing. The sentences are marked. */
export function Done({ done, sentences }: { done: string | null; sentences: Readonly<Record<string, string>> }) {
  const sentence = done !== null && Object.hasOwn(sentences, done) ? sentences[done] : undefined
  return sentence === undefined ? null : (
    <Callout tone="good" role="status">
      <p>{say(sentence as Marked)}</p>
    </Callout>
  )
}

/** Breadcrumb, heading, one line of context and actions. `crumbs`: words and path of each page above. */
export const PageHead = (props: {
  title: ComponentChildren
  crumbs?: readonly (readonly [words: string, path: string])[]
  lede?: ComponentChildren
  /** Actions at the end. */
  children?: ComponentChildren
}) => {
  const { url } = usePage()
  return (
    <div class="page-head">
      <div>
        {props.crumbs && props.crumbs.length > 0 && (
          <nav aria-label={t`Breadcrumb`}>
            <ol class="crumbs">
              {props.crumbs.map(([words, path]) => (
                <li key={path}>
                  <a href={url(path)}>
                    <bdi>{words}</bdi>
                  </a>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <h1>{props.title}</h1>
        {props.lede && <p class="lede">{props.lede}</p>}
      </div>
      {props.children && <div class="row">{props.children}</div>}
    </div>
  )
}

/** `id` of the heading; without a title it is a plain frame. `body` false: the content brings its own spacing, as tables do. */
export const Card = (props: {
  title?: string
  id?: string
  /** Beside the heading. */
  aside?: ComponentChildren
  body?: boolean
  foot?: ComponentChildren
  children?: ComponentChildren
}) => {
  const id = props.id ?? props.title?.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const content = props.body === false ? props.children : <div class="card-body">{props.children}</div>
  const foot = props.foot && <div class="card-foot">{props.foot}</div>
  if (!props.title)
    return (
      <div class="card">
        {content}
        {foot}
      </div>
    )
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{props.title}</h2>
        {props.aside && <div class="row row-tight push">{props.aside}</div>}
      </div>
      {content}
      {foot}
    </section>
  )
}

/** Nothing is here yet, or nothing matches; `children` is the first step. `level` 2: directly under the heading of the page. */
export const Empty = (props: {
  icon: IconName
  title: string
  text: ComponentChildren
  level?: 2 | 3
  children?: ComponentChildren
}) => {
  const Heading = props.level === 2 ? 'h2' : 'h3'
  return (
    <div class="empty">
      <Icon name={props.icon} />
      <Heading>{props.title}</Heading>
      <p>{props.text}</p>
      {props.children && <div class="row">{props.children}</div>}
    </div>
  )
}

/** Raw answers and rare options. */
export const More = (props: { summary: string; open?: boolean; class?: string; children: ComponentChildren }) => (
  <details class={props.class ? `more ${props.class}` : 'more'} open={props.open ?? false}>
    <summary>{props.summary}</summary>
    {props.children}
  </details>
)

/** Machine text; it wraps. */
export const Code = ({ children }: { children: ComponentChildren }) => <pre class="code">{children}</pre>

/** Names and values. */
export const Facts = (props: {
  /** Names above the values, for narrow columns. */
  top?: boolean
  rows: readonly (readonly [name: ComponentChildren, value: ComponentChildren] | false | null | undefined)[]
}) => (
  <dl class={props.top ? 'facts facts-top' : 'facts'}>
    {props.rows.map(
      row =>
        row && (
          <>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </>
        ),
    )}
  </dl>
)

/** Links to views of one thing. */
export const Tabs = (props: {
  label: string
  tabs: readonly { words: string; href: string; count?: number; current?: boolean }[]
}) => {
  const { formats } = usePage()
  return (
    <nav class="tabs" aria-label={props.label}>
      {props.tabs.map(({ words, href, count, current }) => (
        <a key={href} href={href} {...(current && { 'aria-current': 'page' as const })}>
          {words}
          {count !== undefined && <span class="count">{formats.number(count)}</span>}
        </a>
      ))}
    </nav>
  )
}

/** The two letters that stand for a service or a person. */
export function Avatar({ name, square = false }: { name: string; square?: boolean }) {
  return (
    <span class={square ? 'avatar avatar-sq' : 'avatar'} aria-hidden="true">
      {initialsOf(name)}
    </span>
  )
}

const initialsOf = (name: string) =>
  name
    .split(/[\s.@_-]+/u)
    .filter(word => /^[\p{L}\p{N}]/u.test(word))
    .slice(0, 2)
    .map(word => [...word][0]?.toUpperCase() ?? '')
    .join('')
