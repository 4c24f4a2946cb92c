// A category says what messages are for, which decides their priority.
import type { Id } from '../core/id.ts'

export type Pace = 'high' | 'medium' | 'low'
export type Category = { id: Id; name: string; lane: Pace }
