// One setting: its name, its value, and the link that changes it.
import type { ComponentChildren } from 'preact'
import type { Id } from '../../core/id.ts'
import { Hidden } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { t } from '../words/index.ts'

export const settingsPath = (service: Id, rest = '') => `/s/${service}/settings${rest}`

/** `change`: a path of the console; null: the person may not. `by`: who may, where people expect to change it. */
export function Setting(props: {
  name: string
  change?: string | null | false
  by?: string
  children: ComponentChildren
}) {
  const { url } = usePage()
  return (
    <div class="setting">
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
      <dd>
        {props.change ? (
          <a href={url(props.change)}>
            {t`Change`}
            <Hidden> {props.name}</Hidden>
          </a>
        ) : (
          props.by && <span class="muted">{props.by}</span>
        )}
      </dd>
    </div>
  )
}

/** Names of the country in the language of the page, "Canada (CA)". */
export function countryWords(code: string, language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'region' }).of(code)
  return name && name !== code ? `${name} (${code})` : code
}
