// A caller of a program that was started, over HTTP alone.
export type Sample = { key: string; template: string }

export async function send(address: string, { key, template }: Sample): Promise<string> {
  const reply = await fetch(`${address}/v2/notifications/email`, {
    method: 'POST',
    headers: { authorization: `ApiKey-v1 ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ template_id: template, email_address: 'ada@example.org', personalisation: { name: 'Ada' } }),
  })
  if (reply.status !== 201) throw new Error(`refused with ${reply.status}: ${await reply.text()}`)
  return ((await reply.json()) as { id: string }).id
}

export async function statusOf(address: string, { key }: Sample, id: string): Promise<string | undefined> {
  const reply = await fetch(`${address}/v2/notifications/${id}`, { headers: { authorization: `ApiKey-v1 ${key}` } })
  return ((await reply.json()) as { status?: string }).status
}

/** A page of the log, and where the next one begins. */
export async function eventsOf(address: string, { key }: Sample, after = '') {
  const path = `/herald/v1/events?limit=1000${after && `&after=${after}`}`
  const reply = await fetch(address + path, { headers: { authorization: `ApiKey-v1 ${key}` } })
  if (reply.status !== 200) throw new Error(`refused with ${reply.status}: ${await reply.text()}`)
  const { events, next } = (await reply.json()) as { events: { data: { notification_id: string } }[]; next: string }
  return { ids: events.map(event => event.data.notification_id), next }
}
