// The editor of templates: the marked copy of each field stays equal to it, and the preview follows what somebody types.

enhance('form[data-editor]', form => {
  const WAIT_MS = 300
  const LOST_MS = 5_000

  /** Pieces of a template: text, and placeholders with their brackets. As the server finds them. */
  const piecesOf = text => {
    const pieces = []
    let from = 0
    for (let i = text.indexOf('(('); i !== -1; i = text.indexOf('((', i)) {
      const close = text[i + 2] === '(' ? -2 : text.indexOf('))', i + 3)
      if (close === -1) break
      const inside = close === -2 ? '' : text.slice(i + 2, close).replace(/^\(+|\)+$/g, '')
      if (inside === '') {
        i++
        continue
      }
      if (i > from) pieces.push([text.slice(from, i), false])
      let end = close + 2
      // Brackets that the text of a condition opened are closed by those after the placeholder.
      const condition = inside.indexOf('??')
      let open = 0
      if (condition !== -1) {
        for (const char of inside.slice(condition + 2)) {
          if (char === '(') open++
          else if (char === ')' && open > 0) open--
        }
      }
      for (; open > 0 && text[end] === ')'; open--) end++
      pieces.push([text.slice(i, end), true])
      from = end
      i = end
    }
    if (from < text.length) pieces.push([text.slice(from), false])
    return pieces
  }

  const copyOf = field => form.querySelector(`[data-marks="${field.name}"]`)
  const mark = field => {
    const nodes = piecesOf(field.value).map(([text, isPlaceholder], at) => {
      if (!isPlaceholder || at >= 2_000) return text
      const element = document.createElement('mark')
      element.className = 'ph'
      element.textContent = text
      return element
    })
    copyOf(field)?.replaceChildren(...nodes, '\n')
  }

  const sources = [...form.querySelectorAll('[data-source] textarea')]
  for (const field of sources) {
    field.parentElement.classList.add('is-marked')
    field.addEventListener('input', () => mark(field))
    // After going back the browser restores what was typed, not the copy.
    if (copyOf(field)?.textContent !== `${field.value}\n`) mark(field)
  }

  /** Shows new content without a new entry in the history; a frame that is not visible loads when it is. */
  const show = (frame, src) => {
    if (frame.checkVisibility() && frame.contentWindow) frame.contentWindow.location.replace(src)
    else {
      const next = frame.cloneNode()
      next.src = src
      frame.replaceWith(next)
    }
  }

  const put = (part, next) => {
    if (part.contains(document.activeElement)) {
      // Somebody is typing in it. It follows when it is left.
      if (part.dataset.names !== next.dataset.names) part.addEventListener('focusout', later, { once: true })
      return
    }
    if (part.dataset.names !== undefined && part.dataset.names === next.dataset.names) return
    if (part.outerHTML !== next.outerHTML) part.replaceWith(next)
  }

  let timer = 0
  let running = null
  /** A preview that is old says so, and is asked for again. */
  const setLost = isLost => {
    const place = form.querySelector('[data-lost]')
    if (place && place.hidden === isLost) place.hidden = !isLost
    if (!isLost) return
    clearTimeout(timer)
    timer = setTimeout(update, LOST_MS)
  }
  const update = async () => {
    running?.abort()
    const own = new AbortController()
    running = own
    const body = new URLSearchParams(new FormData(form))
    const texts = sources.map(field => field.value)
    try {
      const answer = await fetch(form.dataset.editor, { method: 'POST', body, signal: own.signal })
      const text = await answer.text()
      // Only the newest answer counts. Any other than a fragment, as after the end of a session, is shown when saving.
      if (running !== own) return
      if (answer.status >= 500) return setLost(true)
      if (!answer.ok) return
      setLost(false)
      const page = new DOMParser().parseFromString(text, 'text/html')
      sources.forEach((field, at) => {
        const copy = page.querySelector(`[data-marks="${field.name}"]`)
        if (copy && field.value === texts[at]) copyOf(field)?.replaceWith(copy)
      })
      for (const next of page.querySelectorAll('[data-part]')) {
        const part = form.querySelector(`[data-part="${next.dataset.part}"]`)
        if (part) put(part, next)
      }
      for (const next of page.querySelectorAll('iframe[data-frame]')) {
        const frame = form.querySelector(`iframe[data-frame="${next.dataset.frame}"]`)
        if (frame) show(frame, next.src)
      }
      form.dataset.shown = String(Number(form.dataset.shown ?? 0) + 1)
    } catch (error) {
      if (error.name === 'TypeError' && running === own) setLost(true)
      else if (error.name !== 'AbortError' && error.name !== 'TypeError') throw error
    }
  }
  const later = () => {
    clearTimeout(timer)
    timer = setTimeout(update, WAIT_MS)
  }
  form.addEventListener('input', event => {
    if (event.target.name !== 'view') later()
  })

  if (sources.length === 0) return
  // Leaving the page with changes of a text asks first; saving does not.
  let isChanged = false
  form.addEventListener('input', event => {
    if (event.target.name !== 'view') isChanged = true
  })
  form.addEventListener('submit', () => {
    isChanged = false
  })
  addEventListener('beforeunload', event => {
    if (isChanged) event.preventDefault()
  })
})
