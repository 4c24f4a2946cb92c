// Renders per second of a typical e-mail and a typical text message, compared with a plain String.replace of the same
// placeholders in the same texts; and of every class of values, compared with plain Latin: npm run bench -- render [--repeats 5]
// [--millis 300]

import { type CompiledEmail, compileEmail } from '../src/rendering/compile.ts'
import type { Values } from '../src/rendering/placeholders.ts'
import { compileSms } from '../src/rendering/sms.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { type Figure, figure, print, table } from './support/report.ts'
import { type Class, classes, nameOf } from './support/values.ts'

const { repeats, millis } = sizes({ repeats: 5, millis: 300 }, { repeats: 1, millis: 20 })

const subject = 'Your appointment on ((date)) is confirmed'
const content = `# Your appointment

Hello ((first name)),

Your appointment at our office is confirmed for **((date))** at ((time)). Please arrive ten minutes early so that we have time to check your papers before you are called.

## What to bring

- an identity card or a passport that is still valid
- the letter we sent you, or its reference number: ((reference))
- any form that you have already filled in

You can park behind the building. The entrance is on the left, next to the bicycle stands, and the waiting room is on the first floor. If you use a wheelchair, ring the bell at the front door and a colleague will come and help you.

^ If you are unwell, please do not come. Call us instead and we will find another day.

---

## Changing your appointment

If you cannot come, please [change your appointment](https://appointments.example.com/change/((reference))) as soon as you can, so that somebody else can have your place. You can change it until the evening before, as often as you like, and you do not need an account for it.

1. Follow the link above and check that your details are right.
2. Choose another day and another time from the list.
3. Wait for the message that confirms your new appointment.

We keep your details for ((days)) days after the appointment and then delete them. You can read more about that at https://www.example.com/privacy at any time, or ask us at the desk when you are here.

Thank you and see you soon

The appointments team
Office for Sample Affairs
`
const values = { 'first name': 'Charlotte', date: '12 May 2031', time: '10:30', reference: 'AB-12-3456', days: 30 }

const smsContent =
  'Hello ((first name)), your appointment is on ((date)) at ((time)). Bring your reference ((reference)). To change it reply CHANGE or call 613-555-0123.'

const email = compileEmail({ subject, content })
const sms = compileSms(smsContent)
const sent = email.render(values)

/** The minimum a template engine must do: replace the names by the values in texts of the same size. */
function trivially(template: string, values: Record<string, unknown>): string {
  return template.replace(/\(\(([^()]+)\)\)/g, (_, name: string) => String(values[name]))
}
// The finished document with its values replaced by placeholders again: the same number of characters has to be written.
const htmlTemplate = Object.entries(values).reduce((html, [name, value]) => {
  return html.replaceAll(String(value), `((${name}))`)
}, sent.html)
const triviallyEmail = () =>
  finish(trivially(subject, values), trivially(content, values), trivially(htmlTemplate, values))
const triviallySms = () => finish(trivially(smsContent, values))

const renderEmail = (compiled: CompiledEmail, values: Values) => {
  const { subject, text, html } = compiled.render(values)
  return finish(subject, text, html)
}

const questions = [
  ['render_email', 'e-mail, plain values', () => renderEmail(email, values), triviallyEmail],
  [
    'render_email_once',
    'e-mail, compile and render once',
    () => renderEmail(compileEmail({ subject, content }), values),
    triviallyEmail,
  ],
  ['render_sms', 'text message', () => finish(sms.render(values, 'Sample Service').text), triviallySms],
] as const

console.log(`content ${content.length} characters, document ${sent.html.length}, text message ${smsContent.length}`)
const lines = questions.map(([name, title, render, baseline]) => ({ title, figure: compare(name, render, baseline) }))
table(
  ['rendered', '/s', 'String.replace/s', 'ratio'],
  lines.map(({ title, figure }) => [title, figure.value, figure.yardstick, figure.ratio]),
)

const names = Object.keys(classes) as Class[]
const marked: readonly Class[] = ['link', 'Markdown']
const ofClasses = names.map(name => ({
  name,
  email: compareEmails(name, classes[name]),
  sms: compareTexts(name, classes[name]),
}))
const mixed = Array.from({ length: 100 }, (_, n) => nameOf(n))
const ofMix = { name: 'the mix of all benches', email: compareEmails('mix', mixed), sms: compareTexts('mix', mixed) }
table(
  ['first name', 'e-mails/s', '× plain Latin', 'texts/s', '× plain Latin'],
  [...ofClasses, ofMix].map(({ name, email, sms }) => [name, email.value, email.ratio, sms.value, sms.ratio]),
)
const unmarked = ofClasses.filter(({ name }) => !marked.includes(name))
print([
  ...lines.map(line => line.figure),
  ...[...ofClasses, ofMix].flatMap(({ email, sms }) => [email, sms]),
  slowest(
    'render_email_slowest_plain',
    unmarked.map(one => one.email),
  ),
  slowest(
    'render_sms_slowest',
    ofClasses.map(one => one.sms),
  ),
])

function compareEmails(name: string, firstNames: readonly string[]): Figure {
  return compare(`render_email_${wordOf(name)}`, inTurn(firstNames, emailOf), inTurn(classes['plain Latin'], emailOf))
}

function compareTexts(name: string, firstNames: readonly string[]): Figure {
  return compare(`render_sms_${wordOf(name)}`, inTurn(firstNames, textOf), inTurn(classes['plain Latin'], textOf))
}

function wordOf(name: string): string {
  return name.toLowerCase().replaceAll(' ', '_')
}

function emailOf(values: Values): number {
  return renderEmail(email, values)
}

function textOf(values: Values): number {
  return finish(sms.render(values, 'Sample Service').text)
}

/** Renders with one of these first names after the other. */
function inTurn(firstNames: readonly string[], render: (values: Values) => number): () => number {
  const all = firstNames.map(name => ({ ...values, 'first name': name }))
  let next = 0
  return () => render(all[next++ % all.length] ?? values)
}

function slowest(name: string, figures: readonly Figure[]): Figure {
  const worst = figures.reduce((worst, one) => (one.ratio < worst.ratio ? one : worst))
  return { ...worst, figure: name }
}

function compare(name: string, render: () => number, baseline: () => number): Figure {
  // Alternating, so that a slow phase of the machine affects both.
  const runs = Array.from({ length: repeats }, () => ({ value: perSecond(render), yardstick: perSecond(baseline) }))
  return figure(name, of(runs, 'value'), '/s', of(runs, 'yardstick'))
}

// JavaScript concatenates strings lazily: reading a character forces both sides to finish.
function finish(...texts: string[]): number {
  return texts.reduce((sum, text) => sum + text.charCodeAt(text.length >> 1), 0)
}

function perSecond(run: () => unknown): number {
  for (let i = 0; i < 200; i++) run()
  let count = 0
  const start = performance.now()
  let spent = 0
  while (spent < millis) {
    for (let i = 0; i < 50; i++) run()
    count += 50
    spent = performance.now() - start
  }
  return (count / spent) * 1000
}
