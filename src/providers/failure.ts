// What the failure of a text message that a provider reports means for its status (contract 6.4).
import type { Receipt } from './port.ts'

export type TextFailure = 'temporary' | 'permanent' | 'blocked' | 'opted-out'

/** The sentence of the interface for a recipient who has opted out. */
export const OPTED_OUT = 'Phone number is opted out'

export function failed(kind: TextFailure, detail: string): Pick<Receipt, 'result' | 'detail' | 'response'> {
  switch (kind) {
    case 'temporary':
      return { result: 'temporary-failure', detail, response: null }
    case 'permanent':
      return { result: 'permanent-failure', detail, response: null }
    case 'blocked':
      return { result: 'permanent-failure', detail: 'blocked', response: null }
    case 'opted-out':
      return { result: 'technical-failure', detail: 'opted out', response: OPTED_OUT }
  }
}
