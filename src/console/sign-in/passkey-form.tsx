// Forms that the script completes with the answer of a passkey. Without script, or without passkeys in the browser, they stay hidden.
import type { ComponentChildren } from 'preact'
import { Icon } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { FormToken } from '../components/form.tsx'

/** `kind` create: a passkey is added. `action` and `options` are paths of the console. */
export const PasskeyForm = (props: {
  kind: 'create' | 'get'
  action: string
  /** Where the script asks for the challenge. */
  options: string
  /** Passkeys are also offered in the field of the e-mail address. */
  autofill?: boolean
  /** Said when the browser or the person ends it. */
  failed: string
  button: { words: string; class: string; icon: 'passkey' | 'plus' }
  children?: ComponentChildren
}) => {
  const { url } = usePage()
  return (
    <form
      method="post"
      class="stack stack-sm"
      hidden
      action={url(props.action)}
      data-passkey={props.kind}
      data-options={url(props.options)}
      {...(props.autofill && { 'data-autofill': '' })}
    >
      <FormToken />
      <input type="hidden" name="challenge" value="" />
      <input type="hidden" name="answer" value="" />
      {props.children}
      <p class="error-text" role="alert" hidden data-failed="">
        <Icon name="alert" />
        <span>{props.failed}</span>
      </p>
      <div class="row">
        <button class={props.button.class} type="submit">
          <Icon name={props.button.icon} />
          {props.button.words}
        </button>
      </div>
    </form>
  )
}
