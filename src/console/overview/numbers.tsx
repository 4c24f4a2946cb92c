// The numbers of today and of the last seven days.
import { channelNames } from '../../channels/index.ts'
import type { Took } from '../../statistics/overview.ts'
import { Card, More } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { Table } from '../components/list.tsx'
import { Chart, Legend, type Stat, Stats } from '../components/numbers.tsx'
import { messageStatusWords } from '../components/status.tsx'
import type { ServiceVisit } from '../page.ts'
import { messagesUrl } from './links.ts'
import { type Counts, failuresOf, totalsOf } from './read.ts'

const CHANNEL_WORDS: Record<string, string> = { email: 'e-mails', sms: 'texts' }

/** The strip of today; the script refreshes it. */
export function Today({ visit, counts }: { visit: ServiceVisit; counts: Counts }) {
  const { number, share } = visit.formats
  const totals = totalsOf(counts.today)
  const all = totalsOf(counts.overview.days.flatMap(day => day.counts))
  const earlier = all['in-transit'] - totals['in-transit']
  const [reason] = failuresOf(counts.today)
  const byChannel = channelNames.map(channel => {
    const messages = counts.today.filter(one => one.channel === channel).reduce((sum, one) => sum + one.messages, 0)
    return `${number(messages)} ${CHANNEL_WORDS[channel] ?? channel}`
  })
  const list = (status: string) => messagesUrl(visit, { status, since: 'today' })
  const stats: Stat[] = [
    {
      label: 'Accepted',
      value: totals.accepted,
      note: byChannel.join(', '),
      href: messagesUrl(visit, { since: 'today' }),
    },
    {
      label: 'In transit',
      tone: 'info',
      value: totals['in-transit'],
      note: earlier > 0 ? `and ${number(earlier)} of earlier days` : 'on their way',
      href: list('in-transit'),
    },
    {
      label: 'Delivered',
      tone: 'good',
      value: totals.delivered,
      note: `${share(totals.delivered, totals.delivered + totals.failed)} of finished`,
      href: list('delivered'),
    },
    {
      label: 'Failed',
      tone: 'bad',
      value: totals.failed,
      note: reason
        ? `${number(reason.messages)} ${messageStatusWords(reason.status, reason.channel).toLowerCase()}`
        : 'none',
      href: list('failed'),
    },
    {
      label: 'Scheduled',
      tone: 'plan',
      value: all.scheduled,
      note: counts.scheduledRows > 0 ? `and ${number(counts.scheduledRows)} in jobs` : 'to be sent later',
      href: messagesUrl(visit, { status: 'scheduled' }),
    },
  ]
  return <Stats stats={stats} />
}

export function Week({ counts }: { counts: Counts }) {
  const { formats } = usePage()
  const last = counts.overview.days.length - 1
  const days = counts.overview.days.map(({ noon, counts }, at) => {
    const [weekday = '', day = ''] = formats.day(noon).split(' ')
    const { delivered, failed, 'in-transit': inTransit } = totalsOf(counts)
    return {
      words: at === last ? (['Today', ''] as const) : ([weekday, ` ${day}`] as const),
      delivered,
      inTransit,
      failed,
    }
  })
  return (
    <Card
      title="Last 7 days"
      aside={
        <Legend
          items={[
            ['good', 'Delivered'],
            ['info', 'In transit'],
            ['bad', 'Failed'],
          ]}
        />
      }
    >
      <div class="stack">
        <Chart
          label="Messages of the last seven days. The table below has the numbers."
          days={days.map(({ words, delivered, inTransit, failed }) => ({
            words,
            values: [
              { tone: 'good', value: delivered },
              { tone: 'info', value: inTransit },
              { tone: 'bad', value: failed },
            ],
          }))}
        />
        <More summary="The numbers as a table">
          <Table
            caption="Messages a day, by the day on which they were accepted"
            rows={days}
            columns={[
              { head: 'Day', cell: ({ words }) => words.join('') },
              { head: 'Delivered', kind: 'num', cell: day => formats.number(day.delivered) },
              { head: 'In transit', kind: 'num', cell: day => formats.number(day.inTransit) },
              { head: 'Failed', kind: 'num', cell: day => formats.number(day.failed) },
            ]}
          />
        </More>
      </div>
    </Card>
  )
}

/** Time from accepted, or from the scheduled time, to delivered. */
export function TimeToDelivery({ counts }: { counts: Counts }) {
  const { today, days } = counts.overview.took
  const rows: readonly (readonly [words: string, took: Took | null])[] = [
    ['Today', today],
    ['Last 7 days', days],
  ]
  return (
    <Card
      title="Time to delivery"
      body={false}
      foot="About how long half of the messages, and 95 % of them, took from accepted or from their scheduled time."
    >
      <Table
        caption="Time to delivery"
        rows={rows}
        columns={[
          { head: 'Accepted', cell: ([words]) => words },
          { head: 'Half', kind: 'num', cell: ([, took]) => (took ? duration(took.p50) : '–') },
          { head: '95 %', kind: 'num', cell: ([, took]) => (took ? duration(took.p95) : '–') },
        ]}
      />
    </Card>
  )
}

/** "0.4 s", "12 s", "4 min", "3 h". */
export function duration(seconds: number): string {
  if (seconds < 0.1) return '< 0.1 s'
  if (seconds < 9.95) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 99.5) return `${Math.round(seconds)} s`
  if (seconds < 5_970) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3_600)} h`
}

/** Failures of today and of seven days, by reason. */
export function Reasons({ visit, counts }: { visit: ServiceVisit; counts: Counts }) {
  const { number } = visit.formats
  const week = new Map<string, { status: string; channel: string; today: number; week: number }>()
  counts.overview.days.forEach(({ counts: ofDay }, at) => {
    for (const { status, channel, messages } of failuresOf(ofDay)) {
      const row = week.get(status + channel) ?? { status, channel, today: 0, week: 0 }
      row.week += messages
      if (at === counts.overview.days.length - 1) row.today += messages
      week.set(status + channel, row)
    }
  })
  const rows = [...week.values()].sort((a, b) => b.week - a.week)
  if (rows.length === 0) return null
  return (
    <Card title="Why messages failed" body={false}>
      <Table
        caption="Failed messages by reason"
        rows={rows}
        columns={[
          {
            head: 'Reason',
            cell: row => (
              <a
                class="title"
                href={messagesUrl(visit, {
                  status: row.status,
                  kind: row.channel === 'sms' ? 'text' : 'email',
                  since: '7',
                })}
              >
                {messageStatusWords(row.status, row.channel)}
              </a>
            ),
          },
          { head: 'Today', kind: 'num', cell: row => number(row.today) },
          { head: '7 days', kind: 'num', cell: row => number(row.week) },
        ]}
      />
    </Card>
  )
}
