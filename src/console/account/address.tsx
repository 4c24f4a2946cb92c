// Changing one's own e-mail address: by a link that is sent to the new one.
import { Refusal } from '../../core/refusal.ts'
import { askForAddress, changeAddress } from '../../people/account.ts'
import { addressIn } from '../../people/address-link.ts'
import { countTry } from '../../people/tries.ts'
import { usePage } from '../components/context.ts'
import { Form } from '../components/form.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { sentencesOf } from '../refused.ts'
import { Solo } from '../sign-in/solo.tsx'
import { language, rich, t } from '../words/index.ts'
import { accountForm } from './account.tsx'

export async function askForNewAddress(visit: SignedInVisit): Promise<Answer> {
  const { form: values, parts } = visit
  const address = values.get('address') ?? ''
  try {
    await countTry(parts, 'new address', { own: visit.actor.id })
    await askForAddress(parts, visit.signedIn, {
      address,
      browser: visit.browser,
      console: visit.origin + visit.url(''),
      language: language(),
    })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const isWrong = error.kind === 'ValidationError'
    const sentence = isWrong ? t`Enter the whole new address, like name@example.org.` : sentencesOf(error)
    return accountForm(visit, { errors: { address: sentence }, values, status: isWrong ? 422 : 429 })
  }
  return { kind: 'redirect', to: '/account?done=address-asked' }
}

/** Opening the link changes nothing; its button does. */
export function newAddressPage(visit: SignedInVisit): Answer {
  const token = visit.query.get('move') ?? ''
  const address = addressIn(visit.parts, { person: visit.signedIn.person, browser: visit.browser }, token)
  if (address === null) return over()
  return {
    kind: 'page',
    title: t`Change your e-mail address`,
    width: 'solo',
    body: (
      <Solo title={t`Change your e-mail address`}>
        <p>{rich`From now on links go to ${<strong dir="auto">{address}</strong>} instead of ${<bdi>{visit.signedIn.person.email_address}</bdi>}.`}</p>
        <p class="muted">{t`All your other browsers are signed out, and the old address is told by e-mail.`}</p>
        <Form action="/account/address/change">
          <input type="hidden" name="move" value={token} />
          <button class="btn btn-primary full" type="submit">{t`Change the address`}</button>
        </Form>
        <Back words={t`Keep the old one`} />
      </Solo>
    ),
  }
}

export async function changeToNewAddress(visit: SignedInVisit): Promise<Answer> {
  const { parts, signedIn, browser, form } = visit
  const request = { token: form.get('move') ?? '', browser, language: language() }
  const isChanged = await changeAddress(parts, signedIn, request)
  return isChanged ? { kind: 'redirect', to: '/account?done=address-changed' } : over()
}

const Back = ({ words }: { words: string }) => (
  <a class="btn full" href={usePage().url('/account')}>
    {words}
  </a>
)

const over = (): Answer => ({
  kind: 'page',
  title: t`This link is over`,
  width: 'solo',
  status: 410,
  body: (
    <Solo title={t`This link is over`}>
      <p>{t`It was used, is older than an hour, was requested in another browser or account, or someone else has the address.`}</p>
      <Back words={t`Back to my account`} />
    </Solo>
  ),
})
