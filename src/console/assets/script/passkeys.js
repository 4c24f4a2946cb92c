// Passkeys: asks the server for a challenge, the browser for the answer, and posts the answer as a form.

const toBytes = text =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0))
const toText = bytes =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const withBytes = list => list?.map(one => ({ ...one, id: toBytes(one.id) }))

const readOptions = options => ({
  ...options,
  challenge: toBytes(options.challenge),
  ...(options.user && { user: { ...options.user, id: toBytes(options.user.id) } }),
  ...(options.excludeCredentials && { excludeCredentials: withBytes(options.excludeCredentials) }),
  ...(options.allowCredentials && { allowCredentials: withBytes(options.allowCredentials) }),
})

const writeAnswer = ({ id, rawId, type, response }) => {
  const parts = {}
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'])
    if (response[name]) parts[name] = toText(response[name])
  if (response.getTransports) parts.transports = response.getTransports()
  return JSON.stringify({ id, rawId: toText(rawId), type, clientExtensionResults: {}, response: parts })
}

/** Shorter than the server keeps a challenge. */
const RENEW_MS = 240_000

enhance('form[data-passkey]', form => {
  if (!window.PublicKeyCredential || !navigator.credentials) return
  form.hidden = false
  enhance('[data-without-passkeys]', note => {
    note.hidden = true
  })
  const isCreating = form.dataset.passkey === 'create'
  const failed = form.querySelector('[data-failed]')
  let current = null

  const run = async mediation => {
    current?.abort()
    current = new AbortController()
    const { signal } = current
    const reply = await fetch(form.dataset.options, { method: 'POST', body: new URLSearchParams(new FormData(form)) })
    if (!reply.ok) throw new Error(String(reply.status))
    const { challenge, options } = await reply.json()
    const publicKey = readOptions(options)
    const credential = await (isCreating
      ? navigator.credentials.create({ publicKey, signal })
      : navigator.credentials.get({ publicKey, signal, ...(mediation && { mediation }) }))
    form.elements.challenge.value = challenge
    form.elements.answer.value = writeAnswer(credential)
    form.submit()
  }

  form.addEventListener('submit', event => {
    event.preventDefault()
    failed.hidden = true
    run().catch(error => {
      if (error.name !== 'AbortError') failed.hidden = false
    })
  })

  // Passkeys are offered in the field of the address, too. Ignoring the offer is no error.
  const offer = () => {
    run('conditional').catch(() => {})
    setTimeout(() => {
      if (!document.hidden && failed.hidden && document.activeElement?.form !== form) offer()
    }, RENEW_MS)
  }
  if (form.dataset.autofill !== undefined)
    window.PublicKeyCredential.isConditionalMediationAvailable?.().then(isThere => isThere && offer())
})
