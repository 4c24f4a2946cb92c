// The data of each channel, without its code: rendering and reading of recipients take 50 ms to load, which settings, lists and most
// commands do not need. The order is that of tables and answers.
export const PLAIN = {
  email: {
    name: 'email',
    words: { one: 'e-mail', many: 'e-mails', title: 'E-mails' },
    columns: { maySend: 'may_send_email', dailyLimit: 'email_daily_limit', retentionDays: 'email_retention_days' },
    dailyLimits: { trial: 50, live: 10_000 },
    providersVariable: 'HERALD_EMAIL_PROVIDERS',
    lanes: [
      { pace: 'high', slots: 16, reserved: 4 },
      { pace: 'medium', slots: 16, reserved: 2 },
      { pace: 'low', slots: 32, reserved: 2 },
    ],
    origins: 'reply_tos',
    takesFiles: true,
    refusals: { send: 'noEmails', origin: 'unknownReplyTo', template: 'emailNotAllowed' },
    labels: {},
    isFirstFinal: false,
    mixesSimulated: true,
  },
  sms: {
    name: 'sms',
    words: { one: 'text message', many: 'text messages', title: 'Text messages' },
    columns: { maySend: 'may_send_sms', dailyLimit: 'sms_daily_limit', retentionDays: 'sms_retention_days' },
    dailyLimits: { trial: 50, live: 1_500 },
    providersVariable: 'HERALD_TEXT_PROVIDERS',
    lanes: [
      { pace: 'high', slots: 16, reserved: 4 },
      { pace: 'medium', slots: 16, reserved: 2 },
      { pace: 'low', slots: 32, reserved: 2 },
    ],
    origins: 'senders',
    takesFiles: false,
    refusals: { send: 'noTexts', origin: 'unknownSender', template: 'smsNotAllowed' },
    labels: { sent: 'Sent', 'permanent-failure': 'No such number', 'temporary-failure': 'Carrier issue' },
    isFirstFinal: true,
    mixesSimulated: false,
  },
} as const

export type Channel = keyof typeof PLAIN
export const channelNames = Object.keys(PLAIN) as Channel[]
