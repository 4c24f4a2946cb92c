// The frame of pages without navigation: brand, heading, a card.
import type { ComponentChildren } from 'preact'
import { Icon } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'

export const Solo = (props: {
  title: string
  lede?: ComponentChildren
  /** Above the card: what went wrong. */
  notice?: ComponentChildren
  /** Below the card. */
  hint?: ComponentChildren
  children: ComponentChildren
}) => {
  const { url } = usePage()
  return (
    <>
      <div class="stack stack-sm">
        <a class="brand" href={url('/')}>
          <Icon name="herald" />
          Herald
        </a>
        <h1>{props.title}</h1>
        {props.lede && <p class="muted">{props.lede}</p>}
      </div>
      {props.notice}
      <div class="card">
        <div class="card-body stack">{props.children}</div>
      </div>
      {props.hint && <p class="hint">{props.hint}</p>}
    </>
  )
}

/** The script writes the time zone of the browser into it. */
export const TimeZoneField = () => <input type="hidden" name="time_zone" value="" data-time-zone="" />
