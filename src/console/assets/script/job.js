// The bar of a job follows an event stream. Only texts and widths change, so nothing moves; the share is said at most once a minute.
// When the stream breaks for good, the page is loaded again after a while. A page that nobody touches for half an hour stops.
enhance('[data-progress]', card => {
  const again = card.querySelector('[data-again]')
  const speaker = card.querySelector('[data-say]')
  const badge = document.querySelector('.page-head .badge')
  const UNTOUCHED_MS = 1_800_000
  let touched = performance.now()
  let saidAt = performance.now()
  for (const name of ['pointerdown', 'keydown', 'scroll'])
    addEventListener(name, () => (touched = performance.now()), { passive: true })
  const reload = () => {
    if (!document.querySelector(':popover-open')) location.assign(card.dataset.href)
  }

  const stream = new EventSource(card.dataset.progress)
  const note = card.querySelector('[data-put="note"]')
  const pulse = card.querySelector('[data-pulse]')
  stream.onopen = () => {
    again.hidden = true
    pulse.hidden = false
  }
  stream.onmessage = ({ data }) => {
    const live = JSON.parse(data)
    const texts = { ...live.counts, title: live.title, note: live.note, at: live.at }
    for (const place of card.querySelectorAll('[data-put]')) {
      const text = texts[place.dataset.put]
      if (place.textContent !== text) place.textContent = text
    }
    for (const bar of card.querySelectorAll('[data-bar]')) {
      const [x, width] = live.bars[bar.dataset.bar]
      bar.setAttribute('x', x)
      bar.setAttribute('width', width)
    }
    card.querySelector('svg').setAttribute('aria-label', live.label)
    const [tone, icon, words] = live.badge
    if (badge.lastChild.textContent !== words) {
      const use = badge.querySelector('use')
      use.setAttribute('href', use.getAttribute('href').replace(/#.*/, `#${icon}`))
      badge.className = `badge ${tone}`
      badge.lastChild.textContent = words
    }
    card.querySelector('[role="progressbar"]').setAttribute('aria-valuenow', live.now)
    if (performance.now() - saidAt > 60_000) {
      saidAt = performance.now()
      speaker.textContent = live.title
    }
    if (live.isOver || performance.now() - touched > UNTOUCHED_MS) {
      stream.close()
      again.hidden = false
    }
    if (live.isOver) reload()
  }
  stream.onerror = () => {
    again.hidden = false
    // What was left to do is not known any more. The next numbers replace the sentence.
    pulse.hidden = true
    if (note.textContent !== card.dataset.lost) {
      note.textContent = card.dataset.lost
      speaker.textContent = card.dataset.lost
    }
    // Else the browser connects again by itself.
    if (stream.readyState === EventSource.CLOSED) setTimeout(reload, 10_000)
  }
})
