// Who runs the command: the system account. Changes made from the command line are recorded under its name.
import { userInfo } from 'node:os'
import type { Operator } from './audit/actor.ts'

/** A container may run under a number that has no account; then the number is the name. */
export function currentOperator(accountName = () => userInfo().username): Operator {
  try {
    return { kind: 'operator', name: accountName() }
  } catch {
    return { kind: 'operator', name: `uid ${process.getuid?.() ?? 'unknown'}` }
  }
}
