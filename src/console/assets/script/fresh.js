// A page whose numbers change: every five seconds it is asked for again, and what differs is put in place. Elements of the same shape
// stay, so focus stays and nothing flickers. A page that nobody touches for half an hour stops asking: asking would keep the session
// alive.
enhance('[data-fresh]', place => {
  const EVERY_MS = 5_000
  const UNTOUCHED_MS = 1_800_000
  let touched = performance.now()
  for (const name of ['pointerdown', 'keydown', 'scroll'])
    addEventListener(name, () => (touched = performance.now()), { passive: true })

  const isAlike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName
  const put = (shown, fresh) => {
    if (shown.nodeType === Node.TEXT_NODE) {
      if (shown.data !== fresh.data) shown.data = fresh.data
      return
    }
    for (const { name, value } of fresh.attributes ?? [])
      if (shown.getAttribute(name) !== value) shown.setAttribute(name, value)
    for (const { name } of [...(shown.attributes ?? [])]) if (!fresh.hasAttribute(name)) shown.removeAttribute(name)
    const [old, made] = [[...shown.childNodes], [...fresh.childNodes]]
    made.forEach((node, at) => {
      if (!old[at]) shown.append(node)
      else if (isAlike(old[at], node)) put(old[at], node)
      else old[at].replaceWith(node)
    })
    for (const node of old.slice(made.length)) node.remove()
  }

  const look = async () => {
    const isWatched = !document.hidden && performance.now() - touched < UNTOUCHED_MS
    if (isWatched) {
      try {
        const reply = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'error' })
        if (!reply.ok) return
        const page = new DOMParser().parseFromString(await reply.text(), 'text/html')
        const fresh = page.querySelector('[data-fresh]')
        // It is final: the whole page is shown as it is now.
        if (!fresh) return location.reload()
        put(place, fresh)
      } catch {
        // The connection is away; the next try may find it again.
      }
    }
    setTimeout(look, EVERY_MS)
  }
  setTimeout(look, EVERY_MS)
})
