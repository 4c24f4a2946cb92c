// The bounds of each figure: `must` is the minimum, `goal` is the target, `peer` is what the reference service in Python did on
// this kind of machine. Figures without a bound are only reported.

export type Bar = {
  what: string
  figure: string
  /** The ratio to its yardstick counts, not the value. */
  ratio?: true
  better: 'more' | 'less'
  must: number
  goal?: number
  peer?: number
}

export const bars: readonly Bar[] = [
  {
    what: 'e-mails accepted, 64 connections',
    figure: 'accept_email',
    better: 'more',
    must: 5_000,
    goal: 10_000,
    peer: 116,
  },
  {
    what: 'the same beside single-row inserts',
    figure: 'accept_email',
    ratio: true,
    better: 'more',
    must: 0.5,
    goal: 1,
    peer: 0.006,
  },
  {
    what: 'accepted and delivered at the same time, to the last',
    figure: 'deliver_delivered',
    better: 'more',
    must: 2_500,
    goal: 6_000,
    peer: 66,
  },
  {
    what: 'accepted, values of other scripts beside Latin',
    figure: 'accept_scripts_over_latin',
    ratio: true,
    better: 'more',
    must: 0.8,
    goal: 0.95,
  },
  {
    what: 'accepted and delivered, values of other scripts beside Latin',
    figure: 'deliver_scripts_over_latin',
    ratio: true,
    better: 'more',
    must: 0.8,
    goal: 0.95,
  },
  {
    what: 'bulk delivered, values of other scripts beside Latin',
    figure: 'bulk_scripts_over_latin',
    ratio: true,
    better: 'more',
    must: 0.8,
    goal: 0.95,
  },
  { what: 'accept at half load, p50', figure: 'accept_load_50_p50', better: 'less', must: 8, goal: 4 },
  { what: 'accept at half load, p99', figure: 'accept_load_50_p99', better: 'less', must: 50, goal: 20 },
  { what: 'texts accepted, beside e-mails', figure: 'accept_sms', ratio: true, better: 'more', must: 0.8, goal: 1 },
  {
    what: 'bulk of 50,000 e-mails, POST to 201',
    figure: 'bulk_rows_201',
    better: 'less',
    must: 2,
    goal: 0.7,
    peer: 3.7,
  },
  {
    what: 'bulk of 50,000 texts, POST to 201',
    figure: 'bulk_text_201',
    better: 'less',
    must: 4,
    goal: 1.5,
    peer: 12.2,
  },
  { what: 'event loop p99 while a bulk is accepted', figure: 'bulk_loop_p99', better: 'less', must: 50, goal: 15 },
  {
    what: 'bulk of 50,000: the last at the mail server',
    figure: 'bulk_delivered',
    better: 'less',
    must: 15,
    goal: 5,
    peer: 780,
  },
  { what: 'one-time code to the mail server beside that bulk, p95', figure: 'code_p95', better: 'less', must: 250 },
  { what: 'the same, p99', figure: 'code_p99', better: 'less', must: 1_000, goal: 100 },
  { what: 'idle service: request to the mail server, p50', figure: 'idle_p50', better: 'less', must: 50, goal: 10 },
  { what: 'GET one of 1,000,000, p95', figure: 'one_stored_1000000_p95', better: 'less', must: 10, goal: 3 },
  {
    what: 'newest page of 250 of 1,000,000, p95',
    figure: 'newest_page_stored_1000000_p95',
    better: 'less',
    must: 50,
    goal: 15,
  },
  { what: 'any page of 250 of 1,000,000, p95', figure: 'page_stored_1000000_p95', better: 'less', must: 50, goal: 15 },
  { what: 'receipts applied, in lists of 100', figure: 'receipts_in_lists', better: 'more', must: 5_000, goal: 15_000 },
  { what: 'receipts applied, one by one', figure: 'receipts_one_by_one', better: 'more', must: 5_000, goal: 15_000 },
  { what: 'events read from the feed, pages of 1,000', figure: 'events_feed', better: 'more', must: 20_000 },
  { what: 'events to a webhook, batches of 100', figure: 'events_webhook_batches', better: 'more', must: 5_000 },
  { what: 'events to a webhook, one by one', figure: 'events_webhook_one_by_one', better: 'more', must: 1_000 },
  {
    what: 'accepted with 1,000,000 events behind a dead endpoint, beside none',
    figure: 'events_dead_accepted',
    ratio: true,
    better: 'more',
    must: 0.95,
  },
  { what: 'the same: delivered', figure: 'events_dead_delivered', ratio: true, better: 'more', must: 0.95 },
  { what: 'memory of the idle process', figure: 'idle_memory', better: 'less', must: 200, goal: 120 },
  { what: 'memory of the process during bulks, at most', figure: 'bulk_memory', better: 'less', must: 500, goal: 300 },
  {
    what: 'e-mails rendered, the slowest class of values without Markdown, beside plain Latin',
    figure: 'render_email_slowest_plain',
    ratio: true,
    better: 'more',
    must: 0.5,
    goal: 0.8,
  },
  { what: 'e-mails rendered, values with Markdown', figure: 'render_email_markdown', better: 'more', must: 25_000 },
  { what: 'e-mails rendered, values with links', figure: 'render_email_link', better: 'more', must: 25_000 },
  {
    what: 'texts rendered, the slowest class of values beside plain Latin',
    figure: 'render_sms_slowest',
    ratio: true,
    better: 'more',
    must: 0.8,
    goal: 0.95,
  },
  {
    what: 'accepted with 1,000,000 queued, beside none',
    figure: 'accept_queued_1000000',
    ratio: true,
    better: 'more',
    must: 0.85,
    goal: 0.95,
  },
  {
    what: 'two HTTP processes and an engine beside one process: accepted',
    figure: 'processes_accepted',
    ratio: true,
    better: 'more',
    must: 1,
    goal: 1.3,
  },
  { what: 'the same: delivered', figure: 'processes_delivered', ratio: true, better: 'more', must: 1, goal: 1.3 },
  {
    what: 'CPU of a message with 8 machines at 8 times the load of one, beside one; one service',
    figure: 'machines_hot_8_cpu',
    ratio: true,
    better: 'less',
    must: 1.25,
    goal: 1,
  },
  { what: 'the same: 100 services', figure: 'machines_many_8_cpu', ratio: true, better: 'less', must: 1.25, goal: 1 },
]
