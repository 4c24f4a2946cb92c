// What happened to one message, oldest first, in short words; answers of others are folded.
import type { ComponentChildren } from 'preact'
import { fromMicros } from '../../core/clock.ts'
import { type Entry, type Who, whoText } from '../../timeline/entry.ts'
import type { WholeMessage } from '../../timeline/whole.ts'
import { Card, Code, type IconName, More, Time, type Tone } from '../components/basics.tsx'
import { messageStatusWords } from '../components/status.tsx'
import { Timeline, TimelineEntry } from '../components/timeline.tsx'
import type { ServiceVisit } from '../page.ts'
import { rich, t } from '../words/index.ts'
import { fromNoun, known } from '../words/nouns.tsx'

type Said = { tone: Tone; icon: IconName; title: string; lines?: readonly ComponentChildren[] }

export function Happened({ visit, whole }: { visit: ServiceVisit; whole: WholeMessage }) {
  let attempt = 0
  const { message, isScheduled } = whole
  return (
    <Card title={t`What happened`} id="timeline">
      <Timeline>
        {whole.entries.map((entry, at) => {
          if (entry.kind === 'attempt' || entry.kind === 'uncertain') attempt++
          const { tone, icon, title, lines = [] } = saidOf(entry, attempt, whole)
          return (
            <TimelineEntry key={at} {...{ tone, icon, title }} at={entry.at}>
              {lines.map((line, n) => (
                <p key={n} class="muted">
                  {line}
                </p>
              ))}
              {entry.next_try_at && <p class="muted">{rich`Next try ${<Time at={entry.next_try_at} />}`}</p>}
              {entry.reply && (
                <More summary={entry.kind === 'receipt' ? t`Receipt` : t`Answer of the provider`}>
                  <Code>{entry.reply}</Code>
                </More>
              )}
            </TimelineEntry>
          )
        })}
        {isScheduled && message.scheduled_for && (
          <TimelineEntry
            tone="plan"
            icon="clock"
            title={t`Waits for ${visit.formats.clock(message.scheduled_for)}`}
            at={message.scheduled_for}
          >
            <p class="muted">{waitWords(Date.parse(message.scheduled_for) - visit.parts.clock.now())}</p>
          </TimelineEntry>
        )}
      </Timeline>
      {whole.entries.length === 1 && !isScheduled && (
        <p class="hint">{rich`As of ${visit.formats.brief(fromMicros(visit.parts.clock.micros()))}; load the page again to see more.`}</p>
      )}
    </Card>
  )
}

function waitWords(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000))
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return hours > 0 ? t`In ${hours} h ${rest} min` : t`In ${rest} min`
}

const quoted = (who: Who): ComponentChildren => {
  if (who.name === null) return capital(known(whoText(who)))
  return who.kind === 'key' ? rich`Key “${<bdi>{who.name}</bdi>}”` : <bdi>{who.name}</bdi>
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const FINAL_TONES: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  sent: 'good',
  'permanent-failure': 'bad',
  'technical-failure': 'bad',
  'temporary-failure': 'warn',
  sending: 'info',
  pending: 'info',
}

const iconFor = (tone: Tone): IconName =>
  tone === 'good' ? 'check' : tone === 'bad' ? 'cross' : tone === 'warn' ? 'alert' : 'transit'

function saidOf(entry: Entry, attempt: number, whole: WholeMessage): Said {
  const { message, sentBy, cancelledBy, job } = whole
  switch (entry.kind) {
    case 'accepted':
      return {
        tone: 'idle',
        icon: 'key',
        title: t`Accepted`,
        lines: [
          rich`${quoted(sentBy)}, template version ${message.template_version}`,
          ...(job ? [rich`Row ${message.job_row ?? '–'} of ${<bdi>{job.name}</bdi>}`] : []),
        ],
      }
    case 'attempt':
    case 'uncertain':
      return attemptWords(entry, attempt)
    case 'receipt': {
      const tone = entry.status ? (FINAL_TONES[entry.status] ?? 'info') : 'idle'
      const words = entry.status ? messageStatusWords(entry.status, message.channel).toLowerCase() : t`changed nothing`
      return { tone, icon: iconFor(tone), title: t`Receipt: ${words}`, lines: providerLines(entry) }
    }
    case 'scan':
      if (entry.status === 'created') return { tone: 'good', icon: 'shield', title: t`Attachment scanned` }
      if (entry.status === 'virus-scan-failed') return { tone: 'bad', icon: 'shield', title: t`Virus found` }
      return { tone: 'warn', icon: 'shield', title: t`Scan without a result` }
    case 'cancelled':
      return { tone: 'idle', icon: 'blocked', title: t`Cancelled`, lines: cancelledBy ? [quoted(cancelledBy)] : [] }
    case 'expired':
      return { tone: 'warn', icon: 'clock', title: t`Given up`, lines: [fromNoun(entry.text)] }
    case 'webhook': {
      const isTaken = entry.status_code !== null && entry.status_code >= 200 && entry.status_code < 300
      const answer = entry.status_code === null ? t`no answer` : t`answered ${entry.status_code}`
      return {
        tone: isTaken ? 'good' : 'warn',
        icon: 'webhook',
        title: isTaken ? t`Webhook: accepted by your server` : t`Webhook: not accepted`,
        lines: [entry.latency_ms === null ? answer : t`${answer} after ${entry.latency_ms} ms`],
      }
    }
    case 'omitted':
    case 'status':
      return {
        tone: 'idle',
        icon: 'dots',
        title: entry.kind === 'omitted' ? t`Earlier events` : t`Earlier`,
        lines: [fromNoun(entry.text)],
      }
  }
}

const providerLines = ({ provider, latency_ms }: Entry): ComponentChildren[] =>
  provider === null
    ? []
    : [
        <>
          <bdi>{provider}</bdi>
          {latency_ms !== null && `, ${latency_ms} ms`}
        </>,
      ]

function attemptWords(entry: Entry, attempt: number): Said {
  const of = (tone: Tone, icon: IconName, words: string): Said => ({
    tone,
    icon,
    title: t`Attempt ${attempt}: ${words}`,
    lines: [...providerLines(entry), ...(entry.reply_class ? [fromNoun(entry.reply_class)] : [])],
  })
  if (entry.provider === 'simulation')
    return { tone: 'idle', icon: 'info', title: t`Simulated`, lines: [t`Nothing was sent`] }
  if (entry.provider === 'capture' && entry.status === 'delivered')
    return { tone: 'good', icon: 'inbox', title: t`Kept in the inbox`, lines: [t`Nothing was sent`] }
  if (entry.kind === 'uncertain') return of('warn', 'alert', t`answer lost`)
  switch (entry.status) {
    case 'sending':
      return of('info', 'transit', t`handed over`)
    case 'sent':
    case 'delivered':
      return of('good', 'check', t`taken, no receipt expected`)
    case 'permanent-failure':
      return of('bad', 'cross', t`refused`)
    case null:
      return of('warn', 'repeat', t`try again later`)
    default:
      return of('bad', 'cross', t`not sent`)
  }
}
