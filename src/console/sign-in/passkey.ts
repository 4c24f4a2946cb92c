// Signing in with a passkey: the script asks for a challenge, and posts the answer as a form.
import { askForPasskey, type Refused, usePasskey } from '../../people/passkeys.ts'
import { personOf } from '../../people/sql/people.ts'
import { countTry } from '../../people/tries.ts'
import type { Answer, Visit } from '../page.ts'
import { type Marked, mark, say } from '../words/index.ts'
import { returnPath, signIn } from './finish.ts'
import { signInForm } from './sign-in.tsx'

export async function passkeyOptions(visit: Visit): Promise<Answer> {
  if (!visit.parts.config.localSignIn) return { kind: 'json', status: 403, data: { error: say(PASSKEY_PROBLEMS.off) } }
  return { kind: 'json', data: await askForPasskey(visit.parts, null, visit) }
}

export async function passkeyAnswer(visit: Visit): Promise<Answer> {
  const to = returnPath(visit.form.get('return'))
  if (!visit.parts.config.localSignIn) return signInForm(visit, { to, problem: say(PASSKEY_PROBLEMS.off), status: 403 })
  const used = await usePasskey(visit.parts, null, visit, answerOf(visit))
  const person = 'refused' in used ? null : await personOf(visit.parts.db.sql, used.person)
  if (person) return signIn(visit, person, 'passkey', { returnTo: to })
  // Only what fails is counted: nobody guesses a passkey, and a whole office may share a network.
  await countTry(visit.parts, 'passkey', { network: visit.network })
  const problem = say(PASSKEY_PROBLEMS['refused' in used ? used.refused : 'unknown'])
  return signInForm(visit, { to, problem, status: 422 })
}

export const answerOf = ({ form }: Visit) => ({
  challenge: form.get('challenge') ?? '',
  answer: form.get('answer') ?? '',
})

export const PASSKEY_PROBLEMS: Readonly<Record<Refused['refused'] | 'off', Marked>> = {
  over: mark('That took longer than five minutes, or was sent twice. Use the passkey again.'),
  unknown: mark('Herald does not know this passkey. Ask for a link, then add the passkey to your account.'),
  wrong: mark('The passkey could not be checked. Use it again, or ask for a link.'),
  taken: mark('This passkey is in use already, or there are too many. Remove one first.'),
  off: mark('Passkeys are switched off here. Use single sign-on.'),
}
