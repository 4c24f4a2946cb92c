// When something is sent: now, or at a time of the person's clock. The form has a day and a time; what is stored is a moment.
import { fromMicros, type Timestamp, zulu } from '../../core/clock.ts'
import { usePage } from '../components/context.ts'
import { Choice, type FieldErrors, Input } from '../components/form.tsx'
import type { ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { localFields, readLocal } from './instant.ts'

/** As the person has written it. */
export type When = { isLater: boolean; day: string; time: string }

/** A message can be scheduled so far ahead. */
const AHEAD_MS = 96 * 3_600_000

export const whenIn = (form: URLSearchParams): When => ({
  isLater: form.get('when') === 'later',
  day: (form.get('day') ?? '').slice(0, 20),
  time: (form.get('time') ?? '').slice(0, 20),
})

export type Due =
  /** `at` null: now. */
  | { at: Timestamp | null; isTwice: boolean; error: null }
  | { at: null; isTwice: false; error: { field: 'day' | 'time'; sentence: string } }

/** The moment, or what is wrong with it. */
export function dueOf(visit: ServiceVisit, { isLater, day, time }: When): Due {
  if (!isLater) return { at: null, isTwice: false, error: null }
  const wrong = (field: 'day' | 'time', sentence: string): Due => ({
    ...{ at: null, isTwice: false },
    error: { field, sentence },
  })
  const { timeZone } = visit.formats
  if (day.trim() === '') return wrong('day', t`Enter the day`)
  if (time.trim() === '') return wrong('time', t`Enter the time`)
  const reading = readLocal(day.trim(), time.trim(), timeZone)
  if (reading.kind === 'unreadable') return wrong('day', t`Enter a day like 2026-11-30 and a time like 14:30`)
  if (reading.kind === 'never')
    return wrong('time', t`The clock skips ${time} on this day, because summer time begins. Enter ${reading.instead}`)
  const now = visit.parts.clock.now()
  if (reading.at < now - 60_000) return wrong('time', t`This time has passed. Enter a later one`)
  if (reading.at > now + AHEAD_MS) return wrong('day', t`Enter a day at most 4 days ahead`)
  // A moment of the same minute is now.
  const at = reading.at <= now ? null : fromMicros(reading.at * 1_000)
  return { at, isTwice: reading.kind === 'twice', error: null }
}

/** ISO 8601, as the interface takes it. */
export const isoOf = (at: Timestamp | null): string | null => (at === null ? null : zulu(at))

export function WhenFields(props: { when: When; errors: FieldErrors; now: number; noNow?: string }) {
  const { formats } = usePage()
  const { when, errors, now } = props
  const first = localFields(now + 3_600_000, formats.timeZone)
  return (
    <fieldset class={errors.day || errors.time ? 'field field-bad' : 'field'}>
      <legend>{t`When`}</legend>
      <Choice
        type="radio"
        name="when"
        value="now"
        words={t`Now`}
        checked={!when.isLater}
        disabled={props.noNow !== undefined}
        {...(props.noNow && { hint: props.noNow })}
      />
      <Choice
        type="radio"
        name="when"
        value="later"
        id="when-later"
        words={t`Later, up to 4 days ahead`}
        checked={when.isLater}
      />
      <div class="row later">
        <Input
          type="date"
          name="day"
          label={t`Day`}
          value={when.day || first.day}
          min={localFields(now, formats.timeZone).day}
          max={localFields(now + AHEAD_MS, formats.timeZone).day}
          {...(errors.day && { error: errors.day })}
        />
        <Input
          type="time"
          name="time"
          label={t`Time`}
          value={when.time || `${first.time.slice(0, 2)}:00`}
          {...(errors.time && { error: errors.time })}
        />
      </div>
      <p class="hint">{t`Times are those of ${formats.timeZone}, as your account says.`}</p>
    </fieldset>
  )
}
