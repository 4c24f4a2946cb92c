// A category says what a message is for, and with that how soon it must go.
import type { Id } from '../core/id.ts'

export type Pace = 'high' | 'medium' | 'low'
export type Category = { id: Id; name: string; lane: Pace }
