// Pages without navigation: signing in, and pages that say why there is no other.
import type { ComponentChildren } from 'preact'
import { Icon } from './basics.tsx'
import { usePage } from './context.ts'

/** Brand and heading on top, then what is given. `wide`: a page with sentences, as errors have. */
export const SoloMain = (props: { title: string; lede?: ComponentChildren; children: ComponentChildren }) => (
  <main class="solo-main" id="main">
    <div class="stack stack-sm">
      <Brand />
      <h1>{props.title}</h1>
      {props.lede && <p class="muted">{props.lede}</p>}
    </div>
    {props.children}
  </main>
)

/** One card that explains: the number of the status as a tag, a heading and sentences. */
export const SoloCard = (props: { tag?: string; title: string; children: ComponentChildren }) => (
  <main class="solo-main solo-wide" id="main">
    <Brand />
    <div class="card">
      <div class="card-body stack">
        {props.tag && <p class="tag">{props.tag}</p>}
        <h1>{props.title}</h1>
        {props.children}
      </div>
    </div>
  </main>
)

const Brand = () => (
  <a class="brand" href={usePage().url('/')}>
    <Icon name="herald" />
    Herald
  </a>
)
