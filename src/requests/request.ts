// A request of a key to the API as the request log keeps it: no address, no value of the caller, no personal data.
import { type Id, readId } from '../core/id.ts'

/** For how long. */
export const KEPT_HOURS = 24

export type ListedRequest = {
  key_id: Id
  method: string
  /** The route with its ids. */
  path: string
  status: number
  /** Of a refusal: the name of the error, and its sentence without values of the caller where that is known. */
  error: string | null
  reason: string | null
  took_ms: number
}

/** The classes of statuses, each by its first status. */
export const CLASSES = [200, 400, 500] as const
export type StatusClass = (typeof CLASSES)[number]
export const classOf = (status: number): StatusClass => (status >= 500 ? 500 : status >= 400 ? 400 : 200)

/** The route with those of its parameters that are ids or numbers; others may be anything, so their names stay. */
export const pathOf = (route: string, params: unknown): string =>
  route.includes(':')
    ? route.replace(/:(\w+)/g, (name: string, param: string) => {
        const value = (params as Record<string, unknown> | null)?.[param]
        return readId(value) ?? (typeof value === 'string' && /^\d{1,6}$/.test(value) ? value : name)
      })
    : route
