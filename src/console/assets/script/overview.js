// The strip of today on the overview: new numbers every ten seconds while the page is visible and somebody is there. Texts change in
// place, so focus stays and nothing moves. It is a live region that stays silent.
enhance('[data-refresh]', strip => {
  const IDLE_MS = 30 * 60_000
  let lastSeen = Date.now()
  for (const type of ['pointerdown', 'keydown', 'visibilitychange'])
    document.addEventListener(type, () => {
      lastSeen = Date.now()
    })
  const texts = root => [...root.querySelectorAll('.stat-value, .stat-note')]
  setInterval(async () => {
    if (document.hidden || Date.now() - lastSeen > IDLE_MS) return
    try {
      const reply = await fetch(strip.dataset.refresh, { headers: { accept: 'text/html' }, redirect: 'error' })
      if (!reply.ok) return
      const fresh = texts(new DOMParser().parseFromString(await reply.text(), 'text/html'))
      const shown = texts(strip)
      if (fresh.length !== shown.length) return
      shown.forEach((one, at) => {
        if (one.textContent !== fresh[at].textContent) one.textContent = fresh[at].textContent
      })
    } catch {
      // The next try is in ten seconds.
    }
  }, 10_000)
})
