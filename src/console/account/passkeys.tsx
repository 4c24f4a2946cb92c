// Adding, renaming and removing one's own passkeys.
import { readId } from '../../core/id.ts'
import { addPasskey, hasPasskeys, offerPasskey, removePasskey, renamePasskey } from '../../people/passkeys.ts'
import { Callout, Card, PageHead } from '../components/basics.tsx'
import { Input } from '../components/form.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { answerOf, PASSKEY_PROBLEMS } from '../sign-in/passkey.ts'
import { PasskeyForm } from '../sign-in/passkey-form.tsx'
import { rich, say, t } from '../words/index.ts'

export const newPasskeyPage = (visit: SignedInVisit): Answer => newPasskeyForm(visit, {})

const newPasskeyForm = (visit: SignedInVisit, { problem, status }: { problem?: string; status?: number }): Answer => ({
  kind: 'page',
  title: problem ? t`Error: ${t`Add a passkey`}` : t`Add a passkey`,
  width: 'narrow',
  nav: 'account',
  ...(status !== undefined && { status }),
  body: <NewPasskey device={visit.device} origin={visit.origin} problem={problem} />,
})

export const newPasskeyOptions = async (visit: SignedInVisit): Promise<Answer> => ({
  kind: 'json',
  data: await offerPasskey(visit.parts, visit.actor, visit),
})

export async function addNewPasskey(visit: SignedInVisit): Promise<Answer> {
  if (!visit.parts.config.localSignIn) return newPasskeyForm(visit, { problem: say(PASSKEY_PROBLEMS.off), status: 403 })
  const name = visit.form.get('name') || visit.device
  const added = await addPasskey(visit.parts, visit.actor, visit, { ...answerOf(visit), name })
  return 'refused' in added
    ? newPasskeyForm(visit, { problem: say(PASSKEY_PROBLEMS[added.refused]), status: 422 })
    : { kind: 'redirect', to: '/account?done=passkey-added' }
}

export async function renameOnePasskey(visit: SignedInVisit): Promise<Answer> {
  const id = readId(visit.params.id)
  const isRenamed = id !== null && (await renamePasskey(visit.parts, visit.actor, id, visit.form.get('name') ?? ''))
  return { kind: 'redirect', to: isRenamed ? '/account?done=passkey-renamed' : '/account' }
}

export async function removeOnePasskey(visit: SignedInVisit): Promise<Answer> {
  const id = readId(visit.params.id)
  const isRemoved = id !== null && (await removePasskey(visit.parts, visit.actor, id))
  return { kind: 'redirect', to: isRemoved ? '/account?done=passkey-removed' : '/account' }
}

function NewPasskey({ device, origin, problem }: { device: string; origin: string; problem?: string | undefined }) {
  const { port } = new URL(origin)
  return (
    <>
      <PageHead
        title={t`Add a passkey`}
        crumbs={[[t`My account`, '/account']]}
        lede={t`Sign in with your fingerprint, face, device PIN or a security key, without waiting for an e-mail.`}
      />
      {problem && (
        <Callout tone="bad" role="alert">
          <p>{problem}</p>
        </Callout>
      )}
      <Card>
        {hasPasskeys(origin) ? (
          <>
            <p data-without-passkeys="">{t`This browser cannot make passkeys, or scripts are switched off. You can go on signing in with links.`}</p>
            <PasskeyForm
              kind="create"
              action="/account/passkeys/new"
              options="/account/passkeys/new/options"
              failed={t`No passkey was made. The device may have one for this account already. Try again.`}
              button={{ words: t`Add a passkey`, class: 'btn btn-primary', icon: 'passkey' }}
            >
              <Input
                label={t`Name`}
                name="name"
                value={device}
                hint={t`So that you recognise it in your account.`}
                width="md"
                maxLength={60}
                dir="auto"
              />
            </PasskeyForm>
          </>
        ) : (
          <p>{rich`Browsers make passkeys for names only, not for numbers. Open Herald as ${<code>{`http://localhost${port && `:${port}`}`}</code>} or under its public name, then add one.`}</p>
        )}
      </Card>
    </>
  )
}
