// New messages wait behind a link, so that nothing moves what is being read. A page that nobody touches for half an hour stops asking:
// asking would keep the session alive.
enhance('[data-live]', place => {
  const EVERY_MS = 5_000
  const UNTOUCHED_MS = 1_800_000
  let touched = performance.now()
  for (const name of ['pointerdown', 'keydown', 'scroll'])
    addEventListener(
      name,
      () => {
        touched = performance.now()
      },
      { passive: true },
    )

  const look = async () => {
    const isWatched = !document.hidden && performance.now() - touched < UNTOUCHED_MS
    if (isWatched) {
      try {
        const response = await fetch(place.dataset.live, { headers: { accept: 'application/json' } })
        if (!response.ok) return
        show(await response.json())
      } catch {
        // The connection is away; the next try may find it again.
      }
    }
    setTimeout(look, EVERY_MS)
  }

  const show = ({ count, words }) => {
    if (count === 0 || place.dataset.words === words) return
    place.dataset.words = words
    const link = document.createElement('a')
    link.className = 'btn btn-sm'
    link.href = place.dataset.href
    link.textContent = words
    place.hidden = false
    place.replaceChildren(link)
  }

  setTimeout(look, EVERY_MS)
})
