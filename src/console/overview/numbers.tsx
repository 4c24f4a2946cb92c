// The numbers of today and of the last seven days.
import { channelNames } from '../../channels/index.ts'
import type { Took } from '../../statistics/overview.ts'
import { Card, More } from '../components/basics.tsx'
import { ENDINGS } from '../components/captured.tsx'
import { usePage } from '../components/context.ts'
import { Table } from '../components/list.tsx'
import { Chart, Legend, type Stat, Stats } from '../components/numbers.tsx'
import { messageStatusWords } from '../components/status.tsx'
import type { Formats } from '../formats.ts'
import type { ServiceVisit } from '../page.ts'
import { say, t } from '../words/index.ts'
import { messagesUrl } from './links.ts'
import { type Counts, failuresOf, totalsOf } from './read.ts'

const channelWords = (channel: string, count: string): string =>
  channel === 'email' ? t`${count} e-mails` : channel === 'sms' ? t`${count} texts` : `${count} ${channel}`

/** The strip of today; the script refreshes it. */
export function Today({ visit, counts }: { visit: ServiceVisit; counts: Counts }) {
  const { number, share } = visit.formats
  const totals = totalsOf(counts.today)
  const all = totalsOf(counts.overview.days.flatMap(day => day.counts))
  const earlier = all['in-transit'] - totals['in-transit']
  const [reason] = failuresOf(counts.today)
  const byChannel = channelNames.map(channel => {
    const messages = totalsOf(counts.today.filter(one => one.channel === channel)).accepted
    return channelWords(channel, number(messages))
  })
  const [tone, ending] = ENDINGS[counts.endings.today]
  const list = (status: string) => messagesUrl(visit, { status, since: 'today' })
  const stats: Stat[] = [
    {
      label: t`Accepted`,
      value: totals.accepted,
      note: byChannel.join(', '),
      href: messagesUrl(visit, { since: 'today' }),
    },
    {
      label: t`In transit`,
      tone: 'info',
      value: totals['in-transit'],
      note: earlier > 0 ? t`and ${number(earlier)} of earlier days` : t`on their way`,
      href: list('in-transit'),
    },
    {
      label: say(ending),
      tone,
      value: totals.delivered,
      note: t`${share(totals.delivered, totals.delivered + totals.failed)} of finished`,
      href: list('delivered'),
    },
    {
      label: t`Failed`,
      tone: 'bad',
      value: totals.failed,
      note: reason
        ? `${number(reason.messages)} ${messageStatusWords(reason.status, reason.channel).toLowerCase()}`
        : t`none`,
      href: list('failed'),
    },
    {
      label: t`Scheduled`,
      tone: 'plan',
      value: all.scheduled,
      note: counts.scheduledRows > 0 ? t`and ${number(counts.scheduledRows)} in jobs` : t`to be sent later`,
      href: messagesUrl(visit, { status: 'scheduled' }),
    },
  ]
  return <Stats stats={stats} />
}

export function Week({ counts }: { counts: Counts }) {
  const [tone, ended] = ENDINGS[counts.endings.days]
  const { formats } = usePage()
  const last = counts.overview.days.length - 1
  const days = counts.overview.days.map(({ noon, counts }, at) => {
    const [weekday = '', day = ''] = formats.day(noon).split(' ')
    const { delivered, failed, 'in-transit': inTransit } = totalsOf(counts)
    return {
      words: at === last ? ([t`Today`, ''] as const) : ([weekday, ` ${day}`] as const),
      delivered,
      inTransit,
      failed,
    }
  })
  return (
    <Card
      title={t`Last 7 days`}
      aside={
        <Legend
          items={[
            [tone, say(ended)],
            ['info', t`In transit`],
            ['bad', t`Failed`],
          ]}
        />
      }
    >
      <div class="stack">
        <Chart
          label={t`Messages of the last seven days. The table below has the numbers.`}
          days={days.map(({ words, delivered, inTransit, failed }) => ({
            words,
            values: [
              { tone, value: delivered },
              { tone: 'info', value: inTransit },
              { tone: 'bad', value: failed },
            ],
          }))}
        />
        <More summary={t`The numbers as a table`}>
          <Table
            caption={t`Messages a day, by the day on which they were accepted`}
            rows={days}
            columns={[
              { head: t`Day`, cell: ({ words }) => words.join('') },
              { head: say(ended), kind: 'num', cell: day => formats.number(day.delivered) },
              { head: t`In transit`, kind: 'num', cell: day => formats.number(day.inTransit) },
              { head: t`Failed`, kind: 'num', cell: day => formats.number(day.failed) },
            ]}
          />
        </More>
      </div>
    </Card>
  )
}

/** Time from accepted, or from the scheduled time, to delivered. */
export function TimeToDelivery({ counts }: { counts: Counts }) {
  const { formats } = usePage()
  const { today, days } = counts.overview.took
  const rows: readonly (readonly [words: string, took: Took | null])[] = [
    [t`Today`, today],
    [t`Last 7 days`, days],
  ]
  return (
    <Card
      title={t`Time to delivery`}
      body={false}
      foot={t`About how long half of the messages, and 95 % of them, took from accepted or from their scheduled time.`}
    >
      <Table
        caption={t`Time to delivery`}
        rows={rows}
        columns={[
          { head: t`Accepted`, cell: ([words]) => words },
          { head: t`Half`, kind: 'num', cell: ([, took]) => (took ? duration(took.p50, formats) : '–') },
          { head: t`95 %`, kind: 'num', cell: ([, took]) => (took ? duration(took.p95, formats) : '–') },
        ]}
      />
    </Card>
  )
}

/** "0.4 s", "12 s", "4 min", "3 h". */
export function duration(seconds: number, { number }: Pick<Formats, 'number'>): string {
  if (seconds < 0.1) return `< ${number(0.1)} s`
  if (seconds < 9.95) return `${number(Math.round(seconds * 10) / 10)} s`
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
    <Card title={t`Why messages failed`} body={false}>
      <Table
        caption={t`Failed messages by reason`}
        rows={rows}
        columns={[
          {
            head: t`Reason`,
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
          { head: t`Today`, kind: 'num', cell: row => number(row.today) },
          { head: t`7 days`, kind: 'num', cell: row => number(row.week) },
        ]}
      />
    </Card>
  )
}
