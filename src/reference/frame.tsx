// The frame around every page of the documentation, in the look of the console: navigation at the side, search on top.
import type { ComponentChildren } from 'preact'
import { heraldVersion } from '../version.ts'

// Of src/console/assets/icons.svg; these pages load no pictures of the console, which may be switched off.
const FLAG = 'M3 1.5v13M3 2.5h10.2L10.6 6l2.6 3.5H3M3 6h4'
export const SEARCH = 'M11.75 7a4.75 4.75 0 1 1-9.5 0 4.75 4.75 0 0 1 9.5 0ZM10.5 10.5l3.75 3.75'

/** Decoration: words stand beside it. */
export const Icon = ({ path }: { path: string }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={path} />
  </svg>
)

export const Frame = (props: {
  /** Names the list of pages. */
  label: string
  list: ComponentChildren
  /** Above the list. */
  find?: ComponentChildren
  top: ComponentChildren
  children: ComponentChildren
}) => (
  <>
    <a class="skip" href="#main">
      Skip to content
    </a>
    <div class="app">
      <nav class="sidebar" aria-label={props.label}>
        <div class="sidebar-in">
          <a class="brand" href="/docs">
            <Icon path={FLAG} />
            Herald <span>Docs {heraldVersion()}</span>
          </a>
          {props.find}
          <details class="menu" open>
            <summary>{props.label}</summary>
            {props.list}
          </details>
        </div>
      </nav>
      <div class="main">
        <header class="topbar">{props.top}</header>
        {props.children}
        <footer class="footer">Herald {heraldVersion()}</footer>
      </div>
    </div>
  </>
)
