// Times and numbers as a person reads them: in their time zone, with the words of the console's design.
import type { Timestamp } from '../core/clock.ts'

export type Formats = {
  timeZone: string
  /** "14:32:08" today, "Wed 09:00" this week, "3 Nov" before. */
  brief(at: Timestamp): string
  /** "Wednesday 11 November 2026, 14:32:08". */
  full(at: Timestamp): string
  /** "Wed 11 Nov". */
  day(at: Timestamp): string
  /** 1,234 */
  number(value: number): string
  /** "99.1 %"; an en dash when the whole is 0. */
  share(part: number, whole: number): string
}
