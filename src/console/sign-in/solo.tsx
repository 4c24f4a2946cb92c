// A page with one card and without navigation.
import type { ComponentChildren } from 'preact'
import { SoloMain } from '../components/solo.tsx'

export const Solo = (props: {
  title: string
  lede?: ComponentChildren
  /** Above the card: what went wrong. */
  notice?: ComponentChildren
  /** Below the card. */
  hint?: ComponentChildren
  children: ComponentChildren
}) => (
  <SoloMain title={props.title} lede={props.lede}>
    {props.notice}
    <div class="card">
      <div class="card-body stack">{props.children}</div>
    </div>
    {props.hint && <p class="hint">{props.hint}</p>}
  </SoloMain>
)

/** The script writes the time zone of the browser into it. */
export const TimeZoneField = () => <input type="hidden" name="time_zone" value="" />
