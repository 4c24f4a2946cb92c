// What happened to one message, oldest first.
import type { ComponentChildren } from 'preact'
import { type Timestamp, zulu } from '../../core/clock.ts'
import { Icon, type IconName, type Tone } from './basics.tsx'
import { usePage } from './context.ts'

export const Timeline = ({ children }: { children: ComponentChildren }) => <ol class="timeline">{children}</ol>

export function TimelineEntry(props: {
  tone: Tone
  icon: IconName
  title: ComponentChildren
  at: Timestamp
  children?: ComponentChildren
}) {
  const { formats } = usePage()
  return (
    <li>
      <span class={props.tone === 'idle' ? 'timeline-mark' : `timeline-mark ${props.tone}`}>
        <Icon name={props.icon} />
      </span>
      <div>
        <p class="timeline-head">
          <strong>{props.title}</strong>
          <time dateTime={zulu(props.at)} title={formats.full(props.at)}>
            {formats.precise(props.at)}
          </time>
        </p>
        {props.children}
      </div>
    </li>
  )
}
